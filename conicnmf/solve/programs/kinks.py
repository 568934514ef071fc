"""Blocks whose loss has kinks, by programs that hold the loss near its kinks and its slope elsewhere.

Squares above kinks are so steep that steps on them settle a little above the minimum. In a minimum of
absolute values about as many residuals are zero as the factor has entries; the others keep their
signs, so their part of the loss is linear. The program of those near zero has the factor's size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np
import scipy.sparse as sp

from conicnmf.model.addends import Fit, View
from conicnmf.model.addends.fit_view import FitView
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.losses.weights import full
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import INSIDE
from conicnmf.solve.deadline import is_late
from conicnmf.solve.needs import cones_on_orthant, uncapped
from conicnmf.solve.programs.backends import chain
from conicnmf.solve.programs.closing import Closing
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.types import Array, Factors, Mask

_SMALL, _SMALL_DATA = 1000, 100_000
"""Entries of a factor, and of dense data, up to which such programs are worth their time."""
_ROOM, _ROUNDS = 2, 8
"""How many residuals are near for each entry of the factor, and how often more may follow."""
_WORTH = 1e-7
"""By which part of it the objective must fall for the solve to go on."""


def has_kinks(block: Block) -> bool:
    """Whether a small convex block has a loss with kinks, and one program can hold its terms."""
    fits = [own for own in block.addends if isinstance(own, Fit)]
    if not any("smoothed" in own.loss.abilities for own in fits):
        return False
    large = any(sp.issparse(own.V) or own.V.size > _SMALL_DATA for own in fits)
    if large or block.shape[0] * block.shape[1] > _SMALL:
        return False
    stated = all("cone" in own.abilities and own.convex for own in block.constraints)
    priced = all("expression" in own.abilities for own in block.penalties)
    return stated and priced and not any((*uncapped(block), *cones_on_orthant(block)))


def lower_at_kinks(problem: Problem, factors: Factors) -> Factors | None:
    """Return a lower point where small convex blocks are minimized, nothing where there is none.

    This is for a point where steps have settled. Minimized before, block after block, such losses
    end higher: a corner that is lowest for each block alone is not left again.
    """
    before, found = problem.objective(factors), factors
    for block in problem.blocks:
        if has_kinks(block) and not is_late():
            found = block.put(found, _lowered(block.given(found), block.rows(found)))
    worth = found is not factors and before - problem.objective(found) > _WORTH * abs(before)
    return found if worth else None


def _lowered(held: Subproblem, B: Array) -> Array:
    """Return the minimizer of a block, or B where none is found that is lower.

    Entries whose residuals change their signs are near from then on, until none does. A convex loss
    lies above its slopes, so a minimizer without such entries is that of the block.
    """
    block, program, closing = held.block, PlainProgram(held.block), Closing(held.block)
    parts = [_Part.at(view, B) for view in held.views if _bends(view)]
    smooth = [view for view in held.views if not _bends(view)]
    best, value = B, held.objective(B)
    for _ in range(_ROUNDS):
        near = [fit for part in parts for fit in part.fits(part.near)]
        slopes = (fit.gradient(B) for part in parts for fit in part.fits(~part.near))
        slope, views = sum(slopes, np.zeros(B.shape)), (*smooth, *near)
        found, _ = program.solve(replace(held, views=views), (), chain(None), slope)
        if is_late():
            break
        if found is None:  # it falls without end where too few residuals are near
            parts = [part.with_more() for part in parts]
            continue
        settled = closing.settle(np.clip(found, *block.bounds), best).B
        if settled is not None and block.violation(settled) <= INSIDE:
            new = settled.astype(B.dtype, copy=False)
            lower = held.objective(new)
            if lower < value and not block.collapsed(new):
                best, value = new, lower
        wider = [part.with_turned(found) for part in parts]
        if all(new is part for new, part in zip(wider, parts, strict=True)):
            break
        parts = wider
    return best


@dataclass(frozen=True, eq=False)
class _Part:
    """A fit whose loss has kinks, its residuals where a program begins, and which are near zero."""

    fit: FitView
    residual: Array
    seen: Mask
    near: Mask

    @classmethod
    def at(cls, fit: FitView, B: Array) -> _Part:
        """Take those near that are smallest, some for each entry of the factor."""
        residual = _residual(fit, B)
        weights = getattr(fit.loss, "weights", None)
        seen = np.ones(residual.shape, bool)
        if weights is not None:
            whole = full(weights, residual.shape)
            seen = (whole.toarray() if sp.issparse(whole) else whole) > 0
        return cls(fit, residual, seen, _smallest(residual, seen, _ROOM * B.size))

    def fits(self, entries: Mask) -> list[FitView]:
        """Return the fit of some entries of the data, none where none of them counts."""
        counted = entries & self.seen
        if not counted.any():
            return []
        return [replace(self.fit, loss=self.fit.loss.masked(counted))]

    def with_more(self) -> _Part:
        """Return the part with twice as many near."""
        count = 2 * int(self.near.sum())
        return replace(self, near=self.near | _smallest(self.residual, self.seen, count))

    def with_turned(self, B: Array) -> _Part:
        """Return the part with those near that have another sign at B, itself where there are none."""
        turned = ~self.near & (self.residual * _residual(self.fit, B) < 0)
        return replace(self, near=self.near | turned) if turned.any() else self


def _bends(view: View) -> TypeGuard[FitView]:
    """Whether a view is a fit whose loss has kinks."""
    return isinstance(view, FitView) and {"smoothed", "masked"} <= view.loss.abilities


def _residual(fit: FitView, B: Array) -> Array:
    A, X = fit.sides(B)
    return np.asarray(fit.Y - A @ X)


def _smallest(residual: Array, seen: Mask, count: int) -> Mask:
    """Return which entries that are seen are the smallest in size, so many of them or all."""
    sizes = np.abs(residual[seen])
    if count >= sizes.size:
        return seen
    return np.asarray(seen & (np.abs(residual) <= np.partition(sizes, count)[count]))
