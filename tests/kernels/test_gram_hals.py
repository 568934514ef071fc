from __future__ import annotations

import numpy as np
import pytest
from gram_blocks import SCALES, gram, hostile_blocks, random_block
from hypothesis import assume, given, settings

from conicnmf.errors import InputError
from conicnmf.kernels import threads
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.kernels.nnls import nnls_gram


def sweep_rows(G, C, B, sweeps, lower=0.0):
    """The update as it is written, row by row over all columns."""
    B = B.copy()
    for _ in range(sweeps):
        for j in range(len(G)):
            if G[j, j] > 0:
                B[j] = np.maximum(lower, B[j] + (C[j] - G[j] @ B) / G[j, j])
    return B


@pytest.mark.parametrize("shape", [(30, 7, 50), (9, 12, 1), (5, 1, 4), (12, 33, 1200)])
@pytest.mark.parametrize("sweeps", [1, 3])
def test_equals_the_update_as_written(shape, sweeps):
    A, Y = random_block(*shape)
    G, C, _ = gram(A, Y)
    start = np.random.default_rng(1).random(C.shape)
    B = hals_sweeps(G, C, start, sweeps)
    np.testing.assert_allclose(B, sweep_rows(G, C, start, sweeps), atol=1e-12)


def test_the_objective_never_rises_and_ends_at_the_optimum():
    A, Y = random_block(40, 6, 8, density=0.5)
    G, C, _ = gram(A, Y)
    B = np.random.default_rng(2).random(C.shape)
    before = np.inf
    for _ in range(200):
        value = ((Y - A @ B) ** 2).sum()
        assert value <= before * (1 + 1e-14)
        before = value
        B = hals_sweeps(G, C, B, 2)
    np.testing.assert_allclose(B, nnls_gram(G, C), atol=1e-8)


def test_a_row_without_an_atom_is_left_alone():
    A, Y = random_block(10, 4, 6)
    A[:, 2] = 0
    start = np.random.default_rng(3).random((4, 6))
    B = hals_sweeps(*gram(A, Y)[:2], start, 2)
    np.testing.assert_array_equal(B[2], start[2])
    assert (B[[0, 1, 3]] != start[[0, 1, 3]]).any()


def test_the_lower_bound_is_kept_and_reached():
    A, Y = random_block(10, 5, 20)
    B = hals_sweeps(*gram(A, Y)[:2], np.ones((5, 20)), 3, lower=1e-3)
    assert B.min() == 1e-3


def test_nothing_moves_at_the_optimum():
    B = hals_sweeps(np.eye(2), np.ones((2, 3)), np.ones((2, 3)), 4)
    np.testing.assert_array_equal(B, np.ones((2, 3)))


def test_float32_stays_float32():
    A, Y = random_block(30, 8, 40)
    G, C = (a.astype(np.float32) for a in gram(A, Y)[:2])
    B = hals_sweeps(G, C, np.zeros((8, 40)), 3)
    expected = sweep_rows(*gram(A, Y)[:2], np.zeros((8, 40)), 3)
    assert B.dtype == np.float32
    np.testing.assert_allclose(B, expected, atol=1e-4)


@settings(max_examples=100, deadline=None)
@given(hostile_blocks(), SCALES, SCALES)
def test_hostile_blocks_do_not_overflow(block, atoms, data):
    A, Y = block
    squares = np.sum((A * atoms) ** 2, axis=0)
    # The digits of a square below the normal numbers are gone: such an atom counts as zero.
    assume(((squares == 0) == (A == 0).all(axis=0)).all())
    assume((squares[squares > 0] >= np.finfo(float).tiny).all())
    start = np.zeros((A.shape[1], Y.shape[1]))
    expected = sweep_rows(*gram(A, Y)[:2], start, 3)
    B = hals_sweeps(*gram(A * atoms, Y * data)[:2], start, 3)
    norms = np.linalg.norm(A, axis=0)[:, None]
    np.testing.assert_allclose(B * atoms / data * norms, expected * norms, atol=1e-7)


def test_a_nan_is_handed_on():
    B = hals_sweeps(np.eye(2), np.array([[np.nan, 1.0], [1.0, 1.0]]), np.zeros((2, 2)), 1)
    assert np.isnan(B[0, 0])
    np.testing.assert_array_equal(B[:, 1], 1)


def test_threads_do_not_change_a_bit(monkeypatch):
    A, Y = random_block(20, 10, 700)
    G, C, _ = gram(A, Y)
    start = np.zeros_like(C)
    alone = hals_sweeps(G, C, start, 2)
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0.0)
    monkeypatch.setattr(threads, "_default", lambda: 3)
    shared = hals_sweeps(G, C, start, 2)
    np.testing.assert_array_equal(shared, alone)


def test_input_comes_back_unchanged_and_in_any_layout():
    A, Y = random_block(10, 5, 8)
    G, C, _ = gram(A, Y)
    start = np.ones((5, 8))
    for array in (G, C, start):
        array.flags.writeable = False
    B = hals_sweeps(G, C, start, 2)
    np.testing.assert_array_equal(start, 1)
    again = hals_sweeps(np.asfortranarray(G), np.asfortranarray(C), start[:, ::-1], 2)
    np.testing.assert_array_equal(again, B)


@pytest.mark.parametrize(
    ("B", "sweeps", "words"), [(np.ones((2, 2)), 1, "shape of C"), (np.ones((2, 1)), 0, "sweeps")]
)
def test_wrong_input_is_named(B, sweeps, words):
    with pytest.raises(InputError, match=words):
        hals_sweeps(np.eye(2), np.ones((2, 1)), B, sweeps)


def test_the_row_of_a_zero_atom_goes_where_its_price_is_least():
    G, C = np.diag([2.0, 0.0]), np.array([[2.0, 4.0], [-1.0, 0.0]])
    B = hals_sweeps(G, C, np.ones((2, 2)), sweeps=1)
    assert B.tolist() == [[1.0, 2.0], [0.0, 1.0]]
    free = hals_sweeps(G, C, np.ones((2, 2)), sweeps=1, lower=-np.inf)
    assert free[1].tolist() == [1.0, 1.0]
