"""Sparse W on a small problem, where a non-linear solver can take part.

All methods settle long before the time is over, so each starts again from new random points, the
same for all, until it is: the best objective counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

import conicnmf as cn
from benchmarks import references
from benchmarks.goals import Late
from benchmarks.harness import Row, Setup, dataset
from conicnmf.solve.methods.joint_nlp import nlp_backend
from conicnmf.types import Array

CASE, RANK = "USPS 8×8, 30 digits, r=4", 4
SETTLED = 1e-6
Start = tuple[Array, Array]


def rows(s: float, seconds: float, seeds: range, setup: Setup) -> Iterator[Row]:
    """Compare the default solver with the references and cvxpy's non-linear interface."""
    V = _small_digits()
    problem = cn.factorize(V, RANK, W=[cn.NonNegative(), cn.Sparseness(min=s)])
    square = float(np.vdot(V, V))
    methods: dict[str, Callable[[Start, Late], float]] = {
        "default": lambda start, late: _solved(problem, None, start, late),
        "NMFSC": lambda start, late: _settled(references.nmfsc(V, *start, s), late) / square,
        "block-coordinate": lambda start, late: (
            _settled(references.block_coordinate(V, *start, s), late) / square
        ),
    }
    if nlp_backend() is not None:
        methods["cvxpy nlp"] = lambda start, late: _solved(problem, cn.JointNLP(), start, late)
    problem.solve(stop=2)  # compiles
    means = {}
    for name, method in methods.items():
        lowest = [_best(method, problem, seed, setup.budget(seconds)) for seed in seeds]
        means[name] = float(np.mean(lowest))
    ours, rival = means["default"], min(means[name] for name in list(means)[1:])
    note = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    yield Row(
        f"{CASE}, s_w={s}",
        f"{ours:.4f}",
        f"{rival:.4f}",
        rival / ours,
        target="≥ 1",
        ok=ours <= rival * (1 + 1e-5),
        note=note if "cvxpy nlp" in means else f"{note}; no non-linear solver is installed",
    )


def _small_digits() -> Array:
    V = np.asarray(dataset("usps", n_samples=30, seed=1))
    return np.asarray(V.reshape(8, 2, 8, 2, 30).mean(axis=(1, 3)).reshape(64, 30))


def _best(
    method: Callable[[Start, Late], float], problem: cn.Problem, seed: int, late: Late
) -> float:
    """Return the lowest relative error over starts until it is late."""
    lowest = np.inf
    for attempt in count():
        rng = np.random.default_rng((seed, attempt))
        drawn = cn.Random().factors(problem, rng)
        lowest = min(lowest, method((drawn["W"], drawn["H"]), late))
        if late():
            return lowest
    raise AssertionError("count() has no end")


def _solved(problem: cn.Problem, solver: Any, start: Start, late: Late) -> float:
    result = problem.solve(solver, init=start, callback=lambda _, __: late(), throw=False)
    return result.relative_error if result.max_violation <= 1e-6 else np.inf


def _settled(iterates: Iterator[references.Iterate], late: Late) -> float:
    """Return the lowest objective until 20 iterations gain next to nothing, or it is late."""
    values: list[float] = []
    for _, _, value in iterates:
        values.append(value)
        if late() or (len(values) > 20 and values[-21] - value < SETTLED * value):
            break
    return min(values, default=np.inf)
