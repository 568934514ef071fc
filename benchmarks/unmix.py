"""Unmixing Jasper Ridge, 198×10000, r = 4, abundances sum to one, against the cone path.

No constant was chosen on these data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_path import ConePath, Squares
from benchmarks.cone_race import ConeRace
from benchmarks.harness import Row, Setup, dataset, guarded
from conicnmf.types import Array

RANK, TARGET, SMOOTHNESS = 4, 80.0, 1.0
DRAWS = (2011, 2012, 2013)


def run(setup: Setup) -> Iterator[Row]:
    for seed in DRAWS[: 1 if setup.quick else None]:
        for name, weight in (("plain", 0.0), ("smooth", SMOOTHNESS)):
            case = f"{name} spectra, start {seed}"
            yield from guarded(case, _rows(case, weight, seed, setup))


def _rows(case: str, weight: float, seed: int, setup: Setup) -> Iterator[Row]:
    V = np.asarray(dataset("jasper_ridge"))
    yield race(case, V, weight, np.random.default_rng(seed), setup).row(TARGET, converge=True)


def race(case: str, V: Array, weight: float, rng: np.random.Generator, setup: Setup) -> ConeRace:
    """State the model for both sides, from random spectra and abundances."""
    m, n = V.shape
    terms: list[Any] = [cn.NonNegative(), *([cn.Smooth(weight)] if weight else [])]
    problem = cn.factorize(V, RANK, W=terms, H=[cn.Simplex(each="sample")])
    start = 2 * V.mean() * rng.random((m, RANK)), rng.dirichlet(np.ones(RANK), n).T
    W = cp.Variable((m, RANK), nonneg=True, name="W")
    H = cp.Variable((RANK, n), nonneg=True, name="H")
    rest = weight * cp.sum_squares(cp.diff(W, axis=0)) if weight else 0
    cone = ConePath([W, H], [Squares(V, [(W, H)])], rest, [cp.sum(H, axis=0) == 1])
    return ConeRace(case, problem, start, cone, setup)
