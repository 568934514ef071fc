"""partial_fit: batches one after the other come near to what all samples at once give."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.estimators import L0NMF, MiniBatchNMF, NonNegativeSparseCoding, SparseNMF


@pytest.fixture(scope="module")
def X():
    return cn.datasets.load("digits", n_samples=600).V.T


STREAMED = [
    SparseNMF(6, solver="HALS"),
    SparseNMF(6, sparseness=0.7, solver="HALS"),
    NonNegativeSparseCoding(6, weight=0.1),
    L0NMF(6, weight=0.1, max_iter=20),
]


@pytest.mark.parametrize("model", STREAMED, ids=lambda model: type(model).__name__)
def test_batches_come_near_to_all_samples_at_once(model, X):
    whole = model.fit(X).score(X)
    first = model.fit(X[:60]).score(X)
    for rows in np.split(X[60:], 9):
        model.partial_fit(rows)
    assert model.score(X) > first
    assert whole - model.score(X) < 0.02


def test_constraints_on_components_hold_after_every_batch(X):
    model = SparseNMF(4, sparseness=(0.6, 0.8), solver="HALS", tol=1e-3)
    coding = NonNegativeSparseCoding(4, tol=1e-3)
    for rows in np.split(X, 10):
        found = cn.sparseness(model.partial_fit(rows).components_, axis=1)
        assert 0.6 - 1e-6 < found.min() <= found.max() < 0.8 + 1e-6
        norms = np.linalg.norm(coding.partial_fit(rows).components_, axis=1)
        np.testing.assert_allclose(norms, 1)


def test_an_update_lowers_the_error_of_the_batch_it_saw(X):
    model = SparseNMF(6, solver="HALS").fit(X[:60])
    batch = X[60:]
    codes = model.transform(batch)
    before = np.linalg.norm(batch - codes @ model.components_)
    model.partial_fit(batch)
    assert np.linalg.norm(batch - codes @ model.components_) < before


def test_single_precision_stays(X):
    model = SparseNMF(4, solver="HALS", tol=1e-3)
    for rows in np.split(X.astype(np.float32), 6):
        model.partial_fit(rows)
    assert model.components_.dtype == np.float32


def test_missing_entries_are_refused(X):
    hole = X[:50].copy()
    hole[0, 0] = np.nan
    with pytest.raises(cn.InputError, match="needs complete samples"):
        SparseNMF(3).partial_fit(hole)


def test_terms_that_tie_samples_are_refused_by_name(X):
    model = SparseNMF(3, code_sparseness=0.5, code_each="component", tol=1e-2).fit(X[:60])
    with pytest.raises(cn.IncompatibleError, match=r"Sparseness.* on H links samples"):
        model.partial_fit(X[60:120])


def test_the_first_batch_fades():
    """One pass in small batches comes near to all samples at once, however poor the first one was."""
    rng = np.random.default_rng(0)
    atoms = rng.random((40, 50)) * (rng.random((40, 50)) < 0.3)
    codes = rng.random((50, 2000)) * (rng.random((50, 2000)) < 0.06)
    X = (atoms / np.linalg.norm(atoms, axis=0) @ codes + 0.02 * rng.random((40, 2000))).T

    def value(model):
        H = model.transform(X)
        return 0.5 * ((X - H @ model.components_) ** 2).sum() + 0.05 * H.sum()

    model = NonNegativeSparseCoding(50, weight=0.05, tol=1e-3)
    for rows in np.split(X, 40):
        model.partial_fit(rows)
    streamed, whole = value(model), value(model.fit(X))
    assert streamed < 1.15 * whole  # 1.27 where nothing fades


def test_a_sparse_dictionary_stays_sparse_from_batch_to_batch(X):
    priced = L0NMF(6, weight=0.1, dictionary_weight=0.3, max_iter=20)
    free = L0NMF(6, weight=0.1, max_iter=20)
    for rows in np.split(X, 5):
        zeros = [np.mean(m.partial_fit(rows).components_ == 0) for m in (priced, free)]
        assert zeros[0] > zeros[1] + 0.1
        np.testing.assert_allclose(np.linalg.norm(priced.components_, axis=1), 1)


@pytest.mark.parametrize("model", [MiniBatchNMF(2, random_state=0), SparseNMF(2)])
def test_what_was_learned_batch_by_batch_has_no_certificate(model, X):
    model.partial_fit(X[:60]).partial_fit(X[60:120])
    with pytest.raises(cn.InputError, match=r"got .* learned batch by batch; use fit"):
        model.certificate(X[:60])
