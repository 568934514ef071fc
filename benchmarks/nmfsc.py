"""Prescribed sparseness: time to reach the final objective of NMFSC in NumPy, from the same start."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import conicnmf as cn
from benchmarks import references
from benchmarks.goals import Ours, Path, Reference, race_to
from benchmarks.harness import Row, Setup, dataset, guarded
from conicnmf.solve.choice import choose
from conicnmf.solve.methods.base import Solver

CASES: tuple[tuple[Any, ...], ...] = (
    ("USPS r=4", "usps", {"n_samples": 1000, "seed": 1}, 4, 10.0),
    ("CBCL r=49", "cbcl_faces", {}, 49, 5.0),
)
SETTLED = 1e-4
"""NMFSC has no stopping rule of its own: it ends when 20 iterations gain less than this."""


def run(setup: Setup) -> Iterator[Row]:
    for name, data, options, rank, target in CASES:
        for s in (0.6,) if setup.quick else (0.3, 0.6):
            rows = _rows(f"{name}, s_w={s}", data, options, rank, s, target, setup)
            yield from guarded(name, rows)


def _rows(
    case: str, data: str, options: dict[str, int], rank: int, s: float, target: float, setup: Setup
) -> Iterator[Row]:
    V, seconds = dataset(data, **options), 8.0 if setup.quick else 20.0
    problem = cn.factorize(V, rank, W=[cn.NonNegative(), cn.Sparseness(min=s, max=s)])
    drawn = cn.Random().factors(problem, np.random.default_rng(0))
    start = drawn["W"], drawn["H"]
    rival = Reference(partial(references.nmfsc, V, *start, s))
    their_path = _settled(rival.path(setup.budget(seconds)))
    goal = their_path[-1][1]
    # Component-wise steps are the fast ones, and judged; what is picked by default may spend time
    # on finding a better basin, which is the matter of `sparse`.
    solvers: dict[str, tuple[Solver | None, float | None]] = {"HALS": (cn.HALS(), target)}
    if not isinstance(choose(problem)[0], cn.HALS):
        solvers["default"] = (None, None)
    for name, (solver, at_least) in solvers.items():
        ours = Ours(problem, start, solver)
        ours.run(2)  # compiles
        our_path = ours.path(setup.budget(seconds / 4))
        lower = our_path[-1][1] / goal - 1
        note = f"error {goal / np.vdot(V, V):.4g}, ours at last {lower:+.2%}"
        sides = (ours, our_path), (rival, their_path)
        yield race_to(goal, f"{case}, {name}", *sides, setup, at_least, note)


def _settled(path: Path) -> Path:
    """Cut a path where it no longer falls."""
    values = [value for _, value in path]
    for end in range(20, len(path)):
        if values[end - 20] - values[end] < SETTLED * values[end]:
            return path[: end + 1]
    return path
