"""Rules that end a solve; combine them with | (any) and & (all)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.results import History, Status

STANDING = 1e-5
"""A relative change of the factors within the accuracy of a cone solver."""


class Stop:
    """A rule that looks at the history and returns a status when it is time to end.

    Examples
    --------
    >>> MaxIter(100) | RelDecrease(1e-4)
    MaxIter(limit=100) | RelDecrease(rtol=0.0001, patience=3)
    """

    def check(self, history: History) -> Status | None:
        """Return the status to end with, or nothing to go on."""
        raise TypeError(f"{type(self).__name__} must define check(history)")

    def __or__(self, other: Stop) -> Stop:
        return AnyOf((self, other))

    def __and__(self, other: Stop) -> Stop:
        return AllOf((self, other))


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

    limit: int

    def __post_init__(self) -> None:
        if not isinstance(self.limit, int) or self.limit < 0:
            raise InputError(
                f"MaxIter needs a whole number >= 0, got {self.limit!r}; 0 returns the start"
            )

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

    seconds: float

    def __post_init__(self) -> None:
        if not isinstance(self.seconds, (int, float)) or not self.seconds >= 0:
            raise InputError(
                f"TimeLimit needs seconds >= 0, got {self.seconds!r}; use inf for none"
            )

    def check(self, history: History) -> Status | None:
        """Compare the time since the start."""
        return Status.TIME_LIMIT if history[-1].seconds >= self.seconds else None


@dataclass(frozen=True)
class RelDecrease(Stop):
    """End when the lowest objective fell by less than `rtol` of itself in `patience` iterations.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> cn.factorize(V, 2).solve(cn.HALS(), stop=cn.RelDecrease(1e-3)).status.name
    'CONVERGED'
    """

    rtol: float = 1e-4
    patience: int = 3

    def __post_init__(self) -> None:
        if not (self.rtol >= 0 and self.patience >= 1):
            raise InputError(
                f"RelDecrease needs rtol >= 0 and patience >= 1, got rtol={self.rtol}, "
                f"patience={self.patience}; use rtol=0 to end on no decrease at all"
            )

    def check(self, history: History) -> Status | None:
        """Compare the best objective with the best one `patience` iterations ago."""
        if len(history) <= self.patience:
            return None
        values = history.objective
        before, now = values[: -self.patience].min(), values.min()
        # An exact fit leaves rounding, which is relative to the starting value.
        floor = 1e-13 * abs(values[0])
        if before - now > max(self.rtol * abs(before), floor):
            return None
        # From an exact fit the objective can only rise, by rounding, while the factors stand still.
        moving = history[-1].change > STANDING
        rising = moving and values[-1] - now > max(self.rtol * abs(now), floor)
        return Status.OSCILLATING if rising else Status.CONVERGED


@dataclass(frozen=True)
class FactorChange(Stop):
    """End when no factor changed by more than `rtol` of its norm in one iteration.

    Examples
    --------
    >>> FactorChange(1e-4) & MaxIter(20)
    (FactorChange(rtol=0.0001)) & (MaxIter(limit=20))
    """

    rtol: float = 1e-6

    def __post_init__(self) -> None:
        if not self.rtol >= 0:
            raise InputError(f"FactorChange needs rtol >= 0, got {self.rtol}; try 1e-6")

    def check(self, history: History) -> Status | None:
        """Compare the last relative change of the factors."""
        if len(history) < 2:
            return None
        return Status.CONVERGED if history[-1].change <= self.rtol else None


def as_stop(stop: Any, default: Stop) -> Stop:
    """Return a rule: as it is, from a number of iterations, or the default for nothing.

    Examples
    --------
    >>> as_stop(20, RelDecrease())
    MaxIter(limit=20)
    """
    if stop is None:
        return default
    if isinstance(stop, Stop):
        return stop
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        return MaxIter(int(stop))
    raise InputError(f"stop must be a Stop rule or an iteration limit, got {stop!r}; try stop=100")
