from __future__ import annotations

import numpy as np
import pytest
from gram_blocks import gram, hostile_blocks, random_block
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from conicnmf.errors import InputError
from conicnmf.kernels import threads
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram


def residual(A, y, support):
    if not len(support):
        return np.linalg.norm(y)
    return np.linalg.norm(y - A[:, support] @ np.linalg.lstsq(A[:, support], y, rcond=None)[0])


def greedy(A, y, support, lam, squared, labels):
    """Drop the label whose loss costs least, found by solving every smaller problem afresh."""
    support = np.asarray(support)
    while support.size:
        now = residual(A, y, support)
        trials = [
            (residual(A, y, support[labels[support] != label]), label)
            for label in np.unique(labels[support])
        ]
        after, label = min(trials)
        rise = after**2 - now**2 if squared else after - now
        if not rise < (lam**2 if squared else lam):
            break
        support = support[labels[support] != label]
    return support


def on_support(A, y, support):
    b = np.zeros(A.shape[1])
    if len(support):
        b[support] = nnls(A[:, support], y)[0]
    return b


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("lam", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("shape", [(30, 12, 15), (15, 25, 12)])
@pytest.mark.parametrize("group_size", [1, 3])
def test_equals_greedy_elimination_by_full_least_squares(shape, lam, squared, group_size):
    A, Y = random_block(*shape, density=0.6)
    G, C, yy = gram(A, Y)
    start = nnls_gram(G, C)
    # Shuffled, so that the atoms of a group are not neighbors.
    labels = np.random.default_rng(0).permutation(np.arange(shape[1]) // group_size)
    B = eliminate(G, C, yy, start, lam, squared, labels if group_size > 1 else None)
    for y, before, b in zip(Y.T, start.T, B.T, strict=True):
        kept = greedy(A, y, np.flatnonzero(before), lam, squared, labels)
        np.testing.assert_allclose(b, on_support(A, y, kept), atol=1e-9)


def test_a_group_goes_as_a_whole_where_its_atoms_alone_would_stay():
    C = np.array([[1.0], [0.3], [0.3], [0.2]])
    arguments = (np.eye(4), C, (C * C).sum(axis=0), C)
    pair = np.array([7, -1, -1, 5])
    assert eliminate(*arguments, lam=0.4, squared=True).ravel().tolist() == [1, 0, 0, 0]
    assert eliminate(*arguments, lam=0.4, squared=True, groups=pair)[:, 0].tolist() == [
        1,
        0.3,
        0.3,
        0,
    ]
    assert eliminate(*arguments, lam=0.5, squared=True, groups=pair)[:, 0].tolist() == [1, 0, 0, 0]


def test_orthonormal_atoms_are_thresholded():
    C = np.random.default_rng(1).random((20, 30))
    B = eliminate(np.eye(20), C, (C * C).sum(axis=0), C, lam=0.5, squared=True)
    np.testing.assert_allclose(B, np.where(C >= 0.5, C, 0))


def test_no_price_drops_nothing_and_any_price_drops_all():
    A, Y = random_block(20, 30, 10)
    G, C, yy = gram(A, Y)
    start = nnls_gram(G, C)
    np.testing.assert_allclose(eliminate(G, C, yy, start, 0.0), start, atol=1e-10)
    assert not eliminate(G, C, yy, start, np.inf).any()
    assert not eliminate(G, C, yy, start, 10.0, squared=True).any()


def test_only_atoms_of_the_start_are_used():
    A, Y = random_block(20, 10, 6)
    G, C, yy = gram(A, Y)
    start = np.zeros_like(C)
    start[[1, 4, 7]] = 1.0
    B = eliminate(G, C, yy, start, 1e-6)
    assert not np.delete(B, [1, 4, 7], axis=0).any()
    for y, b in zip(Y.T, B.T, strict=True):
        np.testing.assert_allclose(b, on_support(A, y, [1, 4, 7]), atol=1e-9)


def test_equal_atoms_are_reduced_to_one_at_no_cost():
    A, Y = random_block(12, 3, 5)
    A = np.hstack([A, A])
    G, C, yy = gram(A, Y)
    B = eliminate(G, C, yy, np.ones((6, 5)), 1e-9)
    assert ((B > 0)[:3] & (B > 0)[3:]).sum() == 0
    expected = ((Y - A @ nnls_gram(G, C)) ** 2).sum(axis=0)
    np.testing.assert_allclose(((Y - A @ B) ** 2).sum(axis=0), expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scale_passes_straight_through(scale):
    A, Y = random_block(20, 30, 10)
    G, C, yy = gram(A, Y)
    expected = eliminate(G, C, yy, nnls_gram(G, C), 0.1)
    G, C, yy = gram(A, Y * scale)
    B = eliminate(G, C, yy, nnls_gram(G, C), 0.1 * scale)
    np.testing.assert_allclose(B / scale, expected, atol=1e-9)
    assert 0 < (B > 0).sum() < (nnls_gram(G, C) > 0).sum()


def test_float32_stays_float32_and_inputs_stay_as_they_are():
    A, Y = random_block(20, 8, 10)
    arrays = [a.astype(np.float32) for a in (*gram(A, Y), nnls_gram(*gram(A, Y)[:2]))]
    copies = [a.copy() for a in arrays]
    assert eliminate(*arrays, 0.1).dtype == np.float32
    for a, b in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(a, b)


def test_threads_do_not_change_a_bit(monkeypatch):
    A, Y = random_block(30, 40, 51)
    G, C, yy = gram(A, Y)
    start = nnls_gram(G, C)
    alone = eliminate(G, C, yy, start, 0.05)
    monkeypatch.setattr(threads, "_WORTH_THREADS", 0.0)
    monkeypatch.setattr(threads, "_default", lambda: 3)
    np.testing.assert_array_equal(eliminate(G, C, yy, start, 0.05), alone)


@settings(max_examples=100, deadline=None)
@given(hostile_blocks(), st.sampled_from([0.0, 1e-6, 0.1, 1.0]), st.booleans())
def test_hostile_blocks_end_on_a_smaller_support_within_the_price(block, lam, squared):
    A, Y = block
    G, C, yy = gram(A, Y)
    assume(np.linalg.cond(A / np.maximum(np.linalg.norm(A, axis=0), 1e-3)) < 1e4)
    start = nnls_gram(G, C)
    assume(np.abs(start).max() < 1e6)  # of larger codes rounding alone is as large as the tolerance
    B = eliminate(G, C, yy, start, lam, squared)
    assert ((B > 0) <= (start > 0)).all()
    norms = [np.linalg.norm(Y - A @ b, axis=0) for b in (start, B)]
    for y, kept in zip(Y.T, (B > 0).T, strict=True):
        best = on_support(A, y, np.flatnonzero(kept))
        assert residual(A, y, np.flatnonzero(kept)) <= np.linalg.norm(y - A @ best) + 1e-7
    assert (norms[1] >= norms[0] - 1e-7).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lam": -1.0}, "lam"),
        ({"lam": np.nan}, "lam"),
        ({"yy": np.ones(2)}, "one squared norm"),
        ({"yy": -np.ones(1)}, "one squared norm"),
        ({"B": np.ones((1, 2))}, "shape of C"),
        ({"groups": [1]}, "one integer label per atom"),
        ({"groups": [0.5, 1.0]}, "one integer label per atom"),
    ],
)
def test_wrong_input_is_named(changes, words):
    arguments = {
        "G": np.eye(2),
        "C": np.ones((2, 1)),
        "yy": np.ones(1),
        "B": np.ones((2, 1)),
        "lam": 0.1,
    }
    with pytest.raises(InputError, match=words):
        eliminate(**{**arguments, **changes})
