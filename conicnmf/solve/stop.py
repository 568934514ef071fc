"""Rules that end a solve; combine them with | (any) and & (all)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.results import History, Status
from conicnmf.settings import Count, Reads, Rule, Seconds, Settings, Weight, at_least, shown
from conicnmf.solve.deadline import is_late

LEVEL = 1e-9
"""Objectives closer than this part of the data's size are equal to a cone solver."""
_LEFT = 1e-3
"""A solve has converged when less than this part of the objective is expected to be left to fall."""
_RESTS = 5
"""How many times its patience a rule waits for a violation that no longer falls."""


class Stop(Settings):
    """A rule that looks at the history and returns a status when it is time to end.

    Examples
    --------
    >>> MaxIter(100) | RelDecrease(1e-4)
    MaxIter(limit=100) | RelDecrease(rtol=0.0001, patience=3)
    """

    def check(self, history: History) -> Status | None:
        """Return the status to end with, or nothing to go on."""
        raise TypeError(f"{type(self).__name__} must define check(history)")

    def __or__(self, other: Stop | int) -> Stop:
        return AnyOf((self, _as_rule(other)))

    def __and__(self, other: Stop | int) -> Stop:
        return AllOf((self, _as_rule(other)))


@dataclass(frozen=True, repr=False)
class AnyOf(Stop):
    """End when one of the rules says so."""

    rules: tuple[Stop, ...]

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.rules))

    def check(self, history: History) -> Status | None:
        """Return the first status any rule gives."""
        return next((s for rule in self.rules if (s := rule.check(history)) is not None), None)


@dataclass(frozen=True, repr=False)
class AllOf(Stop):
    """End when all of the rules say so."""

    rules: tuple[Stop, ...]

    def __repr__(self) -> str:
        return " & ".join(f"({rule!r})" for rule in self.rules)

    def check(self, history: History) -> Status | None:
        """Return the last rule's status when every rule gives one."""
        found = [rule.check(history) for rule in self.rules]
        return found[-1] if all(status is not None for status in found) else None


@dataclass(frozen=True)
class MaxIter(Stop):
    """End after `limit` iterations.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> cn.factorize(np.eye(4), 2).solve(cn.HALS(), stop=cn.MaxIter(3)).n_iter
    3
    """

    limit: Annotated[int, at_least(0), Rule(remedy="0 returns the start")]

    def check(self, history: History) -> Status | None:
        """Compare the number of iterations."""
        return Status.MAX_ITER if history[-1].iteration >= self.limit else None


@dataclass(frozen=True)
class TimeLimit(Stop):
    """End once this many seconds have passed.

    Examples
    --------
    >>> TimeLimit(10) | RelDecrease(1e-6)
    TimeLimit(seconds=10) | RelDecrease(rtol=1e-06, patience=3)
    """

    seconds: Seconds

    def check(self, history: History) -> Status | None:
        """Compare the time since the start; a limit of the solve counts what is compiled, too."""
        late = history[-1].seconds >= self.seconds or is_late()
        return Status.TIME_LIMIT if late else None


@dataclass(frozen=True)
class RelDecrease(Stop):
    """End when the lowest objective fell by less than `rtol` of itself in `patience` iterations.

    Only feasible iterates count. As long as there is none, the violation is watched instead of the
    objective, with five times the patience, and the solve ends as infeasible.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> cn.factorize(V, 2).solve(cn.HALS(), stop=cn.RelDecrease(1e-3)).status.name
    'CONVERGED'
    """

    rtol: Weight = 1e-4
    patience: Count = 3

    def check(self, history: History) -> Status | None:
        """Compare the best feasible objective with the best one `patience` iterations ago."""
        if len(history) <= self.patience:
            return None
        before, now = history.lowest[-1 - self.patience], history.lowest[-1]
        if now == np.inf:
            return self._check_violation(history)
        # An exact fit leaves rounding, which is relative to the starting value.
        start = abs(history[0].objective)
        floor = 1e-13 * start if np.isfinite(start) else 0.0
        if before == np.inf or before - now > max(self.rtol * abs(before), floor):
            return None
        return _ended(history, self.patience, max(self.rtol * abs(now), floor))

    def _check_violation(self, history: History) -> Status | None:
        """End when no iterate is feasible and the least violation no longer falls."""
        rest = _RESTS * self.patience
        if len(history) <= rest:
            return None
        values = history.violation
        before, now = values[:-rest].min(), values.min()
        return Status.INFEASIBLE if before - now <= self.rtol * before else None


def settled(history: History, tolerance: float = 0.0) -> Status:
    """Return what to call the end of a solve whose best feasible objective no longer falls.

    It has converged when the last iterate is feasible and as good as the best one.

    Examples
    --------
    >>> from conicnmf.results import Iteration
    >>> start, worse = Iteration(0, 1.0, 0.0, 0.0, 1.0), Iteration(1, 2.0, 0.0, 0.0, 1.0)
    >>> settled(History([start, start])).name, settled(History([start, worse])).name
    ('CONVERGED', 'NOT_IMPROVED')
    """
    last, best = history[-1], history.lowest[-1]
    if best == np.inf:
        return Status.INFEASIBLE
    if last.feasible and last.objective - best <= max(tolerance, LEVEL * history.unit):
        return Status.CONVERGED
    worse_than_the_start = history.lowest[0] == best
    return Status.OSCILLATING if last.feasible and not worse_than_the_start else Status.NOT_IMPROVED


@dataclass(frozen=True)
class FactorChange(Stop):
    """End when no factor changed by more than `rtol` of its norm in one iteration.

    Examples
    --------
    >>> FactorChange(1e-4) & MaxIter(20)
    (FactorChange(rtol=0.0001)) & (MaxIter(limit=20))
    """

    rtol: Weight = 1e-6

    def check(self, history: History) -> Status | None:
        """Compare the last relative change of the factors."""
        if len(history) < 2:
            return None
        if history[-1].change > self.rtol:
            return None
        return _ended(history, 1, self.rtol * abs(history.lowest[-1]))


def _ended(history: History, window: int, tolerance: float) -> Status:
    """Return how a solve ended whose rule is met: it may be one that is met while much is left."""
    status = settled(history, tolerance)
    if status is not Status.CONVERGED:
        return status
    allowed = max(_LEFT * abs(history.lowest[-1]), LEVEL * history.unit)
    return Status.STILL_FALLING if expected_fall(history, window) > allowed else status


def expected_fall(history: History, window: int) -> float:
    """Return how far the best feasible objective falls from here, as its falls become smaller.

    Falls over so many iterations that shrink by a factor q add up to q/(1 − q) times the last one.
    Where they do not shrink, the estimate is that of an objective like 1/iterations.

    Examples
    --------
    >>> from conicnmf.results import Iteration
    >>> halved = History([Iteration(k, 1 + 0.5**k, 0.0, 0.0, 1.0) for k in range(8)])
    >>> expected_fall(halved, 2) == 0.5**7
    True
    """
    values = [value for value in history.lowest if np.isfinite(value)]
    now, before = values[-1], values[max(0, len(values) - 1 - window)]
    earlier = values[max(0, len(values) - 1 - 2 * window)]
    fall, last = before - now, earlier - before
    slow = fall * (len(values) - 1) / window
    return min(slow, fall * fall / (last - fall)) if last > fall else slow


def without_iteration_limit(rule: Stop) -> Stop | None:
    """Return a rule without its iteration limits, nothing where it is no more than that.

    Examples
    --------
    >>> without_iteration_limit(MaxIter(500) | RelDecrease(1e-5))
    RelDecrease(rtol=1e-05, patience=3)
    """
    if isinstance(rule, MaxIter):
        return None
    if not isinstance(rule, AnyOf):
        return rule
    kept = [part for own in rule.rules if (part := without_iteration_limit(own)) is not None]
    return kept[0] if len(kept) == 1 else AnyOf(tuple(kept)) if kept else None


def as_stop(stop: Any, default: Stop) -> Stop:
    """Return a rule, given as an object or as a number of iterations; the default if there is none.

    Examples
    --------
    >>> as_stop(20, RelDecrease())
    MaxIter(limit=20)
    """
    return default if stop is None else _as_rule(stop)


def _as_rule(stop: Any, name: str = "stop") -> Stop:
    if isinstance(stop, Stop):
        return stop
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        return MaxIter(int(stop))
    raise InputError(
        f"{name} must be a Stop rule or an iteration limit, got {shown(stop)}; try 100"
    )


StopLike: TypeAlias = Annotated[Stop | int, Reads(_as_rule)]
"""What may stand for a rule: a `Stop`, or a number of iterations."""
