"""Solvers of projective NMF that never raise ‖V − WWᵀV‖²: its own rule, and projected steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from conicnmf.families.one_factor.multiplicative import ratio, without_dust
from conicnmf.families.one_factor.needs import joint_projection, nonnegative_alone, reconstruction
from conicnmf.families.one_factor.operators import Point
from conicnmf.families.one_factor.problem import OneFactorProblem
from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import Context, Need, Solver, Sweep
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

if TYPE_CHECKING:
    from conicnmf.families.one_factor.projective import ProjectiveNMF


@dataclass(frozen=True)
class ProjectiveRule(Solver["ProjectiveNMF", "Point | None"]):
    """``W ⊙ 2AW ⊘ (WWᵀAW + AWWᵀW)`` with A = V Vᵀ, the rule of projective NMF, at the best scale.

    The cube root of the factor provably never raises the objective, and is taken whenever the whole
    factor would.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectiveNMF, ProjectiveRule
    >>> V = np.random.default_rng(0).random((6, 9))
    >>> history = cn.solve(ProjectiveNMF(V, 2), ProjectiveRule(), stop=50).history
    >>> bool((np.diff(history.objective) <= 1e-12).all())
    True
    """

    solves: ClassVar[type[BaseProblem]] = OneFactorProblem
    needs: ClassVar[Sequence[Need]] = (reconstruction, nonnegative_alone)
    default_stop: ClassVar[Stop] = MaxIter(5000) | RelDecrease(1e-6, patience=10)

    def start(self, problem: ProjectiveNMF, context: Context) -> None:
        """Remember nothing before the first sweep."""

    def sweep(
        self, problem: ProjectiveNMF, factors: Factors, memo: Point | None
    ) -> Sweep[Point | None]:
        """Take the whole factor, or its cube root when that is safer."""
        point: Point = problem.at(factors["W"]) if memo is None else memo
        W, G = point.W, point.G
        factor = ratio(2 * G, W @ (W.T @ G) + G @ (W.T @ W))
        after: Point = problem.scaled(without_dust(W * factor))
        if problem.value(after) > problem.value(point):
            after = problem.scaled(without_dust(W * np.cbrt(factor)))
        return Sweep({"W": after.W}, after, problem.value(after))


@dataclass(frozen=True)
class ProjectedDescent(Solver["ProjectiveNMF", "float | None"]):
    """Projected gradient steps on ‖V − WWᵀV‖² that never raise it, for constrained W.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectedDescent, ProjectiveNMF
    >>> V = np.random.default_rng(0).random((9, 7))
    >>> problem = ProjectiveNMF(V, 2, constraints=[cn.Sparseness(min=0.6)])
    >>> cn.solve(problem, ProjectedDescent(), stop=20).max_violation < 1e-6
    True
    """

    solves: ClassVar[type[BaseProblem]] = OneFactorProblem
    needs: ClassVar[Sequence[Need]] = (reconstruction, joint_projection)
    default_stop: ClassVar[Stop] = MaxIter(2000) | RelDecrease(1e-6, patience=10)

    def start(self, problem: ProjectiveNMF, context: Context) -> None:
        """Remember no step length before the first sweep."""

    def sweep(
        self, problem: ProjectiveNMF, factors: Factors, memo: float | None
    ) -> Sweep[float | None]:
        """Try a longer step than last time and shorten it until the objective does not rise."""
        point: Point = problem.at(factors["W"])
        W, before, slope = point.W, problem.value(point), gradient(point)
        size = float(np.linalg.norm(slope))
        step = 2 * memo if memo else 0.1 * float(np.linalg.norm(W)) / (size or 1.0)
        for _ in range(60):
            assert problem.projection is not None
            moved = problem.projection(np.ascontiguousarray((W - step * slope).T)).T
            after = problem.scaled(np.ascontiguousarray(moved, dtype=W.dtype))
            value = problem.value(after)
            if value <= before and after.W.any(axis=0).all():
                return Sweep({"W": after.W}, step, value)
            step /= 2
        return Sweep(factors, step, before)


def gradient(point: Point) -> Array:
    """Return the gradient of ‖V − WWᵀV‖² at W."""
    W, G = point.W, point.G
    return np.asarray(2 * (W @ (W.T @ G) + G @ (W.T @ W)) - 4 * G)
