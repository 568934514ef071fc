"""Steps on single coordinates of the block of counts: optimal at the end, and never up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.kernels.poisson import poisson_sweeps


def drawn(seed):
    """Return data, a matrix, slopes, a start and a ridge, some of them zero or far away."""
    rng = np.random.default_rng(seed)
    m, r, n = rng.integers(1, 9, 3)
    A = rng.random((m, r)) * (rng.random((m, r)) < 0.7)
    A[:, 0] += 0.1
    Y = rng.poisson(2, (m, n)) * 10.0 ** rng.integers(-3, 4)
    B = rng.random((r, n)) * (rng.random((r, n)) < 0.8) * 10.0 ** rng.integers(-3, 4)
    B[0] += 0.1
    S = np.repeat(A.sum(axis=0)[:, None], n, axis=1) + 0.1 * rng.random()
    return Y, A, S, B, float(rng.choice([0, 0.3]))


def cost(Y, A, S, B, ridge):
    P = A @ B
    logs = np.where(Y > 0, Y * np.log(np.where(Y > 0, P, 1.0)), 0.0)
    return float((S * B).sum() + 0.5 * ridge * (B**2).sum() - logs.sum())


@settings(deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_cost_never_rises_and_sparse_data_give_the_same(seed):
    Y, A, S, B, ridge = drawn(seed)
    kept = B.copy()
    after = poisson_sweeps(Y, A, S, B, 1, ridge)
    assert (kept == B).all()
    assert (after >= 0).all()
    before = cost(Y, A, S, B, ridge)
    assert cost(Y, A, S, after, ridge) <= before + 1e-10 * abs(before) + 1e-12
    stored = poisson_sweeps(sp.csr_array(Y), A, S, B, 1, ridge)
    np.testing.assert_allclose(stored, after, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_many_sweeps_end_where_nothing_is_left_to_gain(seed):
    Y, A, S, B, ridge = drawn(seed)
    Y = Y + 0.1  # so that the model is positive everywhere
    B = poisson_sweeps(Y, A, S, B, 3000, ridge)
    slope = S + ridge * B - A.T @ (Y / (A @ B))
    # B ≥ 0, slope ≥ 0, and one of both zero.
    assert slope.min() > -1e-3
    assert np.abs(slope * B).max() < 1e-3 * max(1.0, Y.max())


def test_rows_beyond_the_slopes_are_held():
    Y, A, S, B, ridge = drawn(5)
    assert len(B) > 1
    after = poisson_sweeps(Y, A, S[:1], B, 2, ridge)
    assert (after[1:] == B[1:]).all()
    assert (after[0] != B[0]).any()


def test_single_precision_is_kept_and_many_columns_go_in_tiles():
    rng = np.random.default_rng(0)
    A, Y = rng.random((300, 3)), rng.random((300, 700))
    S = np.repeat(A.sum(axis=0)[:, None], 700, axis=1)
    B = np.ones((3, 700))
    whole = poisson_sweeps(Y, A, S, B, 2)
    part = poisson_sweeps(Y[:, 650:], A, S[:, 650:], B[:, 650:], 2)
    np.testing.assert_array_equal(whole[:, 650:], part)
    single = poisson_sweeps(Y, A, S, B.astype(np.float32), 2)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, whole, rtol=1e-6)
