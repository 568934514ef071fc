from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from gram_blocks import gram, hostile_blocks, random_block
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from conicnmf.errors import InputError
from conicnmf.kernels import threads
from conicnmf.kernels._greedy import largest
from conicnmf.kernels.nnls import kkt_residual, nnls_gram
from conicnmf.kernels.pursuit import forward_backward, nn_omp


def on_support(A, y, support):
    b = np.zeros(A.shape[1])
    if len(support):
        b[support] = nnls(A[:, support], y)[0]
    return b


def plain_omp(A, y, max_atoms, rel_error):
    selected: list[int] = []
    b = np.zeros(A.shape[1])
    norms = np.linalg.norm(A, axis=0)
    while len(selected) < max_atoms:
        rest = y - A @ b
        if rest @ rest <= rel_error * (y @ y):
            break
        cosines = A.T @ rest / norms
        cosines[selected] = -np.inf
        if cosines.max() <= 1e-12:
            break
        selected.append(int(cosines.argmax()))
        b = on_support(A, y, selected)
    return b


def cost(A, y, b, lam):
    return ((y - A @ b) ** 2).sum() + lam**2 * np.count_nonzero(b)


@pytest.mark.parametrize("shape", [(30, 12, 15), (15, 40, 15)])
@pytest.mark.parametrize(("max_atoms", "rel_error"), [(4, 0.0), (12, 0.05), (10, 0.3)])
@pytest.mark.parametrize("spread", [0, 3])
def test_omp_equals_its_plain_form(shape, max_atoms, rel_error, spread):
    A, Y = random_block(*shape, density=0.5)
    A = A * 10.0 ** np.random.default_rng(1).uniform(-spread, spread, shape[1])
    B = nn_omp(*gram(A, Y), max_atoms, rel_error)
    norms = np.linalg.norm(A, axis=0)
    for y, b in zip(Y.T, B.T, strict=True):
        np.testing.assert_allclose(
            b * norms, plain_omp(A, y, max_atoms, rel_error) * norms, atol=1e-9
        )


def test_omp_finds_a_sparse_code_and_stops_there():
    A, _ = random_block(60, 90, 1, density=0.15)
    rng = np.random.default_rng(2)
    X = np.zeros((90, 20))
    for column in X.T:
        column[rng.choice(90, 3, replace=False)] = rng.uniform(0.5, 1, 3)
    B = nn_omp(*gram(A, A @ X), max_atoms=90, rel_error=1e-12)
    assert (((A @ X - A @ B) ** 2).sum(axis=0) <= 1e-11 * ((A @ X) ** 2).sum(axis=0)).all()
    assert (np.count_nonzero(B, axis=0) <= 6).all()


def test_omp_with_every_atom_is_non_negative_least_squares():
    A, Y = random_block(25, 10, 12, density=0.5)
    np.testing.assert_allclose(nn_omp(*gram(A, Y), 10), nnls_gram(*gram(A, Y)[:2]), atol=1e-9)


def test_orthonormal_atoms_give_the_largest_or_those_above_the_price():
    C = np.random.default_rng(3).standard_normal((12, 30))
    yy = (C * C).sum(axis=0)
    largest = np.sort(C, axis=0)[-3]
    expected = np.where((largest <= C) & (C > 0), C, 0)
    np.testing.assert_allclose(nn_omp(np.eye(12), C, yy, 3), expected)
    B = forward_backward(np.eye(12), C, yy, lam=0.7, max_atoms=12)
    np.testing.assert_allclose(B, np.where(C > 0.7, C, 0))
    B = forward_backward(np.eye(12), C, yy, lam=0.0, max_atoms=3)
    np.testing.assert_allclose(B, expected)


@pytest.mark.parametrize("shape", [(20, 9, 25), (8, 12, 25)])
@pytest.mark.parametrize("lam", [0.1, 0.3])
def test_no_single_change_betters_the_two_way_pursuit(shape, lam):
    A, Y = random_block(*shape, density=0.6)
    B = forward_backward(*gram(A, Y), lam, shape[1])
    for y, b in zip(Y.T, B.T, strict=True):
        support = np.flatnonzero(b)
        np.testing.assert_allclose(b, on_support(A, y, support), atol=1e-9)
        for j in range(shape[1]):
            changed = np.setxor1d(support, [j])
            rest = y - A @ on_support(A, y, changed)
            assert rest @ rest + lam**2 * changed.size >= cost(A, y, b, lam) - 1e-10


def test_two_ways_come_near_the_best_subset():
    A, Y = random_block(10, 8, 30, density=0.7)
    lam = 0.25
    found = best = 0.0
    B = forward_backward(*gram(A, Y), lam, 8)
    for y, b in zip(Y.T, B.T, strict=True):
        subsets = (s for k in range(9) for s in combinations(range(8), k))
        best += min(cost(A, y, on_support(A, y, list(s)), lam) for s in subsets)
        found += cost(A, y, b, lam)
    assert best <= found <= 1.01 * best


def test_an_early_mistake_is_taken_back():
    # The third atom looks best at first, but the first two explain everything.
    A = np.array([[1.0, 0.0, 0.8], [0.0, 1.0, 0.6], [0.0, 0.0, 0.05]])
    y = np.array([[1.0], [0.9], [0.0]])
    G, C, yy = gram(A, y)
    assert nn_omp(G, C, yy, 2)[2] > 0.1
    np.testing.assert_allclose(
        forward_backward(G, C, yy, 0.01, 3), [[1.0], [0.9], [0.0]], atol=1e-12
    )


def test_the_number_of_atoms_is_kept():
    A, Y = random_block(20, 30, 10)
    for most in (0, 1, 3, 100):
        assert (np.count_nonzero(nn_omp(*gram(A, Y), most), axis=0) <= most).all()
        B = forward_backward(*gram(A, Y), 1e-3, most)
        assert (np.count_nonzero(B, axis=0) <= most).all()


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_passes_straight_through(scale):
    A, Y = random_block(20, 25, 8)
    plain, scaled = gram(A, Y), gram(A, Y * scale)
    np.testing.assert_allclose(nn_omp(*scaled, 5, 0.01) / scale, nn_omp(*plain, 5, 0.01), rtol=1e-9)
    np.testing.assert_allclose(
        forward_backward(*scaled, 0.1 * scale, 9) / scale,
        forward_backward(*plain, 0.1, 9),
        rtol=1e-9,
    )


@settings(max_examples=150, deadline=None)
@given(hostile_blocks(), st.sampled_from([0.0, 1e-3, 0.5]), st.integers(0, 6))
def test_hostile_blocks_end_with_sound_codes(block, lam, most):
    A, Y = block
    G, C, yy = gram(A, Y)
    for B in (nn_omp(G, C, yy, most, lam / 10), forward_backward(G, C, yy, lam, most)):
        assert np.isfinite(B).all()
        assert (B >= 0).all()
        assert (np.count_nonzero(B, axis=0) <= most).all()
        assert (((Y - A @ B) ** 2).sum(axis=0) <= yy * (1 + 1e-9) + 1e-9).all()
        for n, b in enumerate(B.T):
            kept = np.flatnonzero(b)
            assert kkt_residual(G[np.ix_(kept, kept)], C[kept, n, None], b[kept, None]) <= 1e-8


def test_columns_without_a_pull_stay_zero():
    A, Y = random_block(10, 4, 2)
    Y[:, 0], Y[:, 1] = 0, -Y[:, 1]
    assert not nn_omp(*gram(A, Y), 4).any()
    assert not forward_backward(*gram(A, Y), 0.0, 4).any()


def test_float32_stays_float32_and_threads_do_not_change_a_bit(monkeypatch):
    A, Y = random_block(20, 12, 41)
    small = [a.astype(np.float32) for a in gram(A, Y)]
    copies = [a.copy() for a in small]
    alone = nn_omp(*small, 4), forward_backward(*small, 0.1, 4)
    assert alone[0].dtype == alone[1].dtype == np.float32
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0.0)
    monkeypatch.setattr(threads, "_default", lambda: 3)
    np.testing.assert_array_equal(nn_omp(*small, 4), alone[0])
    np.testing.assert_array_equal(forward_backward(*small, 0.1, 4), alone[1])
    for a, b in zip(small, copies, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("call", [nn_omp, lambda *a: forward_backward(*a[:3], 0.1, a[3])])
def test_wrong_input_is_named(call):
    G, C, yy = np.eye(2), np.ones((2, 1)), np.ones(1)
    with pytest.raises(InputError, match="max_atoms"):
        call(G, C, yy, -1)
    with pytest.raises(InputError, match="one squared norm"):
        call(G, C, np.ones(3), 1)
    with pytest.raises(InputError, match="rel_error"):
        nn_omp(G, C, yy, 1, -0.1)
    with pytest.raises(InputError, match="lam"):
        forward_backward(G, C, yy, -0.1, 1)
    assert forward_backward(np.empty((0, 0)), np.empty((0, 2)), np.ones(2), 0.1, 1).shape == (0, 2)


def test_omp_takes_atoms_back_and_meets_nearly_equal_ones():
    rng = np.random.default_rng(5)
    near = rng.random((20, 4))
    A = np.hstack([near, near + 1e-3 * rng.random((20, 4)), rng.random((20, 9)), np.ones((20, 1))])
    Y = rng.random((20, 60))
    B = nn_omp(*gram(A, Y), 8)
    for y, b in zip(Y.T, B.T, strict=True):
        wanted = plain_omp(A, y, 8, 0.0)
        np.testing.assert_allclose(A @ b, A @ wanted, atol=1e-6)
    assert (np.count_nonzero(B, axis=0) < 8).any()  # an atom that came in left again


@pytest.mark.parametrize("size", [1, 7, 8, 9, 40])
def test_largest_entry_is_the_first_one(size):
    rng = np.random.default_rng(size)
    for _ in range(50):
        w = rng.integers(-3, 3, size).astype(float)
        w[rng.random(size) < 0.2] = -np.inf
        assert largest(w) == (w.argmax() if w.max() > -np.inf else -1)
