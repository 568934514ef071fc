"""Multiplicative rules made from A alone, and the plain splits they improve on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.families.one_factor.needs import (
    negative_entries,
    nonnegative_alone,
    nonnegative_moments,
    normalized,
    one_norm,
    quadratic,
    signed_halves,
)
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor
from conicnmf.model.base import BaseProblem
from conicnmf.model.operators import Point
from conicnmf.results import Promises, Status
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors

_DUST = 1e-30
_STILL = 1e-8


@dataclass(frozen=True)
class Rule(OneFactorSolver["Point | None"]):
    """A method that moves W and leaves its scale to the problem; it ends when W no longer changes.

    A rule goes for its fixed points, which need not be the best of the iterates; the best is kept.
    """

    asks: ClassVar[Sequence[ViewNeed]] = (
        normalized,
        nonnegative_alone,
        one_norm,
        nonnegative_moments,
    )
    monotone: ClassVar[bool] = False
    seeks_minimum: ClassVar[bool] = False
    # The columns separate slowly, after a plateau, where a rule on the objective would end.
    default_stop: ClassVar[Stop] = MaxIter(5000)

    def move(self, view: OneFactor, point: Point) -> tuple[Array | None, dict[str, float]]:
        """Return the next W before it is scaled, nothing when the rule does not apply, and notes."""
        raise TypeError(f"{self.name} must define move(view, point)")

    def begin(self, view: OneFactor, context: Context) -> None:
        """Remember nothing before the first step."""

    def onward(self, view: OneFactor, point: Point) -> tuple[Point | None, dict[str, float]]:
        """Return the next point, nothing when the rule does not apply, and notes."""
        moved, notes = self.move(view, point)
        return None if moved is None else view.scaled(without_dust(moved)), notes

    def advance(self, view: OneFactor, factors: Factors, memo: Point | None) -> Sweep[Point | None]:
        """Move, scale and report."""
        point = view.scaled(factors[view.name]) if memo is None else memo
        after, notes = self.onward(view, point)
        if after is None:
            return Sweep(factors, point, status=Status.CONDITION_FAILED, notes=notes)
        reported, objective = view.report(after)
        change = np.linalg.norm(after.W - point.W) / (np.linalg.norm(after.W) or 1.0)
        still = change <= max(_STILL, 10 * float(np.finfo(after.W.dtype).eps))
        return Sweep(reported, after, objective, Status.AT_REST if still else None, notes=notes)


@dataclass(frozen=True)
class ProjectionRule(Rule):
    """Multiplicative updates constructed from A = A⁺ − A⁻ and the norm, normalized in each step.

    For orthonormal columns ``W ⊙ (A⁺W + WWᵀA⁻W) ⊘ (A⁻W + WWᵀA⁺W)``, for wᵀBw = 1
    ``w ⊙ A⁺w ⊘ (A⁻w + w·wᵀBAw)``. On `ProjectiveNMF` this is the non-negative linear Hebbian
    network; on `Discriminant` and `KernelDiscriminant` the published non-negative discriminants.
    For a negative semi-definite A the term with wᵀBAw < 0 changes sides. Where wᵀBAw has the wrong
    sign the rule would turn negative: it stops there and says so.

    Parameters
    ----------
    last : bool
        Return the last iterate, a fixed point of the rule as published, even where the objective of
        an earlier one was better.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectionRule, QuadraticProjection
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> cn.solve(QuadraticProjection(A, 2), ProjectionRule()).objective.__round__(6)
    -2.0
    """

    last: bool = False
    asks: ClassVar[Sequence[ViewNeed]] = (*Rule.asks, signed_halves)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked."""
        return "it takes any symmetric A and has nothing to tune"

    @property
    def promises(self) -> Promises:
        """The best iterate, unless the last is requested."""
        return Promises(monotone=False, keeps_best=not self.last)

    def move(self, view: OneFactor, point: Point) -> tuple[Array | None, dict[str, float]]:
        """Return the product form of Oja's rule."""
        W, P, M = point.W, point.plus, point.minus
        if view.norm is None:
            # Where WᵀW = I a multiple of I adds a constant, and a definite A keeps W from dying.
            shift = 0.0 if view.reconstructs or not view.shift else view.shift
            P = P + shift * W if shift else P
            up, down = P, W @ (W.T @ P)
            if M is not None:
                up, down = up + W @ (W.T @ M), down + M
            return W * ratio(up, down), {}
        s = float(np.sum(view.in_norm(W) * point.G))
        falling = view.fixed is not None and view.fixed.sign == -1
        if (s >= 0) if falling else (s <= 0):
            return None, {"wᵀBAw": view.stated_pull(s)}
        minus = np.zeros_like(P) if M is None else M
        pair = (P - s * W, minus) if falling else (P, minus + s * W)
        return W * ratio(*pair), {"wᵀBAw": view.stated_pull(s)}


@dataclass(frozen=True)
class PlainSplit(Rule):
    """``W ⊙ A⁺W ⊘ A⁻W``, or with `root` its square root; normalized in each step.

    Nothing in it stands for the norm, and the fixed points are those of A W = 0: it is here to be
    compared with.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import PlainSplit, QuadraticProjection
    >>> problem = QuadraticProjection(np.array([[2.0, -1.0], [-1.0, 3.0]]))
    >>> cn.solve(problem, PlainSplit(root=True)).solver
    'PlainSplit(root=True)'
    """

    root: bool = False
    asks: ClassVar[Sequence[ViewNeed]] = (
        quadratic,
        normalized,
        nonnegative_alone,
        one_norm,
        negative_entries,
        signed_halves,
    )

    def move(self, view: OneFactor, point: Point) -> tuple[Array | None, dict[str, float]]:
        """Multiply by the ratio of the halves."""
        minus = np.zeros_like(point.plus) if point.minus is None else point.minus
        factor = ratio(point.plus, minus)
        return point.W * (np.sqrt(factor) if self.root else factor), {}


def ratio(up: Array, down: Array) -> Array:
    """Return up ⊘ down, bounded where `down` is next to nothing and 1 where both are.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 1. ])
    """
    floor = 1e-12 * max(float(np.abs(up).max(initial=0.0)), float(np.abs(down).max(initial=0.0)))
    safe = np.maximum(down, floor if floor else 1.0)
    return np.asarray(np.where(np.maximum(up, down) > floor, up / safe, 1.0)).astype(up.dtype)


def without_dust(W: Array) -> Array:
    """Return W with zeros for entries that will never matter again; they would slow every product."""
    return np.where(_DUST * W.max(initial=0.0) < W, W, 0.0).astype(W.dtype)
