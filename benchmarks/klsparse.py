"""Kullback–Leibler NMF of CBCL faces with sp(W) ≥ 0.6, against the cone path on a small part of them.

Nothing else offers the model. On 40 faces with every second pixel, r = 4, the ends are compared, and
the block of the coefficients, which is convex. At 361×60 the cone path's solver gave up after one
iteration. For all faces, r = 16, the row shows what a solve takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_path import ConePath, Sparse
from benchmarks.harness import Row, Setup, SkippedError, clock, dataset, guarded
from conicnmf.types import Array

S, SIDE, SAMPLES, RANK, FULL_RANK = 0.6, 19, 40, 4, 16
BLOCK, END, ITERATIONS = 1e-5, 0.01, 25
_TINY = 1e-3
"""Added to the faces: black pixels would leave the logarithms of a cone program without a bound."""


def run(setup: Setup) -> Iterator[Row]:
    yield from guarded("CBCL", _rows(setup))


def _rows(setup: Setup) -> Iterator[Row]:
    V = np.asarray(dataset("cbcl_faces")) + _TINY
    coarse = V.reshape(SIDE, SIDE, -1)[::2, ::2, :: V.shape[1] // SAMPLES][:, :, :SAMPLES]
    few = np.ascontiguousarray(coarse.reshape(-1, SAMPLES))
    problem = _problem(few, RANK)
    # Random sparse components leave pixels to no one, which cone programs do not survive.
    start = problem.solve(stop=5, throw=False).factors
    yield _block(few, start["W"], np.ones_like(start["H"]), setup)
    yield from guarded("end", _end(problem, start, setup))
    begin = setup.timer()
    result = _problem(V, FULL_RANK).solve(stop=20 if setup.quick else None, throw=False)
    note = (
        f"{result.solver.partition('(')[0]}: {result.status.name}, objective {result.objective:.6g} "
        f"after {result.n_iter} iterations, violation {result.max_violation:.0e}"
    )
    yield Row(f"CBCL r={FULL_RANK}", clock(setup.timer() - begin), note=note)


def _problem(V: Array, rank: int) -> cn.Problem:
    return cn.factorize(V, rank, loss="kl", W=[cn.NonNegative(), cn.Sparseness(min=S)])


def _block(V: Array, W: Array, B: Array, setup: Setup) -> Row:
    """Compare the block of the coefficients, W held, with its cone program."""
    H = cp.Variable(B.shape, nonneg=True)
    stated = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(V, W @ H))))
    begin = setup.timer()
    theirs = float(stated.solve(solver=cp.CLARABEL))
    middle = setup.timer()
    problem = cn.Problem(stated.objective)
    found = problem.solve(init={H: B}, stop=cn.MaxIter(5000) | cn.RelDecrease(1e-9, patience=10))
    ours = setup.timer() - middle
    gap = found.objective / theirs - 1
    return Row(
        f"block of H, 100×{SAMPLES} r={RANK}",
        clock(ours),
        clock(middle - begin),
        (middle - begin) / ours,
        target=f"gap ≤ {BLOCK:g}",
        ok=abs(gap) <= BLOCK,
        note=f"{found.solver.partition('(')[0]} {gap:+.1e} from the cone program, {theirs:.6g}, begun "
        f"at {found.history.objective[0]:.6g}",
    )


def _end(problem: cn.Problem, start: dict[str, Array], setup: Setup) -> Iterator[Row]:
    """Compare where both end from one start."""
    W, H = (cp.Variable(start[name].shape, nonneg=True, name=name) for name in "WH")
    cone = ConePath([W, H], rest=cp.sum(cp.kl_div(problem.V, W @ H)), sparse=[Sparse(W, S)])
    begin = setup.timer()
    late = setup.budget(20.0 if setup.quick else 300.0)
    values, ends, failed = {W: start["W"], H: start["H"]}, [], ""
    while len(ends) < ITERATIONS and not late() and not failed:
        try:
            trace = cone.run(values, 1)
        except (cp.SolverError, RuntimeError):
            failed = ", where its solver fails"
        else:
            values, ends = trace.values, [*ends, *trace.objective]
    if not ends:
        raise SkippedError("the cone path's solver fails at once")
    middle = setup.timer()
    result = problem.solve(init=(start["W"], start["H"]), throw=False)
    ours = setup.timer() - middle
    above = result.objective / min(ends) - 1
    yield Row(
        f"end, 100×{SAMPLES} r={RANK}",
        clock(ours),
        clock(middle - begin),
        (middle - begin) / ours,
        target=f"≤ {END:.0%} above",
        ok=None if failed else above <= END and result.max_violation <= 1e-6,
        note=f"{result.status.name} {above:+.2%} from {len(ends)} iterations of the "
        f"cone path{failed}, violation {result.max_violation:.0e}",
    )
