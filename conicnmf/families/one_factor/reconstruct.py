"""Solvers of projective NMF that never raise ‖V − WWᵀV‖²: its own rule, and projected steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conicnmf.families.one_factor.multiplicative import ratio, without_dust
from conicnmf.families.one_factor.needs import (
    joint_projection,
    nonnegative_alone,
    nonnegative_moments,
    normalized,
    reconstruction,
)
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.base import BaseProblem
from conicnmf.model.operators import Point
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_DUST, _WORTH, _HALVINGS = 1e-12, 1e-6, 30


@dataclass(frozen=True)
class ProjectiveRule(OneFactorSolver["Point | None"]):
    """``W ⊙ 2AW ⊘ (WWᵀAW + AWWᵀW)`` with A = V Vᵀ, the rule of projective NMF, at the best scale.

    The cube root of the factor provably never raises the objective, and is taken whenever the whole
    factor would. An entry that is zero stays zero under the rule; where the rule has settled, entries
    that the gradient wants to grow are lifted, and it goes on.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectiveNMF, ProjectiveRule
    >>> V = np.random.default_rng(0).random((6, 9))
    >>> history = cn.solve(ProjectiveNMF(V, 2), ProjectiveRule(), stop=50).history
    >>> bool((np.diff(history.objective) <= 1e-12).all())
    True
    """

    asks: ClassVar[Sequence[ViewNeed]] = (
        reconstruction,
        nonnegative_alone,
        nonnegative_moments,
    )
    default_stop: ClassVar[Stop] = MaxIter(5000) | RelDecrease(1e-6, patience=10)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked."""
        return "it never raises ‖V − WWᵀV‖² and has nothing to tune"

    def begin(self, view: OneFactor, context: Context) -> None:
        """Remember nothing before the first step."""

    def advance(self, view: OneFactor, factors: Factors, memo: Point | None) -> Sweep[Point | None]:
        """Take the whole factor, or its cube root when that is safer."""
        point = view.scaled(factors[view.name]) if memo is None else memo
        W, G = point.W, point.G
        factor = ratio(2 * G, W @ (W.T @ G) + G @ (W.T @ W))
        after = view.scaled(without_dust(W * factor))
        if view.value(after) > view.value(point):
            after = view.scaled(without_dust(W * np.cbrt(factor)))
        return Sweep(view.factors(after.W), after, view.value(after))

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return W with zeros lifted along the gradient, where that lowers the objective."""
        view = one_factor(problem)
        assert view is not None
        W = factors[view.name]
        before, slope = view.steepness(W)
        lift = np.where(_DUST * W.max(initial=0.0) < W, 0.0, np.maximum(-slope, 0.0))
        if not lift.any():
            return None
        step = np.linalg.norm(W) / np.linalg.norm(lift)
        for _ in range(_HALVINGS):
            after = view.scaled(W + W.dtype.type(step) * lift)
            if view.value(after) < (1 - _WORTH) * before:
                return view.factors(after.W)
            step /= 2
        return None


@dataclass(frozen=True, eq=False)
class Step:
    """The length of the last step, and where it led: W, the objective and its gradient."""

    length: float
    W: Array
    value: float
    slope: Array


@dataclass(frozen=True)
class ProjectedDescent(OneFactorSolver["Step | None"]):
    """Projected gradient steps that never raise the objective, for constrained W.

    With orthonormal columns each row of W keeps its largest entry after a step, and the columns are
    projected on their constraints once more; a step that leaves the feasible set is shortened.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectedDescent, ProjectiveNMF
    >>> V = np.random.default_rng(0).random((9, 7))
    >>> problem = ProjectiveNMF(V, 2, constraints=[cn.Sparseness(min=0.6)])
    >>> cn.solve(problem, ProjectedDescent(), stop=20).max_violation < 1e-6
    True
    """

    asks: ClassVar[Sequence[ViewNeed]] = (normalized, joint_projection)
    default_stop: ClassVar[Stop] = MaxIter(2000) | RelDecrease(1e-6, patience=10)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked."""
        return "the constraints on W have a projection"

    def begin(self, view: OneFactor, context: Context) -> None:
        """Remember no step before the first."""

    def advance(self, view: OneFactor, factors: Factors, memo: Step | None) -> Sweep[Step | None]:
        """Try a longer step than last time and shorten it until the objective does not rise."""
        last = memo or _first(view, retracted(view, factors[view.name]))
        step = 2 * last.length
        for _ in range(60):
            after = retracted(view, last.W - step * last.slope)
            inside = view.block.violation(np.ascontiguousarray(after.T)) <= FEASIBLE
            if inside and after.any(axis=0).all():
                value, slope = view.steepness(after)
                if value <= last.value:
                    return Sweep(view.factors(after), Step(step, after, value, slope), value)
            step /= 2
        stuck = replace(last, length=step)
        return Sweep(factors, stuck, last.value if np.isfinite(last.value) else None)


def _first(view: OneFactor, W: Array) -> Step:
    """Return where the descent begins, above everything else unless it is feasible."""
    value, slope = view.steepness(W)
    feasible = view.block.violation(np.ascontiguousarray(W.T)) <= FEASIBLE
    length = 0.05 * float(np.linalg.norm(W)) / (float(np.linalg.norm(slope)) or 1.0)
    return Step(length, W, value if feasible else np.inf, slope)


def retracted(view: OneFactor, W: Array) -> Array:
    """Return a point near W that meets the constraints, where it is as easy as projecting."""
    assert view.projection is not None
    B = view.projection(np.ascontiguousarray(W.T))
    if view.parts is not None:
        B = view.parts.separate(B)
        if view.others:
            B = np.where(B > 0, view.projection(B), 0.0)
            B = view.parts.separate(B)
    return view.on_scale(np.ascontiguousarray(B.T))
