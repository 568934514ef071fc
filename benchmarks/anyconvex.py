"""Your own CVXPY constraint on W with missing entries or counts, 100×150, r = 5, against the cone path.

The constants of the solvers were chosen on seed 77; these rows draw others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_masks import MaskedConePath, MaskedSquares
from benchmarks.cone_path import ConePath
from benchmarks.cone_race import ConeRace
from benchmarks.harness import Row, Setup, guarded
from conicnmf.types import Array

SHAPE, RANK, TARGET, LONGEST = (100, 150), 5, 8.0, 60.0


def rule(W: cp.Expression) -> list[cp.Constraint]:
    """Let columns sum to one and change little from one row to the next."""
    return [cp.sum(W, axis=0) == 1, cp.abs(cp.diff(W, axis=0)) <= 2 / W.shape[0]]


def run(setup: Setup) -> Iterator[Row]:
    for case, seed in ((masked, 2031), (counts, 2032)):
        yield from guarded(case.__name__, _rows(case, seed, setup))


def _rows(case: Callable[..., ConeRace], seed: int, setup: Setup) -> Iterator[Row]:
    yield case(*SHAPE, np.random.default_rng(seed), setup).row(TARGET)


def masked(m: int, n: int, rng: np.random.Generator, setup: Setup) -> ConeRace:
    """State squares of 70 % of the entries."""
    V, start, (W, H) = _drawn(m, n, rng)
    M = (rng.random(V.shape) < 0.7).astype(float)
    problem = _problem(M * V, cn.WeightedFrobenius(M))
    squares = [MaskedSquares(M * V, [(W, H)], M=M)]
    cone = MaskedConePath([W, H], squares, 0, rule(W))
    return ConeRace("70 % observed", problem, start, cone, setup)


def counts(m: int, n: int, rng: np.random.Generator, setup: Setup) -> ConeRace:
    """State the Kullback–Leibler divergence of counts."""
    V, (first, second), (W, H) = _drawn(m, n, rng)
    N = rng.poisson(5 * V).astype(float)
    cone = ConePath([W, H], (), cp.sum(cp.kl_div(N, W @ H)), rule(W))
    longest = LONGEST / 4 if setup.quick else LONGEST
    problem = _problem(N, cn.KullbackLeibler())
    return ConeRace("counts", problem, (first, 5 * second), cone, setup, longest)


def _problem(V: Array, loss: cn.extend.Loss) -> cn.Problem:
    nonneg = cn.NonNegative()
    return cn.factorize(V, RANK, W=[nonneg, cn.Convex(rule)], H=[nonneg], loss=loss)


def _drawn(
    m: int, n: int, rng: np.random.Generator
) -> tuple[Array, tuple[Array, Array], tuple[cp.Variable, cp.Variable]]:
    """Return noisy data, a start that satisfies the constraint, and variables."""
    W, H = (rng.random(s) * (rng.random(s) < 0.6) for s in ((m, RANK), (RANK, n)))
    V = W @ H
    V = np.maximum(V + 0.1 * V.mean() * rng.standard_normal(V.shape), 0.0)
    start = np.full((m, RANK), 1 / m), 2 * m * V.mean() / RANK * rng.random((RANK, n))
    sides = tuple(
        cp.Variable(X.shape, nonneg=True, name=x) for X, x in zip(start, "WH", strict=True)
    )
    return V, start, (sides[0], sides[1])
