"""Exponent with which time grows with the number of samples, or of stored entries of sparse data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks.harness import Row, Setup, clock
from conicnmf.model.terms import Constraint
from conicnmf.solve.methods.base import Solver
from conicnmf.types import Data

SAMPLES = (1_000, 3_000, 10_000, 30_000, 100_000)
STORED = (100_000, 300_000, 1_000_000, 3_000_000)
LIMIT = 1.1


def run(setup: Setup) -> Iterator[Row]:
    samples, stored = (SAMPLES[:3], STORED[:3]) if setup.quick else (SAMPLES, STORED)
    sparse_w: list[Constraint] = [cn.NonNegative(), cn.Sparseness(min=0.6)]
    solvers: dict[str, tuple[Solver, list[Constraint] | None]] = {
        "HALS": (cn.HALS(), None),
        "sparse HALS": (cn.HALS(), sparse_w),
        "native tgp": (cn.TangentPlane(engine="native"), sparse_w),
    }
    for name, (solver, terms) in solvers.items():
        yield _growth(f"{name}, n", samples, _dense, solver, terms, setup)
    yield _growth("HALS, stored entries", stored, _sparse, cn.HALS(), None, setup)


def _dense(n: int) -> Data:
    return cn.datasets.low_rank(64, n, rank=8, noise=0.1, density=0.3).V


def _sparse(entries: int) -> Data:
    shape = (5_000, 4_000)
    rng = np.random.default_rng(0)
    return sp.random_array(shape, density=entries / np.prod(shape), rng=rng, format="csr")


def _growth(
    case: str,
    sizes: tuple[int, ...],
    data: Callable[[int], Data],
    solver: Solver,
    terms: list[Constraint] | None,
    setup: Setup,
) -> Row:
    """Fit the exponent of the time of five iterations."""
    problems = {size: cn.factorize(data(size), 8, W=terms) for size in sizes}
    sides = {
        str(size): lambda _, problem=problem: problem.solve(solver, stop=5)
        for size, problem in problems.items()
    }
    runs = setup.race(sides, warm=(str(sizes[0]),))
    seconds = np.array([runs[name].seconds for name in sides])
    slopes = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    slope = float(np.median(slopes))
    shown = [clock(float(np.median(times))) for times in (seconds[0], seconds[-1])]
    return Row(
        f"{case} {sizes[0]:,} to {sizes[-1]:,}",
        shown[-1],
        shown[0],
        slope,
        float(np.ptp(slopes) / slope),
        f"≤ {LIMIT}",
        slope <= LIMIT,
        "the ratio is the exponent; times of 5 iterations at the largest and the smallest size",
    )
