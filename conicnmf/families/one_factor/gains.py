"""How much of the objective another route still gains: what certificates of projections report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from conicnmf.families.one_factor.cone_ascent import ConeAscent, aims
from conicnmf.families.one_factor.operators import dense
from conicnmf.families.one_factor.reconstruct import ProjectedDescent, gradient
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.solve.methods.base import Context
from conicnmf.types import Array

if TYPE_CHECKING:
    from conicnmf.families.one_factor.projective import ProjectiveNMF
    from conicnmf.families.one_factor.quadratic import QuadraticProjection

_STEPS = 20


def linearized_gain(problem: QuadraticProjection, W: Array) -> float:
    """Return how much of the objective the linearized problem may still gain, at most.

    Without further constraints this is a proof by duality; where A = ggᵀ it bounds the distance to
    the global maximum. With constraints it is the gain of a cone program.
    """
    fixed = problem if problem.fixed is not None else _frozen(problem, W)
    solver = ConeAscent(engine="conic")
    if solver.mismatches(fixed):
        return float("inf")
    before = -fixed.objective({"W": W})
    size = abs(before) or 1.0
    if fixed.constraints or fixed.root.shape[1] < fixed.root.shape[0]:
        memo = solver.start(fixed, Context())
        after = -fixed.objective(solver.sweep(fixed, {"W": W}, memo).factors)
        return max(0.0, after - before) / size
    targets = aims(fixed, W)
    bounds = [upper_bound(fixed, g) for g in targets]
    if len(targets) == 2:
        return max(0.0, 0.5 * max(bounds) ** 2 - before) / size
    return max(0.0, bounds[0] - float(targets[0] @ W[:, 0])) / size


def upper_bound(problem: QuadraticProjection, g: Array) -> float:
    """Return a number that ⟨g, w⟩ cannot exceed for w ≥ 0 with wᵀBw ≤ 1.

    ⟨g, w⟩ ≤ ⟨g + μ, w⟩ ≤ ‖g + μ‖ in the norm of B⁻¹ for every μ ≥ 0; the best μ comes from the
    least-squares form of the problem, but any would prove a bound.
    """
    if problem.norm is None:
        return float(np.linalg.norm(np.maximum(g, 0.0)))
    B = dense(problem.norm).astype(float)
    w = nnls_gram(B, g[:, None])[:, 0]
    beyond = np.maximum(g, B @ w)
    return float(np.sqrt(np.maximum(0.0, beyond @ np.linalg.solve(B, beyond))))


def _frozen(problem: QuadraticProjection, W: Array) -> QuadraticProjection:
    """Return the problem with A as it is at W."""
    own = [c.transposed() for c in problem.constraints]  # as the user sees W
    return replace(problem, A=problem.A(W), value=None, constraints=own)


def orthonormal_gain(problem: QuadraticProjection, W: Array) -> float:
    """Return the largest relative gain of one column that may use every row no other column uses.

    Power steps on A + cI, clipped at zero, never lower wᵀAw for a c that makes it positive
    semi-definite.
    """
    A = problem.operator(W)
    shift = problem.shift or 0.0
    best = 0.0
    for j in range(W.shape[1]):
        free = np.asarray(~np.delete(W, j, axis=1).any(axis=1))
        before = w = W[:, [j]]
        for _ in range(_STEPS):
            w = np.where(free[:, None], np.maximum(A.at(w).G + shift * w, 0.0), 0.0)
            w = w / (np.linalg.norm(w) or 1.0)
        best = max(best, 0.5 * float(np.sum(w * A.at(w).G) - np.sum(before * A.at(before).G)))
    return best / (abs(problem.objective({"W": W})) or 1.0)


def reconstruction_gain(problem: ProjectiveNMF, W: Array) -> float:
    """Return the relative gain of twenty steps of L-BFGS-B, or of projected steps."""
    before = problem.objective({"W": W})
    if not problem.constraints:
        after = _quasi_newton(problem, W)
    elif problem.projection is not None:
        solver, factors, memo = ProjectedDescent(), {"W": W}, None
        for _ in range(_STEPS):
            sweep = solver.sweep(problem, factors, memo)
            factors, memo = sweep.factors, sweep.memo
        after = problem.objective(factors)
    else:
        return float("inf")
    # An exact fit leaves nothing but rounding, which is relative to V.
    return max(0.0, before - after) / max(before, 1e-12 * problem.moments.trace)


def _quasi_newton(problem: ProjectiveNMF, W: Array) -> float:
    unit = problem.moments.trace or 1.0

    def value(x: Array) -> tuple[float, Array]:
        point = problem.moments.at(x.reshape(W.shape))
        return problem.value(point) / unit, gradient(point).ravel() / unit

    bounds = [(0.0, None)] * W.size
    begin = np.asarray(W, dtype=float).ravel()
    found = minimize(
        value, begin, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}
    )
    return float(found.fun) * unit
