"""How the weights of inference and classification grow with the iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass

from conicnmf.settings import Positive, Settings, Whole


@dataclass(frozen=True)
class Ramp(Settings):
    """The inference weight rises in a straight line over `length` iterations, then the teacher's.

    A length of 0 starts with both weights in full.

    Examples
    --------
    >>> Ramp(10).shares(5), Ramp(10).shares(15), Ramp(0).shares(0)
    ((0.5, 0.0), (1.0, 0.5), (1.0, 1.0))
    """

    length: Whole = 100

    def shares(self, count: int) -> tuple[float, float]:
        """Return the parts of the final weights of inference and classification."""
        if self.length == 0:
            return 1.0, 1.0
        at = count / self.length
        return min(1.0, at), min(1.0, max(0.0, at - 1.0))


@dataclass(frozen=True)
class Approach(Settings):
    """Each weight approaches its end exponentially, by 1 − 1/e in `length` iterations.

    The rest is added at once after five such times; then the teacher's weight begins.

    Examples
    --------
    >>> Approach(10).shares(0), Approach(10).shares(50), Approach(10).shares(100)
    ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))
    """

    length: Positive = 40.0

    def shares(self, count: int) -> tuple[float, float]:
        """Return the parts of the final weights of inference and classification."""
        at = count / self.length
        return _risen(at), _risen(at - 5.0)


def _risen(at: float) -> float:
    if at <= 0:
        return 0.0
    return 1.0 if at >= 5 else 1 - math.exp(-at)


Schedule = Ramp | Approach
