"""The block of H where H is in strips: what an update needs of it is done strip by strip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from conicnmf.geometry.rows import next_to_nothing
from conicnmf.model.blocks import Block
from conicnmf.model.large.descent import RowDescent
from conicnmf.model.large.fit import StripFit
from conicnmf.model.large.moved import ask_move
from conicnmf.model.large.recipe import Recipe
from conicnmf.model.large.rows import Cutter, cut_strip, find_cutter, long_rows, violation_of_rows
from conicnmf.model.subproblem import Subproblem
from conicnmf.model.terms import Constraint
from conicnmf.strips import Strips
from conicnmf.strips.asked import Asked
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True, eq=False)
class StripBlock(Block):
    """One variable in strips of columns; every term on it applies to entries or single columns."""

    @property
    def whole(self) -> Any:
        """The terms, and whether all that H is multiplied by is non-negative: what a strip needs."""
        return self.constraints, self.penalties, self.nonneg_around

    def given(self, factors: Factors) -> Subproblem:
        """Return the block with W held; solvers are sent to the strips."""
        return StripSubproblem(self, (), factors["W"])

    def penalty(self, B: Any) -> float:
        """Return the sum of the penalties over all strips."""
        if not self.penalties:
            return 0.0
        known = B.noted((self, "penalty")) if B.scale is None else None
        (found,) = (known or B.summed(self._terms.penalty)).total
        return float(found)

    def violation(self, B: Any) -> float:
        """Return the largest violation in any strip."""
        if not self.constraints:
            return 0.0
        known = B.noted((self, "violation"))
        # Whatever lies in a cone does so at any length.
        if known is None or not (B.scale is None or (self.scale_free and known.total == 0)):
            known = B.largest(self._terms.violation)
        return float(known.total)

    def violation_of(self, constraint: Constraint, B: Any) -> float:
        """Return the largest violation of one constraint in any strip."""
        return float(B.largest(partial(self._terms.violation_of, constraint)).total)

    def lengths(self, B: Any) -> Array:
        """Return the norms of the rows."""
        return np.asarray(np.sqrt(B.squares), dtype=B.dtype)

    def collapsed(self, B: Any) -> bool:
        """Whether a component, or a column of a strip, is zero where a constraint forbids zero."""
        if 1 in self.zero_forbidden and not B.alive().all():
            return True
        if 0 not in self.zero_forbidden:
            return False
        known = B.noted((self, "zero columns"))
        return bool((known or B.largest(_has_zero_column)).total)

    def kept_alive(self, B: Any, last: Any) -> Any:
        """Return B with a tenth of the last column in place of one that must not be zero."""
        return B.mapped(self._terms.kept_alive, last)

    def ahead(self, new: Any, last: Any, beta: float) -> Any:
        """Go on through the new point, strip by strip."""
        return new.mapped(partial(_ahead, self._terms, beta), last)

    def foresee(self, new: Any, last: Any, ahead: Any) -> None:
        """Ask along for measures of a new point, and for what W will ask of the one ahead."""
        ask_move(new, last)
        self._foresee_terms(new)
        (fit,) = self.addends
        assert isinstance(fit, StripFit)
        fit.foresee(ahead)

    def _foresee_terms(self, new: Any) -> None:
        if 0 in self.zero_forbidden:
            new.note((self, "zero columns"), new.largest(_has_zero_column))
        if self.constraints:
            new.note((self, "violation"), new.largest(self._terms.violation))
        if self.penalties:
            new.note((self, "penalty"), new.summed(self._terms.penalty))

    def nearest_by(self, nearest: Any, B: Any) -> Any:
        """Return a point of all constraints, strip by strip."""
        return B.mapped(partial(nearest, self._terms))

    @cached_property
    def _terms(self) -> Block:
        """The block without its data, which is small enough to be sent."""
        own = Block(self.name, (self.shape[0], 1), False, (), self.constraints, self.penalties)
        return replace(own, nonneg_around=self.nonneg_around)


@dataclass(frozen=True, eq=False)
class RowsBlock(StripBlock):
    """A variable in strips with constraints on whole rows, which sums over strips decide."""

    @cached_property
    def cutter(self) -> Cutter:
        """The projection on all constraints together."""
        found = find_cutter(self.constraints)
        assert found is not None
        return found

    def given(self, factors: Factors) -> Subproblem:
        """Return the block with W held; rows are lowered one after the other."""
        return RowsSubproblem(self, (), factors["W"])

    def violation(self, B: Any) -> float:
        """Return the largest violation of any constraint."""
        return max(self.violation_of(constraint, B) for constraint in self.constraints)

    def violation_of(self, constraint: Constraint, B: Any) -> float:
        """Return the largest violation of one constraint, from sums where it is one on rows."""
        if "violation_of_rows" in constraint.abilities:
            return violation_of_rows(constraint, B)
        return super().violation_of(constraint, B)

    def kept_alive(self, B: Any, last: Any) -> Any:
        """Return B with a tenth of the last row in place of one that must not be zero."""
        long = np.sqrt(last.squares) >= next_to_nothing(last.dtype)
        return B.mapped(partial(_alive_rows, B.alive(), np.where(long, 10.0, 1.0)), last)

    def ahead(self, new: Any, last: Any, beta: float) -> Any:
        """Go on through the new point, and back into the constraints."""
        farther = self.projected(new.mapped(partial(_farther, beta), last))
        return new if self.collapsed(farther) else farther

    def _foresee_terms(self, new: Any) -> None:
        """Ask for nothing: measures of rows take several questions."""

    def nearest_by(self, nearest: Any, B: Any) -> Any:
        """Return the nearest point of all constraints."""
        return self.projected(B)

    def projected(self, B: Any) -> Any:
        """Return the nearest point of all constraints, found from sums over strips."""
        cut = self.cutter(long_rows(B), slice(None))
        return B.crew.later(partial(cut_strip, cut), B, keep=True).matrix


def _alive_rows(alive: Array, divisors: Array, B: Array, last: Array) -> Array:
    return np.where(alive[:, None], B, last / divisors[:, None]).astype(B.dtype)


def _farther(beta: float, new: Array, last: Array) -> Array:
    return np.asarray(new + beta * (new - last), dtype=new.dtype)


def _ahead(terms: Block, beta: float, new: Array, last: Array) -> Array:
    return terms.ahead(new, last, beta)


def _has_zero_column(B: Array) -> bool:
    return not B.any(axis=0).all()


@dataclass(frozen=True, eq=False)
class Lowered:
    """The outcome of an update of all strips, as a solver's own update has it."""

    B: Any
    memo: Any
    value: float
    status: Any
    inner: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class LoweredStrips:
    """The same where the workers are still to be asked."""

    memo: Any
    asked: Asked
    inner: tuple[Any, ...] = ()

    @property
    def B(self) -> Strips:
        """The strips, lowered."""
        return self.asked.matrix

    @property
    def value(self) -> float:
        """The sum of the objectives of all strips."""
        return float(self.asked.total[0])

    @property
    def status(self) -> Any:
        """How the solver ended on the first strip where it did."""
        return next(iter(self.asked.total[1]), None)


@dataclass(eq=False)
class StripSubproblem(Subproblem):
    """H in strips with W held: a solver lowers one strip after the other, where they are."""

    W: Array

    def lowered_by(self, solver: Any, B: Any, seen: Any) -> Any:
        """Let a solver lower every strip as a block of its own; the last memory stays unused."""
        fit = self._fit
        work = partial(lower_strip, solver, fit.recipe, self.block.whole, self.W)  # type: ignore[attr-defined]
        return LoweredStrips(seen, fit.V.crew.later(work, fit.V, B, keep=True))

    @property
    def _fit(self) -> StripFit:
        (fit,) = self.block.addends
        assert isinstance(fit, StripFit)
        return fit

    def loss(self, B: Any) -> float:
        """Return the loss of all strips."""
        return self._fit.value({"W": self.W, "H": B})


@dataclass(eq=False)
class RowsSubproblem(StripSubproblem):
    """H with W held, where a solver visits one row of all strips after the other."""

    def lowered_by(self, solver: Any, B: Any, seen: Any) -> Any:
        """Let a solver visit the rows."""
        fit, block = self._fit, self.block
        assert isinstance(block, RowsBlock)
        keeps = 1 in block.zero_forbidden
        descent = RowDescent(fit.recipe, block.whole, self.W, fit.V, B, block.cutter, keeps)
        new, value = solver.lower_rows(descent)
        return Lowered(new, seen, value, None)

    @cached_property
    def step_size(self) -> float:
        """A safe first step along the gradient of squared losses."""
        fit = self._fit
        work = partial(step_of_strip, fit.recipe, self.block.whole, self.W)  # type: ignore[attr-defined]
        return float(fit.V.crew.run(work, fit.V, combine=min))

    def stepped(self, B: Any, step: float) -> Any:
        """Return B after a step along the gradient."""
        fit = self._fit
        work = partial(stepped_strip, fit.recipe, self.block.whole, self.W, step)  # type: ignore[attr-defined]
        return fit.V.crew.later(work, fit.V, B, keep=True).matrix


def step_of_strip(recipe: Recipe, terms: Any, W: Array, k: int, V: Data) -> tuple[None, float]:
    """Return the first step of one strip."""
    return None, recipe.held(k, V, W, terms).step_size


def stepped_strip(
    recipe: Recipe, terms: Any, W: Array, step: float, k: int, V: Data, B: Array
) -> tuple[Array, Any]:
    """Return a strip of H after a step along the gradient."""
    slope = recipe.held(k, V, W, terms).gradient(B)
    return np.asarray(B - step * slope, dtype=B.dtype), ()


def lower_strip(
    solver: Any, recipe: Recipe, terms: Any, W: Array, k: int, V: Data, B: Array
) -> tuple[Array, Any]:
    """Lower one strip; return its part of H, its value, and how the solver ended if it did."""
    held = recipe.held(k, V, W, terms)
    made = solver.lower(held, B, solver.look(held.block))
    value = held.objective(made.B) if made.value is None else made.value
    return made.B, (float(value), () if made.status is None else (made.status,))
