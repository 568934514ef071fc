"""Work that can be taken up again: each takes a folder and returns its answer as plain values."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import conicnmf as cn
from conicnmf.solve import checkpoint

checkpoint.EVERY = 0.0  # in these processes a state is written after every iteration
V = np.random.default_rng(0).random((9, 7))


def _problem(weight=0.0):
    return cn.factorize(V, 3, H=["nonnegative", cn.L1(weight)])


def solve_exactly(folder):
    """Solve by a method that writes down what it remembers, and goes on to the last bit."""
    result = _problem().solve("ANLS", stop=12, checkpoint=Path(folder) / "state")
    return {"objective": result.history.objective.tolist(), "W": result.W.tolist()}


def solve_with_planes(folder):
    """Solve by cone programs, which begin anew from the last iterate."""
    problem = cn.factorize(V, 2, W=["nonnegative", cn.Sparseness(min=0.4)])
    result = problem.solve("TangentPlane", stop=6, checkpoint=Path(folder) / "state")
    return {"about": [result.objective]}


def compare(folder):
    """Compare solvers with a store."""
    runs = cn.compare(
        _problem(), ["ANLS", "Multiplicative", "HALS"], seeds=range(3), stop=4, store=folder
    )
    return {"objective": runs.table["objective"].tolist(), "status": runs.table["status"].tolist()}


def path(folder):
    """Follow a path, each value from the result of the last."""
    found = cn.path(_problem, [0.0, 0.05, 0.1, 0.2], "ANLS", stop=5, store=folder)
    return {"objective": found.table["objective"].tolist(), "values": found.values}


def experiment(folder):
    """Run a published experiment and write its files."""
    from experiments import reproduce, write

    outcome = reproduce("heiler-global", quick=True, seeds=[0])
    files = write(outcome, folder)
    table = outcome.table.drop(columns="seconds")
    sizes = [file.stat().st_size > 0 for file in files]
    return {"table": table.to_dict("list"), "files": sorted(f.name for f in files), "whole": sizes}


def careless(folder):
    """Write a file bit by bit and believe it later: what must not pass."""
    file = Path(folder) / "file"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w") as stream:
            for digit in range(2000):
                stream.write(f"{digit} ")
                stream.flush()
    return {"read": file.read_text()}


WORKS = {own.__name__: own for own in (solve_exactly, solve_with_planes, compare, path, experiment)}
ALL = {**WORKS, "careless": careless}
