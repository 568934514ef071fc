"""Every estimator is a scikit-learn estimator: its own checks, pipelines, grids, names, frames."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import conicnmf as cn
from conicnmf.estimators import (
    L0NMF,
    Factorizer,
    HebbianNMF,
    NonNegativeKernelFDA,
    NonNegativeLDA,
    NonNegativeSparseCoding,
    ProjectiveNMF,
    SparseNMF,
    SparsePCA,
)

CUT_SHORT = pytest.mark.filterwarnings("ignore:.*reached the limit")
EVERY = [
    Factorizer,
    HebbianNMF,
    L0NMF,
    NonNegativeSparseCoding,
    ProjectiveNMF,
    SparseNMF,
    SparsePCA,
]
CHECKED = [
    *(kind(n_components=2, max_iter=3 if kind is HebbianNMF else 50) for kind in EVERY),
    NonNegativeLDA(),
    NonNegativeKernelFDA(),
]


@pytest.fixture(scope="module")
def digits():
    return cn.datasets.load("digits", n_samples=120)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", CHECKED, ids=lambda model: type(model).__name__)
def test_scikit_learn_finds_nothing_to_complain_about(model):
    check_estimator(model, on_skip=None)


@CUT_SHORT
@pytest.mark.parametrize("kind", EVERY)
def test_components_and_codes_have_the_shapes_of_scikit_learn(kind, digits):
    X = digits.V.T
    model = kind(3, max_iter=30).fit(X)
    codes = model.transform(X[:7])
    assert model.components_.shape == (3, 64)
    assert codes.shape == (7, 3)
    assert model.inverse_transform(codes).shape == (7, 64)
    assert model.n_iter_ >= 1
    assert model.status_ is model.result_.status


@CUT_SHORT
@pytest.mark.parametrize("kind", EVERY)
def test_feature_names_come_out_as_a_data_frame(kind, digits):
    X = pd.DataFrame(digits.V.T).add_prefix("pixel")
    model = kind(2, max_iter=10).set_output(transform="pandas")
    frame = model.fit(X).transform(X)
    name = kind.__name__.lower()
    assert list(frame.columns) == [f"{name}0", f"{name}1"] == list(model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X.rename(columns={"pixel0": "other"}))


@CUT_SHORT
@pytest.mark.parametrize("kind", EVERY)
def test_a_clone_and_a_pickle_fit_and_code_alike(kind, digits):
    X = digits.V.T
    model = kind(3, max_iter=10, random_state=4)
    copy = clone(model)
    codes = model.fit(X).transform(X)
    np.testing.assert_array_equal(copy.fit(X).transform(X), codes)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), codes)


def test_terms_and_solvers_survive_a_clone():
    model = Factorizer(2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)], solver=cn.HALS(sweeps=5))
    copy = clone(model)
    assert copy.W == model.W
    assert copy.solver == cn.HALS(sweeps=5)


@CUT_SHORT
def test_codes_feed_a_classifier_in_a_pipeline_and_a_grid_chooses_the_sparseness(digits):
    X, y = digits.V.T, digits.target
    line = make_pipeline(SparseNMF(8, solver="HALS", max_iter=20, tol=1e-3), LogisticRegression())
    grid = GridSearchCV(line, {"sparsenmf__sparseness": [None, 0.6, 0.9]}, cv=2)
    grid.fit(X, y)
    assert grid.best_score_ > 0.7
    assert grid.cv_results_["mean_test_score"].shape == (3,)


@CUT_SHORT
def test_a_grid_without_labels_chooses_by_the_share_explained(digits):
    grid = GridSearchCV(SparseNMF(max_iter=20, tol=1e-3), {"n_components": [1, 6]}, cv=2)
    assert grid.fit(digits.V.T).best_params_ == {"n_components": 6}


@CUT_SHORT
def test_sparse_data_give_the_same_as_dense(digits):
    X = digits.V.T
    dense = SparseNMF(3, solver="HALS", max_iter=20).fit(X)
    for kind in (sp.csr_matrix, sp.csc_array):
        thin = clone(dense).fit(kind(X))
        np.testing.assert_allclose(thin.components_, dense.components_, rtol=1e-6, atol=1e-8)
        codes = thin.transform(kind(X))
        np.testing.assert_allclose(codes, dense.transform(X), rtol=1e-5, atol=1e-7)
