"""Several orthonormal columns: a rule whose columns overlap finds the parts, descent sharpens them.

Then rows are exchanged between the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conicnmf.families.one_factor.cone_ascent import unit_columns
from conicnmf.families.one_factor.exchanges import Exchange, one_by_one
from conicnmf.families.one_factor.multiplicative import ProjectionRule
from conicnmf.families.one_factor.needs import known_operator, quadratic
from conicnmf.families.one_factor.reconstruct import ProjectedDescent, Step
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor
from conicnmf.model.base import BaseProblem
from conicnmf.results import Status
from conicnmf.settings import Whole
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors

_TOGETHER = 10
"""Steps of the rule in one iteration."""
_SMALL = 1e-6
_IDLE = 10
"""Descent ends after this many steps in a row that gain less than a `_SMALL` part."""
_SEARCHES = 3
_COUNTS = "taken", "searches", "tried", "products"


@dataclass(frozen=True, eq=False)
class _Memo:
    """Steps of the rule so far and where it is; the step of the descent, and idle steps; exchanges.

    `searches` says how many searches for exchanges have begun.
    """

    taken: int = 0
    W: Array | None = None
    step: Step | None = None
    idle: int = 0
    exchange: Exchange | None = None
    searches: int = 0


def several_parts(view: OneFactor) -> Iterator[str]:
    """Yield a reason where there are no parts to tell from each other."""
    if view.parts is None or view.rank == 1:
        found = "one column" if view.rank == 1 else "nothing that keeps columns apart"
        yield f"it separates several columns, and this problem has {found}"


@dataclass(frozen=True)
class Separation(OneFactorSolver[_Memo]):
    """Find which column every row belongs to while the columns overlap, then sharpen the parts.

    Orthonormal columns without negative entries share no row. Steps that keep them so from the
    beginning cannot move a row to another column at a price; the columns of `ProjectionRule`
    overlap and separate slowly, but need thousands of steps to become exact. A few hundred of them
    followed by `ProjectedDescent` end higher than either, in a fraction of the time. At last single
    rows are given to other columns where that pays: from there, from the unit vectors of the largest
    entries on the diagonal, and from columns that are the best one after the other.

    Parameters
    ----------
    overlapping : int
        Steps of the rule before the descent.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.families.one_factor import QuadraticProjection, Separation
    >>> A = np.kron(np.diag([3.0, 2.0]), np.ones((2, 2)))
    >>> cn.solve(QuadraticProjection(A, 2), Separation()).W.round(2)
    array([[0.71, 0.  ],
           [0.71, 0.  ],
           [0.  , 0.71],
           [0.  , 0.71]])
    """

    overlapping: Whole = 300
    asks: ClassVar[Sequence[ViewNeed]] = (
        quadratic,
        several_parts,
        known_operator,
        *ProjectionRule.asks,
        *ProjectedDescent.asks,
    )
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(1000)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked."""
        return "columns that overlap at first find better parts, and projected steps are fast"

    def begin(self, view: OneFactor, context: Context) -> _Memo:
        """Remember nothing."""
        return _Memo()

    def advance(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Take some steps of the rule, or later one of the descent."""
        if memo.taken < self.overlapping:
            return self._overlap(view, factors, memo)
        if memo.exchange is not None:
            return self._exchange(view, factors, memo, memo.exchange)
        return self._descend(view, factors, memo)

    def _overlap(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Judge the parts once in several steps: it costs as much as half a step."""
        W = factors[view.name] if memo.W is None else memo.W
        point = view.scaled(W)
        taken = min(memo.taken + _TOGETHER, self.overlapping)
        for _ in range(memo.taken, taken):
            after, _ = ProjectionRule().onward(view, point)
            if after is None:
                taken = self.overlapping
                break
            point = after
        reported, value = view.report(point)
        return Sweep(reported, _Memo(taken, point.W), value)

    def _descend(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        overlapping = factors if memo.W is None else view.factors(memo.W)
        made = ProjectedDescent().advance(view, overlapping, memo.step)
        if made.objective is None:
            return Sweep(view.factors(unit_columns(view)), replace(memo, W=None, step=None))
        before = np.inf if memo.step is None else memo.step.value
        gained = not np.isfinite(before) or before - made.objective > _SMALL * abs(before)
        idle = 0 if gained else memo.idle + 1
        onward = replace(memo, W=None, step=made.memo, idle=idle)
        if idle >= _IDLE and not memo.searches and not view.others:
            begun = Exchange.at(view, made.factors[view.name])
            return Sweep(made.factors, replace(onward, exchange=begun, searches=1), made.objective)
        status = Status.CONVERGED if idle >= _IDLE else None
        return Sweep(made.factors, onward, made.objective, status)

    def _exchange(
        self, view: OneFactor, factors: Factors, memo: _Memo, exchange: Exchange
    ) -> Sweep[_Memo]:
        """Exchange rows from where the descent ended, then from two other points, and descend again."""
        now = exchange.onward(view)
        best = -float(view.term.value(np.ascontiguousarray(factors[view.name].T)))
        if now.gain > best:
            factors, best = view.factors(now.W), now.gain
        onward = replace(memo, exchange=now)
        if now.ended and memo.searches < _SEARCHES:
            begin = unit_columns(view) if memo.searches == 1 else one_by_one(view, now.W)
            begun = Exchange.at(view, begin.astype(now.W.dtype))
            onward = replace(memo, exchange=begun, searches=memo.searches + 1)
        elif now.ended:
            onward = _Memo(memo.taken, searches=_SEARCHES)
        return Sweep(factors, onward, -best)

    def pack(self, memo: _Memo) -> dict[str, Array]:
        """Return how far the rule has come."""
        place = {} if memo.W is None else {"W": memo.W}
        counts = {"taken": np.array(memo.taken), "searches": np.array(memo.searches)}
        if memo.exchange is not None:
            place |= {"exchange": memo.exchange.W, "tried": np.array(memo.exchange.tried)}
            place |= {"products": np.array(memo.exchange.products)}
            place |= {"gain": np.array(memo.exchange.gain)}
        return counts | place

    def unpack(self, arrays: dict[str, Array], memo: _Memo) -> _Memo:
        """Go on from there; an interrupted search for exchanges goes on from where it was."""
        count = {name: int(arrays.get(name, np.array(0))) for name in _COUNTS}
        W, exchange = arrays.get("exchange"), None
        if W is not None:
            exchange = Exchange(W, float(arrays["gain"]), count["tried"], count["products"])
        return replace(
            memo,
            taken=count["taken"],
            W=arrays.get("W"),
            exchange=exchange,
            searches=count["searches"],
        )
