from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from conicnmf import InputError, measures


def test_similarity_does_not_see_order_or_scale():
    rng = np.random.default_rng(0)
    D = rng.random((6, 4))
    assert measures.dictionary_similarity(D, 3 * D[:, [2, 0, 3, 1]]) == pytest.approx(1)
    assert measures.dictionary_similarity(D, np.repeat(D[:, :1], 4, axis=1)) < 1


def test_matching_is_one_to_one():
    D = np.eye(3)
    found = np.column_stack([D[:, 0], D[:, 0], D[:, 2]])
    assert sorted(measures.matched_cosines(D, found)) == [0, 1, 1]
    # A column for which nothing was found has cosine 0.
    assert measures.matched_cosines(D, D[:, [2, 0]]).tolist() == [1, 0, 1]


def test_dictionaries_of_other_features_are_refused():
    with pytest.raises(InputError, match="same features as rows"):
        measures.dictionary_similarity(np.eye(3), np.eye(4))


def test_support_precision_and_recall():
    truth = np.array([[1, 1, 0, 0]])
    assert measures.support_scores(truth, np.array([[1, 1, 1, 1]])) == (0.5, 1.0)
    assert measures.support_scores(truth, np.array([[1, 0, 0, 0]])) == (1.0, 0.5)
    with pytest.raises(InputError, match="same shape"):
        measures.support_scores(truth, truth.T)


def test_explained_variance_of_the_mean_is_zero():
    V = np.arange(6.0).reshape(2, 3)
    mean = V.mean(axis=1, keepdims=True)
    assert measures.explained_variance(V, mean, np.ones((1, 3))) == pytest.approx(0)
    assert np.isnan(measures.explained_variance(np.ones((2, 2)), np.ones((2, 1)), np.ones((1, 2))))


def test_explained_variance_of_sparse_data_is_that_of_dense_data():
    rng = np.random.default_rng(0)
    V = np.where(rng.random((8, 9)) < 0.4, rng.random((8, 9)), 0.0)
    W, H = rng.random((8, 2)), rng.random((2, 9))
    dense = 1 - np.var(V - W @ H, axis=1).sum() / np.var(V, axis=1).sum()
    residual = np.sum((V - W @ H) ** 2) / np.sum((V - V.mean(axis=1, keepdims=True)) ** 2)
    assert measures.explained_variance(V, W, H) == pytest.approx(1 - residual)
    assert measures.explained_variance(sp.csr_array(V), W, H) == pytest.approx(1 - residual)
    assert dense >= 1 - residual  # the mean of the residual counts as unexplained


def test_rounds_to_a_level_that_is_never_reached():
    assert measures.rounds_to([0.1, 0.2]) is None
