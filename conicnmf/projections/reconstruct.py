"""Solvers of projective NMF that never raise ‖V − WWᵀV‖²: its own rule, and projected steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Factors
from conicnmf.compat import Need
from conicnmf.projections.multiplicative import ratio, without_dust
from conicnmf.projections.needs import joint_projection, nonnegative_alone, reconstruction
from conicnmf.projections.operators import Point
from conicnmf.solvers.base import Context, Memo, Solver, Sweep
from conicnmf.stop import MaxIter, RelDecrease, Stop


@dataclass(frozen=True)
class ProjectiveRule(Solver):
    """``W ⊙ 2AW ⊘ (WWᵀAW + AWWᵀW)`` with A = V Vᵀ, the rule of projective NMF, at the best scale.

    The cube root of the factor provably never raises the objective, and is taken whenever the whole
    factor would.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.projections import ProjectiveNMF, ProjectiveRule
    >>> V = np.random.default_rng(0).random((6, 9))
    >>> history = cn.solve(ProjectiveNMF(V, 2), ProjectiveRule(), stop=50).history
    >>> bool((np.diff(history.objective) <= 1e-12).all())
    True
    """

    solves: ClassVar[str] = "projection"
    needs: ClassVar[Sequence[Need]] = (reconstruction, nonnegative_alone)
    default_stop: ClassVar[Stop] = MaxIter(5000) | RelDecrease(1e-6, patience=10)

    def start(self, blocks: Any, context: Context) -> Memo:
        """Remember nothing before the first sweep."""
        return None

    def sweep(self, blocks: Any, factors: Factors, memo: Memo) -> Sweep:
        """Take the whole factor, or its cube root when that is safer."""
        point: Point = blocks.at(factors["W"]) if memo is None else memo
        W, G = point.W, point.G
        factor = ratio(2 * G, W @ (W.T @ G) + G @ (W.T @ W))
        after: Point = blocks.scaled(without_dust(W * factor))
        if blocks.value(after) > blocks.value(point):
            after = blocks.scaled(without_dust(W * np.cbrt(factor)))
        return Sweep({"W": after.W}, after, blocks.value(after))


@dataclass(frozen=True)
class ProjectedDescent(Solver):
    """Projected gradient steps on ‖V − WWᵀV‖² that never raise it, for constrained W.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.projections import ProjectedDescent, ProjectiveNMF
    >>> V = np.random.default_rng(0).random((9, 7))
    >>> problem = ProjectiveNMF(V, 2, constraints=[cn.Sparseness(min=0.6)])
    >>> cn.solve(problem, ProjectedDescent(), stop=20).max_violation < 1e-6
    True
    """

    solves: ClassVar[str] = "projection"
    needs: ClassVar[Sequence[Need]] = (reconstruction, joint_projection)
    default_stop: ClassVar[Stop] = MaxIter(2000) | RelDecrease(1e-6, patience=10)

    def start(self, blocks: Any, context: Context) -> Memo:
        """Remember no step length before the first sweep."""
        return None

    def sweep(self, blocks: Any, factors: Factors, memo: Memo) -> Sweep:
        """Try a longer step than last time and shorten it until the objective does not rise."""
        point: Point = blocks.at(factors["W"])
        W, before, slope = point.W, blocks.value(point), gradient(point)
        size = float(np.linalg.norm(slope))
        step = 2 * memo if memo else 0.1 * float(np.linalg.norm(W)) / (size or 1.0)
        for _ in range(60):
            moved = blocks.projection(np.ascontiguousarray((W - step * slope).T)).T
            after = blocks.scaled(np.ascontiguousarray(moved, dtype=W.dtype))
            value = blocks.value(after)
            if value <= before and after.W.any(axis=0).all():
                return Sweep({"W": after.W}, step, value)
            step /= 2
        return Sweep(factors, step, before)


def gradient(point: Point) -> Array:
    """Return the gradient of ‖V − WWᵀV‖² at W."""
    W, G = point.W, point.G
    return np.asarray(2 * (W @ (W.T @ G) + G @ (W.T @ W)) - 4 * G)
