"""Splitting: several terms at once, each by its own proximal step on a copy of the factor."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import INSIDE
from conicnmf.results import InnerSolve, Status
from conicnmf.settings import Count, Positive
from conicnmf.solve.deadline import is_late
from conicnmf.solve.methods.anls import ANLS
from conicnmf.solve.methods.base import Context, Seen, Sweep, Update, first_fit
from conicnmf.solve.methods.extrapolated import Extrapolated, Pace
from conicnmf.solve.methods.hals import HALS
from conicnmf.solve.needs import LossWith, uncapped
from conicnmf.solve.programs.copies import Copies, find_copies, fits_whole, unsplit
from conicnmf.solve.programs.pulled import Pulled, pulled
from conicnmf.solve.programs.whole import WholeProgram
from conicnmf.types import Array, Factors

_EXACT: tuple[Extrapolated, ...] = (ANLS(), HALS(sweeps=10))
_ROUNDS_IN_PART = 20
_FINER = (1.0, 0.1, 0.01)
_COPIES, _WAITS = "copies of ", "waits of "
_SHORTER, _KEPT = 4, 0.1
"""How often a step on scored squares is cut to a quarter, and the part of their fall it must keep."""
_SLOPES = 10
"""How many steps along the slope are tried where copies of sets that are not convex are at rest."""
_PATIENCE = 5
"""How many iterations in a row a factor may wait for its copies before that counts as rest."""


@dataclass(frozen=True, eq=False)
class _Memo:
    """How the terms are split, and the copies and their multipliers of the last visit.

    A block of known terms needs no copies: `exact` minimizes it. Nor does a small block of squares:
    `whole` is one program of its loss and its terms. `waits` counts the visits in a row after which
    the factor stayed where it was because its copies had not come together.
    """

    exact: Extrapolated | None = None
    copies: Copies | None = None
    whole: WholeProgram | None = None
    Z: tuple[Array, ...] = ()
    Y: tuple[Array, ...] = ()
    met: bool = True
    waits: int = 0


@dataclass(frozen=True)
class Splitting(Extrapolated):
    """Give each group of terms a copy of the factor, and drive the copies to agree (AO-ADMM).

    The loss is minimized with one small matrix for all columns, or entry by entry. A term acts on
    its copy by its proximal step, in closed form if there is one; a convex CVXPY constraint or
    penalty acts by a small cone program that is compiled once. So no program has the size of the
    data, whatever the loss. Copies and multipliers are kept for the next update of the block. A
    new point is accepted only if it is feasible and the objective does not rise. Blocks without
    such terms are minimized as by `HALS` or `ANLS`, and small blocks with squared losses by a
    single program for loss and terms.

    Parameters
    ----------
    rounds : int
        The most rounds of splitting before the other factor's turn.
    program_rounds : int
        The same if a round needs a cone program.
    rtol : float
        Rounds continue while copies differ, or move, by more than this fraction of their size.
    extrapolate : bool
        Extrapolate each factor before the other one is updated, see `HALS`. A factor whose
        constraints have no joint projection is extrapolated only if a single program solves its
        block.

    References
    ----------
    Huang, Sidiropoulos and Liavas, A flexible and efficient algorithmic framework for constrained
    matrix and tensor factorization, IEEE Transactions on Signal Processing 2016.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> terms = [cn.NonNegative(), cn.Smooth(0.1), cn.FactorNorm(2.0)]
    >>> result = cn.factorize(V, 2, W=terms).solve(cn.Splitting())
    >>> bool(np.linalg.norm(result.W) <= 2 + 1e-6)
    True
    """

    rounds: Count = 50
    program_rounds: Count = 2
    rtol: Positive = 1e-4
    extrapolate: bool = True

    majorizations: ClassVar[int] = 2
    needs: ClassVar = (
        uncapped,
        LossWith(("quadratic", "grams", "separable"), "which splitting needs"),
        unsplit,
    )

    def facing(self, block: Block) -> Block:
        """Return the block as it is where an exact method serves it, else as splitting needs it.

        Sums over entries make short steps; squares with the same slopes come before them.
        """
        if _exact(block):
            return block
        seen, scored = first_fit(self, block), block.scored
        longer = seen.kind == "separable" and scored is not None and not self.unmet(scored)
        return scored if longer and scored is not None else seen

    def unmet(self, part: Block | BaseProblem) -> list[str]:
        """Return every need that a block does not meet; none where an exact method serves it."""
        return [] if isinstance(part, Block) and _exact(part) else super().unmet(part)

    def goes_beyond(self, seen: Seen[Any]) -> bool:
        """Whether one program has the whole block, so that its answer is the same from anywhere."""
        return seen.memo.whole is not None and seen.block.projection is None

    def prepare(self, block: Block, context: Context) -> _Memo:
        """Divide the terms of the block."""
        exact = _exact(block)
        if exact:
            return _Memo(exact)
        if fits_whole(block):
            return _Memo(whole=WholeProgram(block))
        return _Memo(copies=find_copies(block))

    def sweep(self, problem: Problem, factors: Factors, memo: Pace) -> Sweep[Pace]:
        """Update each variable; a factor that waits for its copies is not at rest."""
        made = super().sweep(problem, factors, memo)
        return replace(made, busy=any(_waits(seen.memo) for seen in made.memo.seen.values()))

    def update(self, held: Subproblem, B: Array, memo: _Memo) -> Update[_Memo]:
        """Bring the copies together, more closely where that does not lower the objective yet."""
        if memo.exact is not None:
            new, value = memo.exact.minimize(held, B)
            return Update(new, memo, value)
        if memo.whole is not None:
            new, value, tried = memo.whole.minimize(held, B)
            return Update(new, memo, value, None if tried[-1].ok else Status.BACKEND_FAILED, tried)
        assert memo.copies is not None
        block, copies = held.block, memo.copies
        loss = pulled(held, len(copies.steps))
        log: list[InnerSolve] = []

        def cost(X: Array) -> float:
            return loss.value(X) + sum(penalty.value(X) for penalty in block.shaped)

        before, outside = cost(B), block.violation(B) > INSIDE
        memo = memo if memo.Z else _at(B, memo)
        for finer in _FINER:
            found = self._meet(loss, memo, finer * self.rtol, log)
            if found is None:
                return Update(B, memo, before, Status.BACKEND_FAILED, log)
            memo = found
            new = copies.feasible(memo.Z[0])
            value = cost(new)
            inside = block.violation(new) <= INSIDE
            if inside and (outside or value <= before) and not block.collapsed(new):
                fell = np.inf if outside else before - value
                memo = replace(memo, waits=0)
                return self._in_part(held, Update(new, memo, value, inner=log), fell)
            if is_late():
                break
        memo = replace(memo, waits=0 if memo.met else memo.waits + 1)
        return self._in_part(held, Update(B, memo, before, inner=log), np.inf if outside else 0.0)

    def lower(self, held: Subproblem, B: Array, seen: Seen[Any]) -> Update[Seen[Any]]:
        """Lower scored squares, and the loss by them or, where that fails, by a majorizer."""
        if seen.block.kind != "scored":
            return super().lower(held, B, seen)
        made = self.update(held.majorized(B, seen.block), B, seen.memo)
        found = None if made.status else _toward(held, B, made)
        if found is not None:
            return Update(*found[:1], Seen(seen.block, made.memo), found[1], None, made.inner)
        bound = held.block.separable
        assert bound is not None
        copies = seen.memo.copies or find_copies(bound)
        sure = super().lower(held, B, Seen(bound, _Memo(copies=copies)))
        memo = made.memo if made.memo.exact else _at(sure.B, made.memo)
        return replace(sure, memo=Seen(seen.block, memo), inner=[*made.inner, *sure.inner])

    def _in_part(self, held: Subproblem, made: Update[_Memo], fell: float) -> Update[_Memo]:
        """Go on along the slope and with the same zeros, or peaks, where copies hardly move.

        Copies of sets that are not convex may come to rest above any minimum.
        """
        assert made.value is not None
        if fell > self.rtol * abs(made.value) or is_late():
            return made
        part = held.block.convex_at(made.B)
        if part is not held.block and not any(unsplit(part)):
            # It is another one in each visit, so nothing is remembered of it: more rounds at once.
            patient = replace(self, program_rounds=max(self.program_rounds, _ROUNDS_IN_PART))
            more = patient.update(held.on(part), made.B, _Memo(copies=find_copies(part)))
            assert more.value is not None
            # What is constant in the part was left out there, and is paid all the same.
            value = more.value + held.block.penalty(more.B) - part.penalty(more.B)
            made = Update(more.B, made.memo, value, inner=[*made.inner, *more.inner])
        return made if _waits(made.memo) else _along_slope(held, made)

    def _meet(self, loss: Pulled, memo: _Memo, goal: float, log: list[InnerSolve]) -> _Memo | None:
        """Return the copies after some rounds, nothing where a program failed."""
        copies, Z, Y = memo.copies, list(memo.Z), list(memo.Y)
        assert copies is not None
        rho = memo.Z[0].dtype.type(loss.rho)
        for _ in range(self.program_rounds if copies.by_program else self.rounds):
            pulls = [rho * z - y for z, y in zip(Z, Y, strict=True)]
            B = loss.minimizer(np.add.reduce(pulls) if pulls[1:] else pulls[0])
            apart = moved = 0.0
            for place, (z, y) in enumerate(zip(Z, Y, strict=True)):
                new = copies.apply(place, B + y / rho, 1 / float(rho), log)
                if new is None:
                    return None
                gap, size = B - new, _length(new) or 1.0
                apart = max(apart, _length(gap) / size)
                moved = max(moved, _length(new - z) / size)
                Z[place], Y[place] = new, y + rho * gap
            met = max(apart, moved) <= goal
            if met or is_late():
                break
        return replace(memo, Z=tuple(Z), Y=tuple(Y), met=met)

    def pack(self, memo: Pace) -> dict[str, Array]:
        """Return copies and multipliers too, so that a solve goes on to the last bit."""
        kept = {name: seen.memo for name, seen in memo.seen.items() if seen.memo.Z}
        copies = {f"{_COPIES}{name}": np.array([own.Z, own.Y]) for name, own in kept.items()}
        waits = {f"{_WAITS}{name}": np.array(own.waits) for name, own in kept.items()}
        return super().pack(memo) | copies | waits

    def unpack(self, arrays: dict[str, Array], memo: Pace) -> Pace:
        """Return the copies and multipliers that `pack` wrote, and the pace."""
        pace = super().unpack(arrays, memo)
        seen: dict[str, Seen[Any]] = dict(pace.seen)
        for key, (Z, Y) in ((k, v) for k, v in arrays.items() if k.startswith(_COPIES)):
            name = key.removeprefix(_COPIES)
            waits = int(arrays.get(f"{_WAITS}{name}", np.array(0)))
            own = replace(seen[name].memo, Z=tuple(Z), Y=tuple(Y), waits=waits)
            seen[name] = Seen(seen[name].block, own)
        return replace(pace, seen=seen)


def _waits(memo: _Memo) -> bool:
    """Whether a factor stays where it is until its copies come together, which they still may."""
    return 0 < memo.waits <= _PATIENCE


def _along_slope(held: Subproblem, made: Update[_Memo]) -> Update[_Memo]:
    """Take steps along the slope, each back into sets that are not convex, while they lower a block."""
    block, copies = held.block, made.memo.copies
    assert copies is not None
    if copies.convex or not copies.closed or "gradient" not in block.abilities:
        return made
    B, step, value = made.B, held.step_size, held.objective(made.B)
    for _ in range(_SLOPES):
        way = B - B.dtype.type(step) * held.plain_gradient(B)
        if not np.isfinite(way).all():  # at the edge of a divergence's domain
            break
        new = copies.step(way, step)
        lower = held.objective(new)
        if lower < value and block.violation(new) <= INSIDE and not block.collapsed(new):
            B, value, step = new, lower, 2 * step
        else:
            step /= 4
    if B is made.B:
        return made
    return replace(made, B=B, value=value)


def _toward(held: Subproblem, B: Array, made: Update[_Memo]) -> tuple[Array, float] | None:
    """Return a point on the way to one that was made where the objective is lower, and its value.

    It falls by a part of what scored squares, with their value at the end, promise.
    """
    assert made.value is not None
    before, step = held.objective(B), 1.0
    # Where the other factor looks ahead out of the loss's domain, any finite value is a gain.
    promised = before - made.value if np.isfinite(before) else 0.0
    for _ in range(1 if held.block.reverse_convex else _SHORTER):
        new = made.B if step == 1 else B + B.dtype.type(step) * (made.B - B)
        value = held.objective(new)
        if value < before and value <= before - _KEPT * step * promised:
            return new, value
        step /= 4
    return None


def _length(X: Array) -> float:
    """Return the norm of all entries, by a shorter way than NumPy's own: rounds are short, too."""
    return math.sqrt(np.vdot(X, X))


def _exact(block: Block) -> Extrapolated | None:
    """Return a method that minimizes the block without copies, if there is one."""
    return next((solver for solver in _EXACT if not solver.unmet(block)), None)


def _at(B: Array, memo: _Memo) -> _Memo:
    """Return copies that are all at B, without multipliers."""
    assert memo.copies is not None
    count = len(memo.copies.steps)
    return replace(memo, Z=(B,) * count, Y=(np.zeros_like(B),) * count)
