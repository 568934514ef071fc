"""Compiled code that cannot be kept is compiled again, and nothing else happens."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import conicnmf
from conicnmf.geometry import kept_code
from conicnmf.geometry.compilers import jit


def doubled(x):
    return 2 * x


@pytest.fixture
def log(caplog):
    kept_code._advise.cache_clear()
    caplog.set_level(logging.WARNING, "conicnmf")
    yield caplog
    kept_code._advise.cache_clear()


_SOLVE = """
import warnings
warnings.simplefilter("error")
import sys, numpy as np, conicnmf as cn
assert cn.__file__.startswith(sys.argv[1]), cn.__file__
print("imported")
result = cn.factorize(np.ones((4, 3)), 1, W=[cn.NonNegative(), cn.UnitNorm()]).solve(cn.HALS())
print(result.status.name)
"""


def test_a_read_only_install_without_a_home_imports_and_solves(tmp_path):
    site = tmp_path / "site"
    package = site / "conicnmf"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(conicnmf.__file__).parent, package, ignore=ignored)
    # Permissions do not bind an administrator, but no folder can be made where a file is.
    for folder in [package, *(p for p in package.rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG"))}
    env = kept | {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(site)}
    call = [sys.executable, "-B", "-c", _SOLVE, str(site)]
    done = subprocess.run(call, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["imported", "CONVERGED"], done.stderr
    assert done.stderr.count("\n") == 1
    assert "set NUMBA_CACHE_DIR to a writable folder" in done.stderr


_STEPS = """
import hashlib, numpy as np
from conicnmf.kernels.encoder import matched_slope, step_encoder
from conicnmf.kernels.code_steps import step_codes

rng, digits = np.random.default_rng(0), hashlib.sha256()
for _ in range(50):
    P, H = rng.standard_normal((2, 4, 60)) * [[[6.0]], [[0.1]]]
    theta, beta = np.zeros(4), 0.04 * rng.random(4)
    U = np.tanh(beta[:, None] * P)
    w, delta = rng.standard_normal(4), 0.01 * rng.standard_normal(60)
    steps, out = np.ones(2), np.empty((4, 60))
    step_encoder(U, P, H, theta, beta, 3, 0.005, w, delta, steps, 6, out)
    new, failed, pulls = np.empty((4, 60)), np.zeros(4, dtype=bool), np.ones(2)
    levels, change = np.full(4, -np.inf), np.zeros((4, 60))
    step_codes(out, P, U, H, change, 3, pulls, 0.0, 0.1, 5.0, True, levels, new, failed)
    assert not failed.any()
    slopes = np.array([matched_slope(p, 3) for p in P])
    for array in (theta, beta, out, new, slopes):
        digits.update(array.tobytes())
print(digits.hexdigest())
"""


def test_code_that_was_kept_gives_the_same_digits(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    call = [sys.executable, "-c", _STEPS]
    compiled, kept = (
        subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*step_encoder*.nbi"))
    assert compiled == kept


def test_a_full_disk_does_not_stop_a_kernel(log, monkeypatch):
    kernel = jit(doubled)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel._cache._cache_file, "save", full)
    assert kernel(np.float32(1.5)) == 3
    assert kernel(np.float64(1.5)) == 3
    (line,) = log.messages
    assert "No space left" in line


@pytest.mark.parametrize("content", [b"", b"not a pickle", b"\x80\x05"])
def test_damaged_code_is_made_again(log, content):
    kernel = jit(doubled)
    kernel(np.int16(4))
    path = Path(kernel._cache._cache_file._index_path)
    path.write_bytes(content)
    try:
        again = jit(doubled)
        assert again(np.int16(4)) == 8
    finally:
        path.unlink()
    assert len(log.messages) <= 2
    assert "compiled code cannot be cached" in log.messages[0]
