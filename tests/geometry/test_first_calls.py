"""Small first calls give the bits of the compiled kernel without it; long compilations are named."""

from __future__ import annotations

import logging
import time

import numpy as np
import pytest

from conicnmf.geometry import compile_time, first_calls
from conicnmf.geometry.compilers import jit
from conicnmf.geometry.first_calls import FirstCalls, as_python
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
            kernel(block.G, block.C, block.sizes, X, states, certain, 0, 0.0, 0, 12, block.noise)
        answers.append((X, states, certain))
    for compiled, python in zip(*answers, strict=True):
        assert np.array_equal(compiled, python)


def inverse(x):
    for i in range(x.size):
        x[i] = 1 / float(x[i])


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(first_calls, "has_code", lambda kernel: bool(kernel.overloads))
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
    monkeypatch.setattr(compile_time, "_LONG", 60.0)
    compile_time.timed(lambda: None, "short")()
    assert len(caplog.records) == 1
