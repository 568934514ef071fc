"""`solvers` and `datasets`: what there is."""

from __future__ import annotations

import inspect

import cvxpy as cp
import numpy as np

from conicnmf import datasets as data
from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json, screen, show
from conicnmf.model.constraints import (
    Box,
    Convex,
    Fixed,
    NonNegative,
    Simplex,
    Sparseness,
    UnitNorm,
)
from conicnmf.model.factorize import factorize
from conicnmf.model.losses import WeightedFrobenius
from conicnmf.model.penalties import L1, L2, NonZeros
from conicnmf.model.problem import Problem
from conicnmf.report.tables import Table
from conicnmf.solve.choice import known_solvers


def representative_problems() -> dict[str, Problem]:
    """Return a small problem of each kind, by the short name that the table has for it.

    Examples
    --------
    >>> list(representative_problems())[:3]
    ['plain', 'L1', 'L2']
    """
    V, mask = np.ones((6, 5)), np.ones((6, 5))
    mask[0, 0] = 0
    known = np.zeros((6, 2), dtype=bool)
    known[:, 0] = True
    nonneg = NonNegative()
    steady = Convex(lambda H: cp.abs(cp.diff(H, axis=1)) <= 1, name="steady rows")
    return {
        "plain": factorize(V, 2),
        "L1": factorize(V, 2, H=[nonneg, L1(0.1)]),
        "L2": factorize(V, 2, H=[nonneg, L2(0.1)]),
        "weights": factorize(V, 2, loss=WeightedFrobenius(mask)),
        "kl": factorize(V, 2, loss="kl"),
        "huber": factorize(V, 2, loss="huber"),
        "sparse": factorize(V, 2, W=[nonneg, Sparseness(min=0.6)]),
        "simplex": factorize(V, 2, H=[Simplex(each="sample")]),
        "box": factorize(V, 2, H=[Box(0, 1)]),
        "fixed": factorize(V, 2, W=[nonneg, Fixed(known, np.ones((6, 2)))]),
        "unit": factorize(V, 2, W=[nonneg, UnitNorm()]),
        "convex": factorize(V, 2, H=[nonneg, steady]),
        "l0": factorize(V, 2, H=[nonneg, NonZeros(0.1)]),
    }


_LEGEND = (
    "weights: missing or weighted entries; kl, huber: other losses; sparse: a lower bound on the "
    "sparseness of the columns of W; simplex: samples sum to one; fixed: known entries of W; "
    "unit: columns of W of norm one; convex: any convex CVXPY constraint; l0: a cost for each "
    "non-zero entry of H. For a problem of your own, `problem.explain()` gives the reasons."
)


@app.command(epilog="Example: conicnmf solvers")
def solvers(json: o.Json = False) -> None:
    """List the solvers and the kinds of problems each can solve."""
    problems = representative_problems()
    reasons = {
        solver: {name: solver.mismatches(problem) for name, problem in problems.items()}
        for solver in known_solvers(problems["plain"])
    }
    if json:
        print_json(
            [
                {"solver": solver.name, "words": _first_line(type(solver)), "reasons": why}
                | {"fits": [name for name in problems if not why[name]]}
                for solver, why in reasons.items()
            ]
        )
        return
    words = [[solver.name, _first_line(type(solver))] for solver in reasons]
    show(Table(["solver", "description"], words))
    screen().print()
    fits = [
        [solver.name, *("·" if why[name] else "✓" for name in problems)]
        for solver, why in reasons.items()
    ]
    show(Table(["fits", *problems], fits))
    screen().print()
    screen().print(_LEGEND)


@app.command(epilog="Example: conicnmf datasets")
def datasets(json: o.Json = False) -> None:
    """List the data sets that you can load by name."""
    rows = [list(row) for row in data.available()]
    headers = ["name", "features × samples", "from"]
    if json:
        print_json([dict(zip(("name", "shape", "from"), row, strict=True)) for row in rows])
    else:
        show(Table(headers, rows))


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]
