"""Your own CVXPY constraints, 256×500, r = 8, against a hand-written loop over the same programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.harness import Row, Setup, clock, dataset, guarded, relative_gap
from conicnmf.types import Array

RANK, SWEEPS, ALLOWED = 8, 5, 1.15
Rule = Callable[[cp.Expression], list[cp.Constraint]]


def smooth(W: cp.Expression) -> list[cp.Constraint]:
    """Let columns sum to one and change little from one pixel to the next."""
    return [cp.sum(W, axis=0) == 1, cp.abs(cp.diff(W, axis=0)) <= 2 / W.shape[0]]


def bounded(H: cp.Expression) -> list[cp.Constraint]:
    """Bound how much coefficients change from one sample to the next."""
    return [cp.abs(cp.diff(H, axis=1)) <= 100]


def free(_: cp.Expression) -> list[cp.Constraint]:
    """Add nothing to non-negativity."""
    return []


def run(setup: Setup) -> Iterator[Row]:
    for case, on_h in (("on W", free), ("on both", bounded)):
        yield from guarded(case, _rows(case, smooth, on_h, setup))


def _rows(case: str, on_w: Rule, on_h: Rule, setup: Setup) -> Iterator[Row]:
    V = np.asarray(dataset("usps", n_samples=500, seed=1))
    rng = np.random.default_rng(0)
    start = np.full((256, RANK), 1 / 256), rng.random((RANK, 500))
    sides = {
        "ours": lambda _: _ours(V, start, on_w, on_h),
        "by hand": lambda _: _by_hand(V, start[1], on_w, on_h),
    }
    runs = setup.race(sides, warm=("ours",))
    errors = [float(np.sum((V - W @ H) ** 2)) for W, H in (runs[s].values[-1] for s in sides)]
    ratios = np.divide(runs["ours"].seconds, runs["by hand"].seconds)
    ratio, gap = float(np.median(ratios)), relative_gap(errors)
    note = f"ours over theirs, {SWEEPS} iterations; objectives within {gap:.0e}"
    yield Row(
        case,
        clock(runs["ours"].median),
        clock(runs["by hand"].median),
        ratio,
        float(np.ptp(ratios) / ratio),
        f"≤ {ALLOWED}",
        ratio <= ALLOWED and gap <= 1e-3,
        note,
    )


def _ours(V: Array, start: tuple[Array, Array], on_w: Rule, on_h: Rule) -> tuple[Array, Array]:
    """State the problem, recognize it and solve it, all of it timed."""
    W = cp.Variable((V.shape[0], RANK), nonneg=True)
    H = cp.Variable((RANK, V.shape[1]), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [*on_w(W), *on_h(H)])
    result = problem.solve(cn.TangentPlane(), init=start, stop=SWEEPS)
    return result.W, result.H


def _by_hand(V: Array, H: Array, on_w: Rule, on_h: Rule) -> tuple[Array, Array]:
    """Alternate over the two programs, reduced by QR, each built again with the new numbers."""
    for _ in range(SWEEPS):
        W = _solved(V.T, H.T, lambda B: on_w(B.T)).T
        H = _solved(V, W, on_h)
    return W, H


def _solved(Y: Array, A: Array, rule: Rule) -> Any:
    Q, R = np.linalg.qr(A)
    B = cp.Variable((R.shape[1], Y.shape[1]), nonneg=True)
    program = cp.Problem(cp.Minimize(cp.sum_squares(Q.T @ Y - R @ B)), rule(B))
    program.solve(solver=cp.CLARABEL)
    return np.maximum(B.value, 0.0)
