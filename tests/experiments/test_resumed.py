"""A killed experiment goes on when it is run again, and finds what an unbroken one finds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import experiments
from experiments.thom_digits import Learning

LONG = {"rank": 4, "iterations": 6, "ramp": 2}


def digits():
    return np.random.default_rng(0).standard_normal((784, 30))


_KILLED = """
import os, signal
from conicnmf.families.autoencoders import SCFC
from conicnmf.solve import checkpoint
from test_resumed import LONG, Learning, digits

checkpoint.EVERY = 0.0  # after every iteration
plain, made = SCFC.sweep, []

def sweep(self, problem, factors, memo):
    made.append(1)
    if len(made) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, problem, factors, memo)

SCFC.sweep = sweep
Learning(**LONG, name="long").run(digits())
"""


def test_a_killed_experiment_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = tmp_path / "conicnmf" / "runs"
    paths = [Path(experiments.__file__).parents[1], Path(__file__).parent]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run([sys.executable, "-c", _KILLED], env=env, check=False)
    assert done.returncode == -9
    assert [file.name for file in (kept / "long-0").iterdir()] == ["running.npz"]
    again = Learning(**LONG, name="long").run(digits())
    whole = Learning(**LONG).run(digits())
    np.testing.assert_allclose(again.W, whole.W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.history.objective, whole.history.objective, rtol=1e-12)
    assert again.n_iter == whole.n_iter
    assert not list(kept.iterdir())


def test_what_another_run_left_behind_is_not_taken_over(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "conicnmf" / "runs" / "long-0"
    folder.mkdir(parents=True)
    (folder / "running.npz").write_bytes(b"damaged")
    Learning(**LONG).statement(digits() + 1).solve(stop=2, checkpoint=folder / "result.npz")
    found = Learning(**LONG, name="long").run(digits())
    np.testing.assert_array_equal(found.W, Learning(**LONG).run(digits()).W)
