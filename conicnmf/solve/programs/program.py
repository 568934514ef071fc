"""A block's convex program: compiled where it can be, plain CVXPY where not or when that fails."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import cvxpy as cp
import numpy as np

from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Each, Reduced
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.guard import in_words, is_fault
from conicnmf.solve.programs.backends import chain, no_time
from conicnmf.solve.programs.compiled import CompiledProgram, Slot
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.model import PlainProgram, Target
from conicnmf.types import Array


class Step(Protocol):
    """The convex part of a block with the other factor fixed."""

    leaves_dust: ClassVar[bool]
    """Whether zeros come out as small numbers, as those of interior points do."""

    @property
    def block(self) -> Block:
        """The block that is solved."""

    def solve(self, cuts: Sequence[Cut] | None = None) -> Solution:
        """Minimize over B with the cuts, none by default."""

    def value(self, B: Array) -> float:
        """Return the block's objective."""

    def uncapped(self) -> Step:
        """Return the step for what is capped alone, without its caps and without penalties."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A minimizer, or nothing, and a record of every backend call it took."""

    B: Array | None
    records: list[InnerSolve]

    @property
    def infeasible(self) -> bool:
        """Whether a backend proved that the constraints have no common point."""
        return self.B is None and any(record.infeasible for record in self.records)


class BlockProgram:
    """Minimize the loss and penalties of a block over the convex part of its constraints.

    Parameters
    ----------
    block : Block
    backend : str, optional
        An installed CVXPY solver to try first. Without one, Clarabel is compiled once and updated
        in place; if a solve fails, ECOS, Clarabel and SCS are tried in turn.
    more_slots : sequence of Each
        Room for cuts beyond one for each reverse-convex constraint.
    squared : bool
        Whether compiled programs hold Gram matrices, which makes them smaller and less accurate.
    """

    def __init__(
        self,
        block: Block,
        backend: str | None = None,
        more_slots: Sequence[Each] = (),
        squared: bool = False,
    ) -> None:
        self.block, self.squared = block, squared
        self.backend = backend
        self.slots = (*(c.each for c in block.reverse_convex), *more_slots)
        self._backends = chain(backend)
        self._plain = PlainProgram(block)
        self._compiled: CompiledProgram | None = None
        fits = backend is None or self._backends[0] == "CLARABEL"
        self._compiles = fits and not block.capped

    def at(
        self, held: Subproblem, linear: Array | None = None, signs: Array | None = None
    ) -> ConicStep:
        """Return the program of a held block, ready to be solved with one set of cuts after another.

        `linear` adds ⟨linear, B⟩ to the objective; with `signs` the loss is that of signs ∘ B.
        """
        several = len(self.block.addends) > 1
        reduced = None if self.block.capped and several else held.reduced()
        if signs is not None and reduced is not None:
            reduced = reduced.with_signs(signs)
        return ConicStep(self, held, held if reduced is None else reduced, linear)

    def solve(self, target: Target, cuts: Sequence[Cut], linear: Array | None) -> Solution:
        """Minimize over B with the cuts, in the time that is left."""
        if is_late():
            return Solution(None, [no_time(self._backends[0])])
        records: list[InnerSolve] = []
        rough: Array | None = None
        compiled = self._compile(target, cuts, records)
        if compiled is not None:
            assert isinstance(target, Reduced)
            rough, record = compiled.solve(target, cuts, linear)
            records.append(record)
            if record.status == cp.OPTIMAL:
                return Solution(self._clip(rough), records)
        doubted = any(record.infeasible for record in records)
        B, tried = self._plain.solve(target, cuts, self._backends, linear, doubted)
        return Solution(self._clip(rough if B is None else B), records + tried)

    def priced(
        self, target: Target, cuts: Sequence[Cut], linear: Array | None, price: float
    ) -> Solution:
        """Minimize with cuts that may be missed at a price."""
        B, tried = self._plain.solve(target, cuts, self._backends, linear, price=price)
        return Solution(self._clip(B), tried)

    def _compile(
        self, target: Target, cuts: Sequence[Cut], records: list[InnerSolve]
    ) -> CompiledProgram | None:
        """Return the compiled program, made once; nothing where it does not fit or that raises.

        It is made again where cuts have normals with entries that none had before.
        """
        bent = any(cut.halfspaces.above is not None for cut in cuts)
        if not isinstance(target, Reduced) or not self._compiles or bent:
            return None
        slots = [Slot.of(self.block.shape, cut) for cut in cuts]
        if self._compiled is not None:
            known = self._compiled.slots
            if all(own.holds(slot) for own, slot in zip(known, slots, strict=True)):
                return self._compiled
            slots = [own.joined(slot) for own, slot in zip(known, slots, strict=True)]
        begin = time.perf_counter()
        try:
            self._compiled = CompiledProgram(self.block, slots, target.R.ndim == 3, self.squared)
        except BaseException as error:
            if not is_fault(error):
                raise
            self._compiles = False
            status = f"error: {in_words(error)}"
            records.append(InnerSolve("CLARABEL", status, 0, time.perf_counter() - begin))
            return None
        return self._compiled

    def _clip(self, B: Array | None) -> Array | None:
        """Put entries that an interior-point method left just outside their bounds on them."""
        return None if B is None else np.clip(B, *self.block.bounds)


@dataclass(frozen=True, eq=False)
class ConicStep:
    """A block's program with the other factor fixed; the loss enters through `target`."""

    program: BlockProgram
    held: Subproblem
    target: Target
    linear: Array | None = None

    leaves_dust: ClassVar[bool] = True

    @property
    def block(self) -> Block:
        """The block that is solved."""
        return self.program.block

    def solve(self, cuts: Sequence[Cut] | None = None) -> Solution:
        """Minimize over B with the cuts, none by default."""
        cuts = self.no_cuts() if cuts is None else cuts
        return self.program.solve(self.target, cuts, self.linear)

    def priced(self, cuts: Sequence[Cut], price: float) -> Solution:
        """Minimize with cuts that may be missed at a price."""
        if is_late():
            return Solution(None, [no_time(self.program.backend or "CLARABEL")])
        return self.program.priced(self.target, cuts, self.linear, price)

    def no_cuts(self) -> list[Cut]:
        """Return a cut that binds nothing for each reverse-convex constraint."""
        return [Cut.none(self.block.shape, c.each) for c in self.block.reverse_convex]

    def uncapped(self) -> ConicStep:
        """Return the step for what is capped alone, without its caps and without penalties."""
        addends = self.block.addends
        capped = [np.isfinite(addend.cap) for addend in addends]
        chosen = tuple(addend for addend, own in zip(addends, capped, strict=True) if own)
        alone = replace(self.block, uncapped=True, penalties=(), addends=chosen)
        program = BlockProgram(alone, self.program.backend)
        if all(capped):
            return ConicStep(program, self.held, self.target)
        views = tuple(view for view, own in zip(self.held.views, capped, strict=True) if own)
        return program.at(Subproblem(alone, views))

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        extra = 0.0 if self.linear is None else float(np.vdot(self.linear, B))
        if isinstance(self.target, Reduced):
            return self.target.value(B) + self.block.penalty(B) + extra
        return self.held.loss(B) + self.block.penalty(B) + extra
