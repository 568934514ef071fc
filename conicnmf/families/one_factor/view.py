"""A problem with one variable as its methods see it: W ≥ 0, an operator A, a norm, and the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from conicnmf.families.one_factor.bounded import unbounded_direction
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.constraints.joint import JointProjection, find_projection
from conicnmf.model.operators import Operator, Point, generalized_lowest
from conicnmf.model.terms import Constraint
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True, eq=False)
class OneFactor:
    """The only block of a problem, and what its terms say.

    `term` is the objective, made from an operator A; `norm` the constraint wᵀBw = 1 if there is one;
    `parts` the constraint WᵀW = I if there is one; `others` every further constraint but W ≥ 0.
    """

    problem: BaseProblem
    block: Block
    term: Any
    norm: Any
    parts: Any
    others: tuple[Constraint, ...]

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.block.name

    @property
    def rank(self) -> int:
        """The number of columns of W."""
        return self.block.shape[0]

    @property
    def size(self) -> int:
        """The number of rows of W."""
        return self.block.shape[1]

    @property
    def reconstructs(self) -> bool:
        """Whether the objective is ‖V − WWᵀV‖² rather than the negative of ½tr(WᵀAW)."""
        return "squares" in self.term.abilities

    @cached_property
    def fixed(self) -> Operator | None:
        """A, where it does not depend on W."""
        if self.reconstructs:
            return self.term.operator(np.zeros((self.size, self.rank)))  # type: ignore[no-any-return]
        fixed: Operator | None = self.term.fixed
        return fixed

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of A."""
        return np.dtype(float) if self.fixed is None else self.fixed.dtype

    def operator(self, W: Array) -> Operator:
        """Return A at W."""
        found: Operator = self.term.operator(W)
        return found

    def at(self, W: Array) -> Point:
        """Return W with its products with A."""
        return self.operator(W).at(W)

    @cached_property
    def projection(self) -> JointProjection | None:
        """The projection on W ≥ 0 and the further constraints, if one is known."""
        orthant = [c for c in self.block.constraints if c not in (self.norm, self.parts)]
        return find_projection(orthant)

    @cached_property
    def scale_free(self) -> bool:
        """Whether every further constraint keeps any multiple of W."""
        return all(c.scale_free for c in self.others)

    def in_norm(self, W: Array) -> Array:
        """Return B W, or W itself where there is no norm of its own."""
        return W if self.norm is None else np.asarray(self.norm.metric @ W) / self.norm.level

    def stated_pull(self, s: float) -> float:
        """Return wᵀBAw in the units of the stated problem."""
        units = self.problem.units
        held = 0 if self.norm is None else 2 * units.powers.get(self.name, 0)
        return math.ldexp(s, units.objective - held)

    def scaled(self, W: Array) -> Point:
        """Return W on the scale that the problem prescribes, or on the best one."""
        return self._at_best_scale(W) if self.reconstructs else self.at(self.on_scale(W))

    def on_scale(self, W: Array) -> Array:
        """Return the same without its products, where they are not needed to find the scale."""
        if self.reconstructs:
            return self._at_best_scale(W).W
        if self.norm is not None:
            square = float(np.sum(W * self.in_norm(W)))
            return W / W.dtype.type(np.sqrt(square)) if square > 0 else W
        return W if self.parts is None else np.ascontiguousarray(self.parts.approach(W.T).T)

    def _at_best_scale(self, W: Array) -> Point:
        """Return c W with the c ≥ 0 that minimizes ‖V − c²WWᵀV‖²."""
        point = self.at(W)
        W, G = point.W, point.G
        fit, own = float(np.sum(W * G)), float(np.sum((W.T @ G) * (W.T @ W)))
        free = own > 0 and self.scale_free and self.parts is None and self.norm is None
        return point.times(float(np.sqrt(fit / own))) if free else point

    def report(self, point: Point) -> tuple[Factors, float | None]:
        """Return the feasible W that stands for an iterate, and its objective where known."""
        if self.parts is not None and self.rank > 1:
            return self.factors(np.ascontiguousarray(self.parts.separate(point.W.T).T)), None
        return self.factors(point.W), self.value(point)

    def value(self, point: Point) -> float:
        """Return the objective of a point whose products are known."""
        if self.reconstructs:
            return float(self.term.at(point.W, point.G))
        if self.term.potential is not None:
            return float(self.term.value(point.W.T))
        return -0.5 * float(np.sum(point.W * point.G))

    def steepness(self, W: Array) -> tuple[float, Array]:
        """Return the objective at W and its gradient, from one product with A where it is a gain."""
        B = np.ascontiguousarray(W.T)
        slope = self.term.gradient(B).T
        if self.reconstructs or self.term.potential is not None:
            return float(self.term.value(B)), slope
        return 0.5 * float(np.sum(W * slope)), slope

    def factors(self, W: Array) -> Factors:
        """Return W under its name."""
        return {self.name: np.asarray(W, dtype=self.dtype)}

    @property
    def signed(self) -> bool:
        """Whether A has negative entries, or may have them."""
        return self.fixed is None or self.fixed.signed

    @cached_property
    def convex(self) -> bool:
        """Whether A is known and positive semi-definite, so that wᵀBw ≤ 1 says as much as = 1."""
        return self.fixed is not None and self.fixed.sign == 1

    def metric(self) -> Array:
        """Return B, at the level of one, as a plain array."""
        return np.asarray(self.norm.metric.matrix() / self.norm.level, dtype=float)

    @cached_property
    def root(self) -> Data:
        """L with B = L Lᵀ, with fewer columns than rows exactly when B is singular."""
        if self.norm is None:
            return np.eye(self.size)
        return self.norm.metric.root / np.sqrt(self.norm.level)

    @property
    def singular(self) -> bool:
        """Whether B is."""
        return self.norm is not None and self.root.shape[1] < self.size

    @cached_property
    def shift(self) -> float | None:
        """The least c ≥ 0 for which A + cB is positive semi-definite, where B is definite.

        Adding cB changes nothing where wᵀBw = 1.
        """
        if self.fixed is None:
            return None
        if self.convex:
            return 0.0
        if self.norm is None:
            return max(0.0, -self.fixed.lowest)
        if self.singular:
            return None
        return max(0.0, -generalized_lowest(self.fixed.matrix(), self.metric()))

    @cached_property
    def unbounded(self) -> Array | None:
        """Some w ≥ 0 with wᵀBw = 0 and wᵀAw > 0, nothing when the maximum is finite."""
        known = getattr(self.problem, "bounded", False)
        if known or self.norm is None or self.fixed is None or not self.singular:
            return None
        return unbounded_direction(self.root, self.fixed)

    @property
    def single(self) -> Array | None:
        """The vector g where A = ggᵀ, nothing where A has another rank."""
        return self.fixed.single if self.fixed is not None and self.convex else None


_VIEWS: WeakKeyDictionary[BaseProblem, OneFactor | None] = WeakKeyDictionary()


def one_factor(problem: BaseProblem) -> OneFactor | None:
    """Return the view of a problem with one variable and an operator, nothing for other problems.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectiveNMF
    >>> one_factor(ProjectiveNMF(np.ones((3, 2)), 1)).reconstructs
    True
    >>> one_factor(cn.factorize(np.ones((3, 2)), 1)) is None
    True
    """
    if problem not in _VIEWS:
        _VIEWS[problem] = _view(problem)
    return _VIEWS[problem]


def _view(problem: BaseProblem) -> OneFactor | None:
    if len(problem.blocks) != 1:
        return None
    (block,) = problem.blocks
    made = [term for term in block.penalties if "operator" in term.abilities]
    if block.addends or len(made) != 1 or len(block.penalties) != 1 or not block.nonneg:
        return None
    norm = _only(block, "metric")
    parts = _only(block, "separate")
    others = tuple(
        c for c in block.constraints if c not in (norm, parts) and "bounds" not in c.abilities
    )
    boxes = tuple(c for c in block.constraints if "bounds" in c.abilities and not c.scale_free)
    return OneFactor(problem, block, made[0], norm, parts, others + boxes)


def _only(block: Block, ability: str) -> Constraint | None:
    """Return the constraint that has a method or property beyond the usual ones."""
    found = [c for c in block.constraints if hasattr(c, ability)]
    return found[0] if found else None
