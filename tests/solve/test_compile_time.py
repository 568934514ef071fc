"""Time that compilers take is no time of a solve: a clock that they advance says so."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry import compile_time

V = np.random.default_rng(0).random((6, 8))
LONG = 1000.0


@pytest.fixture
def late(monkeypatch):
    """Return a function that lets the clock of all modules jump."""
    real, by = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: real() + by[0])

    def jump():
        by[0] += LONG

    return jump


@pytest.mark.parametrize("compiles", [True, False])
def test_the_history_counts_work_and_not_compilers(late, compiles):
    step = compile_time.timed(late) if compiles else late

    @dataclass(frozen=True)
    class Compiling(cn.HALS):
        def update(self, held, B, memo):
            step()
            return super().update(held, B, memo)

    result = cn.factorize(V, 2).solve(Compiling(), stop=3)
    assert (result.seconds < LONG) == compiles
