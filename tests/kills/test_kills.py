"""Solves, comparisons, paths and experiments that are killed end as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .works import WORKS

ROOT = Path(__file__).parents[2]


def kill(work, seed, count):
    """Kill a work in a fresh process, which has one thread and may fork."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "tests.kills", work, str(seed), str(count)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **one}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["kills"] >= count
    return told["wrong"]


@pytest.mark.parametrize("work", [name for name in WORKS if name != "experiment"])
def test_a_few_kills(work):
    assert kill(work, 7, 4) == []


def test_what_is_lost_is_noticed():
    assert kill("careless", 7, 4)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("work", WORKS)
def test_many_kills(work, seed):
    assert kill(work, seed, 10) == []
