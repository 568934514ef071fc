"""One W-step on 1000 digits, against the literal residual cone in CVXPY with the same backend."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.harness import Row, Setup, clock, dataset, guarded, relative_gap, speedup
from conicnmf.geometry.cones import cone_ratio
from conicnmf.solve.programs.native import NativeProgram
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.types import Array


def run(setup: Setup) -> Iterator[Row]:
    for s_max in (1.0, 0.8):
        yield from guarded(f"s_max={s_max}", _case(s_max, setup))


def _case(s_max: float, setup: Setup) -> Iterator[Row]:
    V = dataset("usps", n_samples=1000, seed=1)
    H = np.random.default_rng(0).random((4, V.shape[1]))
    problem = cn.factorize(V, 4, W=[cn.NonNegative(), cn.Sparseness(max=s_max)])
    block = problem.blocks[0]
    conic, native = BlockProgram(block, "CLARABEL"), NativeProgram(block)
    runs = setup.race(
        {
            "literal": lambda _: _literal(V, H, s_max).T,
            "conic": lambda _: conic.at(block.given({"H": H})).solve().B,
            "native": lambda _: native.at(block.given({"H": H})).solve().B,
        },
        warm=("conic", "native"),
    )
    errors = {name: np.sum((V - side.values[-1].T @ H) ** 2) for name, side in runs.items()}
    for name, target in (("conic", 100), ("native", 1000)):
        gap = relative_gap([errors["literal"], errors[name]])
        note = f"objectives within {gap:.0e}; first call {clock(runs[name].first)}"
        case = f"{name}, s_max={s_max:g}"
        yield speedup(case, runs[name], runs["literal"], target, note, gap <= 1e-6)


def _literal(V: Array, H: Array, s_max: float) -> Array:
    """Solve min t, ‖vec(V − W H)‖ ≤ t, as the model is printed."""
    m, r = V.shape[0], H.shape[0]
    W, t = cp.Variable((m, r), nonneg=True), cp.Variable()
    constraints = [cp.norm(cp.vec(V - W @ H, order="F")) <= t]
    if s_max < 1:
        constraints.append(cone_ratio(m, s_max) * cp.norm(W, axis=0) <= cp.sum(W, axis=0))
    cp.Problem(cp.Minimize(t), constraints).solve(solver=cp.CLARABEL)
    return np.asarray(W.value)
