"""Columns with a Gram matrix each, and columns that sum to a total."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.errors import InputError
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import kkt_residual, nnls_gram
from conicnmf.kernels.pursuit import forward_backward, nn_omp
from conicnmf.kernels.simplex_ls import simplex_ls_gram
from conicnmf.kernels.threads import threads


def weighted(seed, m=12, r=5, n=9):
    """Return the Gram matrices of a masked least-squares block, and its parts."""
    rng = np.random.default_rng(seed)
    A, Y = rng.random((m, r)), rng.standard_normal((m, n)) + 0.3
    M = (rng.random((m, n)) < 0.6).astype(float)
    return np.einsum("ik,ij,il->kjl", M, A, A), A.T @ (M * Y), (M * Y * Y).sum(axis=0)


@pytest.mark.parametrize("seed", range(5))
def test_own_gram_matrices_give_what_the_columns_give_one_by_one(seed):
    G, C, yy = weighted(seed)
    start = nnls_gram(G, C)
    assert kkt_residual(G, C, start) < 1e-12
    coders = {
        "nnls": lambda G, C, yy, B: nnls_gram(G, C, B),
        "omp": lambda G, C, yy, B: nn_omp(G, C, yy, 2),
        "both ways": lambda G, C, yy, B: forward_backward(G, C, yy, 0.2, 4),
        "elimination": lambda G, C, yy, B: eliminate(G, C, yy, B, 0.1),
    }
    for coder in coders.values():
        together = coder(G, C, yy, start)
        for k in range(C.shape[1]):
            one = slice(k, k + 1)
            alone = coder(G[k], C[:, one], yy[one], start[:, one])
            np.testing.assert_allclose(together[:, one], alone, atol=1e-12)


def test_a_column_without_entries_is_zero():
    G, C, _ = weighted(0)
    G[2], C[:, 2] = 0.0, 0.0
    assert not nnls_gram(G, C)[:, 2].any()


def test_single_precision_is_kept():
    G, C, _ = weighted(1)
    assert nnls_gram(G.astype(np.float32), C.astype(np.float32)).dtype == np.float32
    assert simplex_ls_gram(G.astype(np.float32), C.astype(np.float32)).dtype == np.float32


def test_as_many_matrices_as_columns():
    with pytest.raises(InputError, match="one for each of the 9 columns, got 4"):
        nnls_gram(np.ones((4, 2, 2)), np.ones((2, 9)))


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), total=st.sampled_from([0.01, 1.0, 50.0]), own=st.booleans())
def test_columns_that_sum_to_a_total_are_optimal(seed, total, own):
    rng = np.random.default_rng(seed)
    m, r, n = rng.integers(1, 10, 3)
    A = rng.standard_normal((m, r)) if seed % 2 else rng.random((m, r))
    if r > 1 and seed % 5 == 0:
        A[:, 1] = A[:, 0]  # atoms that cancel
    if seed % 7 == 0:
        A[:, 0] = 0.0
    Y = 3 * rng.standard_normal((m, n))
    M = (rng.random((m, n)) < 0.7).astype(float) if own else np.ones((m, n))
    G = np.einsum("ik,ij,il->kjl", M, A, A) if own else A.T @ A
    B = simplex_ls_gram(G, A.T @ (M * Y), total)
    assert (B >= 0).all()
    np.testing.assert_allclose(B.sum(axis=0), total, rtol=1e-12)
    # Where mass is, the gradient is lowest: moving it elsewhere gains nothing.
    slope = A.T @ (M * (A @ B - Y))
    gain = (slope * B).sum(axis=0) - total * slope.min(axis=0)
    scale = total * (np.abs(A).T @ (np.abs(A) @ B + np.abs(Y))).max(initial=1e-300)
    assert gain.max() <= 1e-9 * scale


def test_sums_agree_with_a_cone_solver():
    rng = np.random.default_rng(8)
    A, Y = rng.random((9, 4)), rng.random((9, 6))
    X = cp.Variable((4, 6), nonneg=True)
    best = cp.Problem(cp.Minimize(cp.sum_squares(A @ X - Y)), [cp.sum(X, axis=0) == 2.0])
    best.solve(solver="CLARABEL")
    B = simplex_ls_gram(A.T @ A, A.T @ Y, 2.0)
    assert ((A @ B - Y) ** 2).sum() == pytest.approx(best.value, rel=1e-7)
    np.testing.assert_allclose(B, X.value, atol=1e-4)


def test_a_total_is_positive():
    with pytest.raises(InputError, match="positive total, got 0"):
        simplex_ls_gram(np.eye(2), np.ones((2, 1)), 0.0)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_any_guess_of_the_support_leads_to_the_same_columns_of_a_sum(own, alike):
    rng = np.random.default_rng(5)
    A, Y = rng.random((9, 6)), 2 * rng.random((9, 40))
    if alike:
        A[:, 5] = A[:, 4]  # no guess with both has a factor
    M = rng.random(Y.shape) < 0.8 if own else np.ones_like(Y)
    G = np.einsum("mi,mk,mj->kij", A, M, A) if own else A.T @ A
    C = A.T @ (M * Y)

    def value(B):
        return float(np.sum(M * (Y - A @ B) ** 2))

    plain = simplex_ls_gram(G, C, 1.5)
    guesses = (np.ones_like(plain), np.zeros_like(plain), rng.random(plain.shape) > 0.5, plain)
    for guess in guesses:
        B = simplex_ls_gram(G, C, 1.5, guess.astype(float))
        assert B.min() >= 0
        np.testing.assert_allclose(B.sum(axis=0), 1.5, rtol=1e-12)
        assert value(B) == pytest.approx(value(plain), rel=1e-10)
        if not alike:
            np.testing.assert_allclose(B, plain, atol=1e-8)


def test_threads_do_not_change_a_bit_of_columns_of_a_sum():
    rng = np.random.default_rng(6)
    A, Y = rng.random((30, 20)), rng.random((30, 3000))
    guess = (rng.random((20, 3000)) < 0.2).astype(float)
    answers = []
    for count in (1, 2):
        with threads(count):
            answers.append(simplex_ls_gram(A.T @ A, A.T @ Y, 1.0, guess))
    np.testing.assert_array_equal(*answers)
