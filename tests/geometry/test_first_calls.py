"""Small first calls give the bits of the compiled kernel without it; long compilations are named."""

from __future__ import annotations

import logging
import subprocess
import sys
import time

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry import compile_time, direction, first_calls, hoyer
from conicnmf.geometry.compilers import jit
from conicnmf.geometry.first_calls import FirstCalls, as_python
from conicnmf.kernels import hals, nnls
from conicnmf.kernels._active import FREE, solve_range
from conicnmf.kernels._columns import scale_columns


@pytest.mark.parametrize("seed", range(6))
def test_the_active_set_search_gives_the_same_bits_as_python(seed):
    rng = np.random.default_rng(seed)
    A = rng.random((9, 6)) * (rng.random((9, 6)) < 0.6)
    A[:, 1] = A[:, 0] if seed % 2 else 0.0  # an equal atom, or a zero one
    block = scale_columns(A.T @ A, A.T @ rng.standard_normal((9, 12)))
    answers = []
    for kernel in (solve_range, as_python(solve_range, {})):
        X, certain = np.ones((12, 6)), np.zeros(12, bool)
        states = np.full(X.shape, FREE, np.int8)
        with np.errstate(all="ignore"):
            kernel(block.G, block.C, X, states, certain, 0, 12, block.noise)
        answers.append((X, states, certain))
    for compiled, python in zip(*answers, strict=True):
        assert np.array_equal(compiled, python)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("rank", "columns"), [(1, 1), (3, 7), (4, 40), (6, 3000), (9, 50)])
@pytest.mark.parametrize("lower", [0.0, 1e-3, -np.inf])
def test_component_wise_sweeps_give_the_same_bits_as_numpy(rank, columns, lower, dtype):
    rng = np.random.default_rng(rank)
    A, Y = rng.standard_normal((12, rank)), rng.standard_normal((12, columns))
    A[:, rank // 2] *= rank > 3  # a zero atom, whose row only a price moves
    G, C = (A.T @ A).astype(dtype), (A.T @ Y - 0.1).astype(dtype)
    limits = np.array([lower, np.finfo(dtype).tiny], dtype)
    answers = []
    for kernel in (hals._sweep_range, hals._sweep_arrays):
        B = np.full((rank, columns), 0.5, dtype)
        B[0, 0] = np.nan
        with np.errstate(all="ignore"):
            kernel(G, C, B, columns // 3, columns, 4, limits)
        answers.append(B)
    assert np.array_equal(*answers, equal_nan=True)


def inverse(x):
    for i in range(x.size):
        x[i] = 1 / float(x[i])


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(first_calls, "_has_code", lambda kernel: bool(kernel.overloads))
    return FirstCalls(jit(inverse))


def test_small_calls_are_not_compiled_and_large_ones_are(kernel):
    x = np.array([2.0, 4.0])
    kernel(x, small=True)
    assert x.tolist() == [0.5, 0.25]
    assert not kernel.kernel.overloads
    kernel(x, small=False)
    assert x.tolist() == [2.0, 4.0]
    assert kernel.kernel.overloads


def test_where_python_would_raise_the_compiled_kernel_answers(kernel):
    x = np.array([2.0, 0.0])  # Python divides by zero after it wrote the first entry
    kernel(x, small=True)
    assert x.tolist() == [0.5, np.inf]


_READY = """
import sys, conicnmf as cn
result = cn.factorize(cn.datasets.load("digits", n_samples=50).V, 3).solve(seed=0)
slow = ("numba", "pandas", "sklearn", "matplotlib", "joblib", "rich")
print([name for name in slow if name in sys.modules])
"""


def test_a_first_small_solve_loads_nothing_that_it_does_not_use():
    done = subprocess.run(
        [sys.executable, "-c", _READY], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("terms", [[], [cn.Sparseness(min=0.6)], [cn.Simplex()]])
def test_solves_are_the_same_to_the_bit_whether_kernels_are_compiled_or_not(terms, monkeypatch):
    V = np.random.default_rng(1).random((9, 12))
    problem = cn.factorize(V, 3, W=[cn.NonNegative(), *terms])
    with first_calls.compiled_at_once():
        compiled = problem.solve(seed=0)
    monkeypatch.setattr(first_calls, "_ENOUGH", np.inf)
    monkeypatch.setattr(first_calls, "_has_code", lambda kernel: False)
    for kernel in (hals._columns, nnls._solve_range, direction._every_row, hoyer._measure):
        monkeypatch.setattr(kernel, "_ready", False)
    interpreted = problem.solve(seed=0)
    assert np.array_equal(interpreted.W, compiled.W)
    assert np.array_equal(interpreted.history.objective, compiled.history.objective)


def test_a_kernel_that_is_used_often_is_compiled(kernel, monkeypatch):
    monkeypatch.setattr(first_calls, "_ENOUGH", 0.0)
    for _ in range(2):
        kernel(np.ones(2), small=True)
    assert kernel.kernel.overloads


def test_the_log_says_what_is_compiled_when_it_takes_long(caplog, monkeypatch):
    caplog.set_level(logging.INFO, "conicnmf")
    monkeypatch.setattr(compile_time, "_LONG", 0.01)
    inner = compile_time.timed(lambda: time.sleep(0.1), "inner")
    compile_time.timed(inner, "outer")()
    assert [record.message.split(",")[0] for record in caplog.records] == ["compiling outer"]
    assert caplog.records[0].levelno == logging.INFO
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    compile_time.timed(inner, "seen")()
    assert caplog.records[1].levelno == logging.WARNING  # which Python shows without being asked
    monkeypatch.setattr(compile_time, "_LONG", 60.0)
    compile_time.timed(lambda: None, "short")()
    assert len(caplog.records) == 2
