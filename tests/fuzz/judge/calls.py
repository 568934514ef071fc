"""Callbacks that look on, meddle or fail, and a clock that does not depend on the machine."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from unittest import mock

import numpy as np

from conicnmf.solve.programs import backends

SECONDS = {"none": None, "no time": 0.0, "some time": 0.1, "long": 1e6}
"""Limits of time on a clock that goes on by a millisecond whenever somebody looks at it."""
LAST = 3
"""The iteration at which a callback stops or fails."""


class PlantedError(Exception):
    """What a user's callback raises."""


class Caller:
    """A callback: it keeps a copy of what it is shown, and may meddle."""

    def __init__(self, kind):
        self.kind = kind
        self.seen = []

    def __call__(self, iteration, factors):
        self.seen.append((iteration, {n: np.array(X) for n, X in factors.items()}))
        if self.kind == "scribbles":
            for X in factors.values():
                if X.flags.writeable:
                    X[...] = np.nan
        late = iteration.iteration >= LAST
        if late and self.kind == "raises":
            raise PlantedError("the callback fails")
        return late and self.kind == "stops"


_COMPILERS = ("conicnmf.geometry.compile_time", "conicnmf.geometry.first_calls")
"""Who looks at the clock in a first run only."""


@contextmanager
def _stepping():
    now = 0.0

    def look():
        nonlocal now
        who = sys._getframe(1).f_globals.get("__name__", "")
        if who.startswith("conicnmf") and who not in _COMPILERS:
            now += 1e-3
        return now

    # The clock of a backend is the machine's.
    with mock.patch("time.perf_counter", look), mock.patch.dict(backends._TIME_LIMIT, clear=True):
        yield


def clock(limit):
    """Return the context in which a limit of time is the same on every machine."""
    return _stepping() if limit in ("no time", "some time") else nullcontext()
