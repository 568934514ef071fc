"""How much of the objective another route still gains: what certificates of one factor report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from conicnmf.families.one_factor.cone_ascent import ConeAscent, aims
from conicnmf.families.one_factor.reconstruct import ProjectedDescent, Step
from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import Context
from conicnmf.types import Array, Factors

_STEPS = 20


def remaining_gain(problem: BaseProblem, factors: Factors) -> dict[str, float]:
    """Return what another route still gains of the objective, nothing for other problems."""
    view = one_factor(problem)
    if view is None:
        return {}
    W = np.asarray(factors[view.name], dtype=float)
    if view.reconstructs and view.parts is None and view.norm is None:
        return {view.name: reconstruction_gain(view, W)}
    gain = orthonormal_gain if view.rank > 1 else linearized_gain
    return {view.name: gain(view, W)}


def linearized_gain(view: OneFactor, W: Array) -> float:
    """Return how much of the objective the linearized problem may still gain, at most.

    Without further constraints this is a proof by duality; where A = ggᵀ it bounds the distance to
    the global maximum. With constraints it is the gain of a cone program.
    """
    if view.fixed is None:
        view = replace(view, term=replace(view.term, A=view.operator(W), potential=None))
    if view.unbounded is not None or not _fits(view):
        return float("inf")
    before = -float(view.term.value(W.T))
    size = abs(before) or 1.0
    if view.others or view.singular:
        solver = ConeAscent(engine="conic")
        after = solver.advance(view, {view.name: W}, solver.begin(view, Context())).factors
        return max(0.0, -float(view.term.value(after[view.name].T)) - before) / size
    targets = aims(view, W)
    bounds = [upper_bound(view, g) for g in targets]
    if len(targets) == 2:
        return max(0.0, 0.5 * max(bounds) ** 2 - before) / size
    return max(0.0, bounds[0] - float(targets[0] @ W[:, 0])) / size


def _fits(view: OneFactor) -> bool:
    return not [reason for ask in ConeAscent.asks for reason in ask(view)]


def upper_bound(view: OneFactor, g: Array) -> float:
    """Return a number that ⟨g, w⟩ cannot exceed for w ≥ 0 with wᵀBw ≤ 1.

    ⟨g, w⟩ ≤ ⟨g + μ, w⟩ ≤ ‖g + μ‖ in the norm of B⁻¹ for every μ ≥ 0; the best μ comes from the
    least-squares form of the problem, but any would prove a bound.
    """
    return bounded_aim(view, g)[0]


def bounded_aim(view: OneFactor, g: Array) -> tuple[float, Array]:
    """Return the bound, and the w ≥ 0 it comes from, up to its scale."""
    if view.norm is None:
        positive = np.maximum(g, 0.0)
        return float(np.linalg.norm(positive)), positive
    # For the level c of the norm B/c is meant: w would be c times longer, B w the same.
    B, level = view.norm.metric, view.norm.level
    size = float(np.abs(g).max()) or 1.0
    w = size * B.nonneg_least(g / size)
    beyond = np.maximum(g, (B @ w[:, None])[:, 0])
    return float(np.sqrt(level) * B.inverse_norm(beyond)), w


def orthonormal_gain(view: OneFactor, W: Array) -> float:
    """Return the largest relative gain of one column that may use every row no other column uses.

    Power steps on A + cI, clipped at zero, never lower wᵀAw for a c that makes it positive
    semi-definite.
    """
    A = view.operator(W)
    shift = view.shift or 0.0
    best = 0.0
    for j in range(W.shape[1]):
        free = np.asarray(~np.delete(W, j, axis=1).any(axis=1))
        before = w = W[:, [j]]
        for _ in range(_STEPS):
            up = np.where(free[:, None], np.maximum(A @ w + shift * w, 0.0), 0.0)
            w = up / np.linalg.norm(up) if up.any() else w  # A + cI may be singular there
        best = max(best, 0.5 * float(np.sum(w * (A @ w)) - np.sum(before * (A @ before))))
    return best / (abs(float(view.term.value(W.T))) or 1.0)


def reconstruction_gain(view: OneFactor, W: Array) -> float:
    """Return the relative gain of twenty steps of L-BFGS-B, or of projected steps."""
    before, whole = view.term.squares(W.T)
    if not view.others:
        after = _quasi_newton(view, W)
    elif view.projection is not None:
        solver, factors = ProjectedDescent(), {view.name: W}
        memo: Step | None = None
        for _ in range(_STEPS):
            sweep = solver.advance(view, factors, memo)
            factors, memo = sweep.factors, sweep.memo
        after = float(view.term.value(factors[view.name].T))
    else:
        return float("inf")
    # An exact fit leaves nothing but rounding, which is relative to V.
    size = max(float(before), 1e-12 * float(whole)) or 1.0
    return max(0.0, float(before) - after) / size


def _quasi_newton(view: OneFactor, W: Array) -> float:
    unit = float(view.term.squares(W.T)[1]) or 1.0

    def value(x: Array) -> tuple[float, Array]:
        B = x.reshape(W.shape).T
        slope: Array = view.term.gradient(B).T.ravel() / unit
        return float(view.term.value(B)) / unit, slope

    bounds = [(0.0, None)] * W.size
    begin = np.asarray(W, dtype=float).ravel()
    found = minimize(
        value, begin, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS}
    )
    return float(found.fun) * unit
