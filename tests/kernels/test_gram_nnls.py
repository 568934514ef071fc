from __future__ import annotations

import numpy as np
import pytest
from gram_blocks import SCALES, gram, hostile_blocks, random_block
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from conicnmf.errors import InputError
from conicnmf.kernels import nnls as module
from conicnmf.kernels import threads
from conicnmf.kernels.nnls import kkt_residual, nnls_gram

SHAPES = [(30, 6, 40), (20, 45, 25), (12, 12, 20), (9, 1, 5), (6, 4, 1), (1, 5, 3)]


def reference(A, Y):
    return np.stack([nnls(A, y)[0] for y in Y.T], axis=1)


def squared_errors(A, Y, B):
    return ((Y - A @ B) ** 2).sum(axis=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_lawson_hanson_on_the_data_matrix(shape):
    A, Y = random_block(*shape, seed=sum(shape))
    B = nnls_gram(*gram(A, Y)[:2])
    assert B.shape == shape[1:]
    assert (B >= 0).all()
    assert kkt_residual(*gram(A, Y)[:2], B) <= 1e-12
    np.testing.assert_allclose(
        squared_errors(A, Y, B), squared_errors(A, Y, reference(A, Y)), rtol=1e-10, atol=1e-12
    )


def test_finds_the_same_coefficients_where_they_are_unique():
    A, Y = random_block(60, 25, 50, density=0.4)
    np.testing.assert_allclose(nnls_gram(*gram(A, Y)[:2]), reference(A, Y), atol=1e-10)


def test_recovers_a_sparse_code_without_residual():
    A, _ = random_block(40, 80, 1, density=0.3)
    rng = np.random.default_rng(1)
    X = np.zeros((80, 30))
    for column in X.T:
        column[rng.choice(80, 4, replace=False)] = rng.uniform(0.1, 1, 4)
    np.testing.assert_allclose(nnls_gram(*gram(A, A @ X)[:2]), X, atol=1e-9)


@pytest.mark.parametrize("guess", ["solution", "everything", "random", "complement"])
def test_the_guess_does_not_change_the_answer(guess):
    A, Y = random_block(30, 40, 20, density=0.5)
    G, C, _ = gram(A, Y)
    B = nnls_gram(G, C)
    B0 = {
        "solution": B,
        "everything": np.ones_like(B),
        "random": np.random.default_rng(3).random(B.shape) < 0.4,
        "complement": B == 0,
    }[guess]
    again = nnls_gram(G, C, B0)
    assert kkt_residual(G, C, again) <= 1e-12
    np.testing.assert_allclose(squared_errors(A, Y, again), squared_errors(A, Y, B), rtol=1e-9)


def test_a_dense_guess_on_many_atoms_is_no_trap():
    A, Y = random_block(150, 100, 3)
    G, C, _ = gram(A, Y)
    assert kkt_residual(G, C, nnls_gram(G, C, np.ones_like(C))) <= 1e-12


def test_zero_and_equal_atoms_share_one_optimum():
    A, Y = random_block(15, 6, 10)
    A = np.hstack([A, A[:, :3], np.zeros((15, 1)), 2 * A[:, 2:3]])
    G, C, _ = gram(A, Y)
    B = nnls_gram(G, C)
    assert (B[9] == 0).all()
    assert kkt_residual(G, C, B) <= 1e-12
    np.testing.assert_allclose(squared_errors(A, Y, B), squared_errors(A, Y, reference(A, Y)))


def test_columns_without_a_pull_are_exactly_zero():
    A, Y = random_block(10, 4, 3)
    Y[:, 0], Y[:, 1] = 0, -Y[:, 1]
    B = nnls_gram(*gram(A, Y)[:2])
    assert (B[:, :2] == 0).all()
    assert (B[:, 2] > 0).any()


@pytest.mark.parametrize(("atoms", "data"), [(1e-150, 1e-150), (1e150, 1e150), (1e150, 1e-150)])
def test_scale_passes_straight_through(atoms, data):
    A, Y = random_block(20, 15, 8)
    expected = nnls_gram(*gram(A, Y)[:2])
    B = nnls_gram(*gram(A * atoms, Y * data)[:2])
    np.testing.assert_allclose(B * atoms / data, expected, rtol=1e-9, atol=1e-12)


def test_atoms_of_very_different_size_are_treated_alike():
    A, Y = random_block(20, 8, 5)
    sizes = 10.0 ** np.arange(-120, 120, 30)
    B = nnls_gram(*gram(A * sizes, Y)[:2])
    np.testing.assert_allclose(B * sizes[:, None], nnls_gram(*gram(A, Y)[:2]), rtol=1e-9)


def test_float32_stays_float32():
    A, Y = random_block(40, 10, 12)
    B = nnls_gram(*(a.astype(np.float32) for a in gram(A, Y)[:2]))
    assert B.dtype == np.float32
    np.testing.assert_allclose(B, nnls_gram(*gram(A, Y)[:2]), atol=2e-4)


@settings(max_examples=300, deadline=None)
@example((np.array([[0.0, 1.0]]), np.array([[1e-9]])), 1e150, 1e-150, False)
@given(hostile_blocks(), SCALES, SCALES, st.booleans())
def test_hostile_blocks_end_at_the_optimum(block, atoms, data, guess):
    A, Y = block
    G, C, _ = gram(A * atoms, Y * data)
    B = nnls_gram(G, C, np.ones_like(C) if guess else None)
    assert np.isfinite(B).all()
    assert (B >= 0).all()
    assert kkt_residual(G, C, B) <= 1e-10


@settings(max_examples=80, deadline=None)
@given(hostile_blocks())
def test_hostile_float32_blocks_end_near_the_optimum(block):
    G, C, _ = gram(*(a.astype(np.float32) for a in block))
    B = nnls_gram(G, C)
    assert B.dtype == np.float32
    assert (B >= 0).all()
    assert kkt_residual(G, C, B) <= 1e-3


def test_nearly_equal_atoms_and_signs():
    rng = np.random.default_rng(5)
    A = rng.standard_normal((30, 20))
    A[:, 10:] = A[:, :10] * rng.choice([-1, 1], 10) + 1e-7 * rng.standard_normal((30, 10))
    G, C, _ = gram(A, rng.standard_normal((30, 40)))
    assert kkt_residual(G, C, nnls_gram(G, C)) <= 1e-10


@pytest.mark.parametrize("seed", range(40))
def test_atoms_that_nearly_cancel(seed):
    # Huge coefficients of a pair change next to nothing: the search alone can lose its way.
    rng = np.random.default_rng(seed)
    A = rng.random((9, 20))
    twins = A[:, :10] * rng.choice([-1, 1], 10)
    A[:, 10:] = twins + 10 ** rng.uniform(-9, -4) * rng.standard_normal((9, 10))
    G, C, _ = gram(A, rng.random((9, 20)))
    assert kkt_residual(G, C, nnls_gram(G, C)) <= 1e-11


def test_coordinate_steps_finish_what_the_search_leaves(monkeypatch):
    def gives_up(G, C, yy, X, states, certain, *rest):
        certain[:] = False

    A, Y = random_block(40, 8, 5, density=0.5)
    G, C, _ = gram(A, Y)
    expected = nnls_gram(G, C)
    monkeypatch.setattr(module, "solve_range", gives_up)
    np.testing.assert_allclose(nnls_gram(G, C), expected, atol=1e-9)


def test_threads_do_not_change_a_bit(monkeypatch):
    A, Y = random_block(40, 30, 101)
    G, C, _ = gram(A, Y)
    alone = nnls_gram(G, C)
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0.0)
    monkeypatch.setattr(threads, "_default", lambda: 3)
    np.testing.assert_array_equal(nnls_gram(G, C), alone)


def test_input_comes_back_unchanged_and_may_be_read_only():
    A, Y = random_block(10, 5, 4)
    arrays = [*gram(A, Y)[:2], np.ones((5, 4))]
    copies = [a.copy() for a in arrays]
    for a in arrays:
        a.flags.writeable = False
    nnls_gram(*arrays)
    for a, b in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(a, b)


def test_no_columns_and_no_atoms_are_fine():
    assert nnls_gram(np.eye(3), np.empty((3, 0))).shape == (3, 0)
    assert nnls_gram(np.empty((0, 0)), np.empty((0, 2))).shape == (0, 2)
    assert kkt_residual(np.empty((0, 0)), np.empty((0, 2)), np.empty((0, 2))) == 0


@pytest.mark.parametrize(
    ("G", "C", "B0", "words"),
    [
        (np.ones((2, 3)), np.ones((2, 1)), None, "square"),
        (np.eye(2), np.ones((3, 1)), None, "one row per atom"),
        (np.eye(2), np.ones(2), None, "two dimensions"),
        (np.eye(2), np.array([[np.nan], [1.0]]), None, "C must be finite"),
        (np.full((2, 2), np.inf), np.ones((2, 1)), None, "G must be finite"),
        (np.eye(2), np.ones((2, 1)), np.ones((2, 2)), "shape of C"),
    ],
)
def test_wrong_input_is_named(G, C, B0, words):
    with pytest.raises(InputError, match=words):
        nnls_gram(G, C, B0)


@pytest.mark.parametrize(
    ("b", "size"),
    [([[1.0], [0.0]], 0.0), ([[0.0], [0.0]], 1.0), ([[1.0], [-0.5]], 0.5), ([[1.0], [0.25]], 0.25)],
)
def test_the_residual_sees_every_broken_condition(b, size):
    # The optimum of G = I, c = (1, −1) is (1, 0).
    assert kkt_residual(np.eye(2), [[1.0], [-1.0]], b) == pytest.approx(size)


def test_the_residual_ignores_scale_and_refuses_a_wrong_shape():
    A, Y = random_block(10, 4, 3)
    B = nnls_gram(*gram(A, Y)[:2]) + 0.01
    plain = kkt_residual(*gram(A, Y)[:2], B)
    assert kkt_residual(*gram(A * 1e-120, Y * 1e120)[:2], B * 1e240) == pytest.approx(plain)
    with pytest.raises(InputError, match="shape of C"):
        kkt_residual(np.eye(2), np.ones((2, 1)), np.ones((2, 2)))
