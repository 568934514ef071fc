"""Tangent-plane method: reverse-convex blocks as sequences of cone programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Penalty
from conicnmf.model.tolerances import FEASIBLE, INSIDE
from conicnmf.results import InnerSolve, Status
from conicnmf.settings import Count, Weight
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.base import BlockSolver, Context, Engine, Update
from conicnmf.solve.methods.other_signs import with_other_signs
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    bounded_gains,
    conic_constraints,
    other_cones_on_orthant,
    signed,
    signed_blocks_are_sign_free,
)
from conicnmf.solve.programs.backends import Backend
from conicnmf.solve.programs.closing import Closing
from conicnmf.solve.programs.domain import kept_finite
from conicnmf.solve.programs.lightest import has_native_program, lightest, native_program
from conicnmf.solve.programs.native import NativeProgram
from conicnmf.solve.programs.program import BlockProgram, ConicStep, Step
from conicnmf.solve.programs.separable import SeparableProgram
from conicnmf.solve.programs.sharpen import sparseness_bounds
from conicnmf.solve.programs.signed import magnitudes, signed_step
from conicnmf.solve.programs.tangent import (
    Outcome,
    TangentLoop,
    convex_part,
    held_step,
    priced_step,
    tangent_step,
)
from conicnmf.solve.programs.upper_cuts import UpperCutProgram
from conicnmf.solve.starts.search import ConeSearch, unsearchable
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

_ACCURACY = 1e-5
"""Native blocks are swept until they move less than this: while the other factor is not final,
more digits do not help."""


@dataclass(frozen=True, eq=False)
class _Memo:
    """The convex part of a block, its program, what is linearized, and the way to the constraints."""

    convex: Block
    program: NativeProgram | SeparableProgram | BlockProgram | UpperCutProgram
    rewards: tuple[Penalty, ...]
    closing: Closing
    rng: np.random.Generator
    fresh: bool = True
    """Whether the block has yet to be visited."""


@dataclass(frozen=True)
class TangentPlane(BlockSolver[_Memo]):
    """Solve each block as a convex program, with tangent planes for lower bounds on sparseness.

    Any convex CVXPY constraint or penalty on a factor is allowed. A penalty that is not convex is
    linearized at the iterate. A signed factor with a sparseness band is solved for its magnitudes,
    then for the signs of its small entries; where other terms depend on signs, the band is stated as
    ‖b‖₁ between multiples of ‖b‖. The objective falls within a block, but may rise from one block
    to the next; the best feasible iterate is returned.

    Parameters
    ----------
    rounds : int
        How many times the planes may be moved before the other factor's turn.
    rtol : float
        Planes are moved while the objective falls by more than this fraction.
    linearizations : int
        How many times a non-convex penalty is linearized before the other factor's turn.
    upper : {"cone", "cuts"}
        Upper bounds on sparseness as second-order cones, or by cutting planes, which keep the
        blocks of the conic engine quadratic programs.
    engine : {"auto", "native", "conic"}
        "native" solves blocks with known constraints by descent over components, with the same
        results as the cone solver; "auto" does this if every constraint is known and you name no
        backend.
    backend : str, optional
        An installed CVXPY solver; by default the program is compiled once for Clarabel and
        updated in place. If it fails, ECOS, Clarabel and SCS are tried in this order.
    search : ConeSearch, optional
        Sample the sparseness cones round the present point in each visit of a block with a lower
        bound on sparseness, and try planes at the best combination too. For few components;
        `certificate(budget=…)` tells whether blocks are then at a global minimum.

    References
    ----------
    Heiler and Schnörr, Reverse-convex programming for sparse image codes, EMMCVPR 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    >>> bool(cn.sparseness(problem.solve(cn.TangentPlane()).W, axis=0).min() > 0.7 - 1e-6)
    True
    """

    rounds: Count = 4
    rtol: Weight = 1e-3
    linearizations: Count = 10
    upper: Literal["cone", "cuts"] = "cone"
    engine: Engine = "auto"
    backend: Backend = None
    search: ConeSearch | None = None

    needs: ClassVar = (
        LossWith(("reduced", "expression"), "which a cone program needs"),
        PenaltiesWith(("expression", "slope"), "which a cone program needs"),
        conic_constraints,
        bounded_gains,
        signed_blocks_are_sign_free,
        other_cones_on_orthant,
    )
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(100) | RelDecrease(1e-4, patience=5)

    def unmet(self, part: Block | BaseProblem) -> list[str]:
        """Return every need that a block does not meet, those of a search among them."""
        found = super().unmet(part)
        if self.search is None or not isinstance(part, Block):
            return found
        return [*found, *unsearchable(part)]

    def facing(self, block: Block) -> Block:
        """Return the block or a majorized one, whichever has the lightest programs."""
        stated = block.any_sign
        return lightest(self, stated, lambda seen: self._is_native(convex_part(seen)[0]))

    def _is_native(self, convex: Block) -> bool:
        wanted = self.engine == "native" or (self.engine == "auto" and self.backend is None)
        return wanted and has_native_program(convex)

    def prepare(self, block: Block, context: Context) -> _Memo:
        """Set up the program of the block's convex part."""
        convex, rewards = convex_part(block)
        if self._is_native(convex):
            native = native_program(convex, _ACCURACY)
            return _Memo(convex, native, rewards, Closing(block), context.rng)
        kind = UpperCutProgram if self.upper == "cuts" else BlockProgram
        stated = magnitudes(convex) if signed(block) else convex
        return _Memo(convex, kind(stated, self.backend), rewards, Closing(block), context.rng)

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return a point with work for dead components, or with other signs, if that is better."""
        return super().revived(problem, factors) or with_other_signs(problem, factors)

    def update(self, held: Subproblem, B: Array, memo: _Memo) -> Update[_Memo]:
        """Solve the block, linearizing rewards until they settle; keep B when backends fail."""
        block = held.block
        after = replace(memo, fresh=False)
        records: list[InnerSolve] = []
        linearizations = self.linearizations if memo.rewards else 1
        for count in range(linearizations):
            step, outcome = self._searched(held, B, memo)
            records += outcome.records
            if outcome.B is None:
                # Only planes at a feasible B are sure to leave room.
                empty = outcome.infeasible and block.violation(B) > FEASIBLE
                failed = Status.INFEASIBLE if empty else Status.BACKEND_FAILED
                return Update(B, after, status=None if count else failed, inner=records)
            # This also removes what an interior-point method leaves of the last digits.
            settled = memo.closing.settle(outcome.B.astype(B.dtype, copy=False), B)
            records += settled.records
            new = (outcome.B if settled.B is None else settled.B).astype(B.dtype, copy=False)
            if not memo.rewards:
                value = None
                if step is not None:
                    new, value = kept_finite(step.value, B, new)
                return Update(new, after, value, inner=records)
            before, B = B, descend_toward(held, B, new)
            fell = held.objective(before) - held.objective(B)
            if fell <= self.rtol * abs(held.objective(B)) or is_late():
                break
        return Update(B, after, inner=records)

    def _searched(self, held: Subproblem, B: Array, memo: _Memo) -> tuple[Step | None, Outcome]:
        """Solve the block once, and again from the best of many combinations where that is asked."""
        step, outcome = self._step(held, B, memo)
        if self.search is None or not sparseness_bounds(held.block):
            return step, outcome
        tried = self.search.near(held, B, memo.rng)
        loop, linear = TangentLoop(self.rounds, self.rtol), _slope(memo, B)
        if step is not None:
            other = held_step(step, tried, loop)
        else:
            assert not isinstance(memo.program, (NativeProgram, SeparableProgram))
            convex = held.on(memo.convex)
            other = signed_step(convex, memo.program, tried, loop, linear, held_step)
        values = [np.inf if B is None else held.objective(B) for B in (outcome.B, other.B)]
        best = other if values[1] < values[0] else outcome
        return step, replace(best, records=outcome.records + other.records)

    def _step(self, held: Subproblem, B: Array, memo: _Memo) -> tuple[Step | None, Outcome]:
        """Solve the block once, with the rewards linearized at B; return what was solved too."""
        loop, linear = TangentLoop(self.rounds, self.rtol), _slope(memo, B)
        if signed(held.block):
            assert not isinstance(memo.program, (NativeProgram, SeparableProgram))
            convex = held.on(memo.convex)
            outcome = signed_step(convex, memo.program, B, loop, linear)
            if outcome.B is None:
                # Anchors that no program can hold: planes at B leave room for B itself.
                before = outcome.records
                outcome = signed_step(convex, memo.program, B, loop, linear, held_step)
                outcome.records[:0] = before
            return None, outcome
        step = memo.program.at(held.on(memo.convex), linear)
        majorized = held.block.kind is not None
        outcome = self._moved(step, B, memo.fresh, majorized)
        if outcome.B is None and step.block.capped:
            # The start lies above the cap: lower the loss first.
            before = outcome.records
            outcome = self._moved(step.uncapped(), B, memo.fresh, majorized)
            outcome.records[:0] = before
        return step, outcome

    def _moved(self, step: Step, B: Array, fresh: bool, majorized: bool) -> Outcome:
        """Move planes, in more ways on a first visit, or stay on B's side of them."""
        loop = TangentLoop(self.rounds, self.rtol)
        outcome = tangent_step(step, B, loop)
        anchored = all("project" in c.abilities for c in step.block.reverse_convex)
        if fresh and not anchored and isinstance(step, ConicStep):
            return _best(step, [outcome, held_step(step, B, loop), priced_step(step, B, loop)])
        least = 0.0 if anchored else self.rtol
        local = majorized or not anchored
        if outcome.B is None or (local and not _falls(step, B, outcome.B, least)):
            # Anchors that no program can hold, planes that were not anchored, or a majorizer that
            # says nothing where it is higher: stay on B's side of the planes.
            before = outcome.records
            outcome = held_step(step, B, TangentLoop(rounds=1) if anchored else loop)
            outcome.records[:0] = before
        return outcome


def _slope(memo: _Memo, B: Array) -> Array | None:
    """Return the slope at B of all that is linearized."""
    slopes = [reward.slope(B) for reward in memo.rewards]
    return np.add.reduce(slopes) if slopes else None


def _best(step: Step, outcomes: list[Outcome]) -> Outcome:
    """Return the outcome of least value, with the records of all: the first visit picks a basin."""
    found = [(step.value(own.B), k) for k, own in enumerate(outcomes) if own.B is not None]
    best = outcomes[min(found)[1] if found else 1]
    return replace(best, records=[record for own in outcomes for record in own.records])


def _falls(step: Step, B: Array, new: Array, least: float) -> bool:
    """Whether the objective falls, or stays, by at least this part of itself."""
    value = step.value(B)
    fall = least * abs(value) if np.isfinite(value) else 0.0
    return step.value(new) <= value - fall


def descend_toward(held: Subproblem, B: Array, end: Array) -> Array:
    """Return a feasible point on the way from B to `end` where the objective is not higher.

    Between points of a set that is not convex the way is bent into it, where its projection is known.
    """
    block = held.block
    value, allowed = held.objective(B), max(INSIDE, block.violation(B))
    for _ in range(30):
        if held.objective(end) <= value and block.violation(end) <= allowed:
            return end
        end = (B + end) / 2
        if block.projection is not None and block.violation(end) > allowed:
            end = block.projection(end)
    return B
