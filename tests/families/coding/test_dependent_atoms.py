"""Codes that are cut off do not depend on which least squares were found among many."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

import conicnmf as cn


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_more_atoms_than_features_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    W = rng.random((4, 11)) ** 2
    V = W @ (rng.random((11, 6)) * (rng.random((11, 6)) < 0.5))
    order = rng.permutation(11)
    coder = cn.coding.Threshold(0.1)
    H, turned = cn.sparse_code(V, W, coder), cn.sparse_code(V, W[:, order], coder)
    np.testing.assert_allclose(turned, H[order], atol=1e-6)


def test_the_shortest_least_squares_are_cut():
    """The same by scipy: one more row for each atom, with the price of its code."""
    rng = np.random.default_rng(1)
    W, v = rng.random((3, 7)), rng.random(3)
    rows = np.vstack([W, 1e-5 * np.diag(np.linalg.norm(W, axis=0))])
    shortest = nnls(rows, np.r_[v, np.zeros(7)])[0]
    found = cn.sparse_code(v[:, None], W, cn.coding.Threshold(0.0))[:, 0]
    np.testing.assert_allclose(found, shortest, atol=1e-5)


def test_independent_atoms_have_exact_least_squares():
    rng = np.random.default_rng(2)
    W = rng.random((9, 4))
    W[:, 1] = 0
    V = rng.random((9, 3))
    plain = cn.sparse_code(V, W, cn.coding.LeastSquares())
    assert np.array_equal(cn.sparse_code(V, W, cn.coding.Threshold(0.0)), plain)
