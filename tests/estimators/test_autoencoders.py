"""Autoencoders as scikit-learn estimators, put through its own checks and used in pipelines."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from conicnmf.errors import InputError
from conicnmf.estimators import NMFSC, PSD, SCFC, SESM, SCFCClassifier


@parametrize_with_checks(
    [
        SCFC(4, max_iter=10, ramp=5),
        SCFCClassifier(4, max_iter=60, ramp=20),
        NMFSC(4, max_iter=10),
        SESM(4, max_iter=2),
        PSD(4, max_iter=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300], X[300:600], y[300:600]


def test_codes_feed_a_linear_svm_in_a_grid_search(digits):
    X, y, X_test, y_test = digits
    coder = SCFC(32, standardize=True, image_shape=(8, 8), max_iter=30, ramp=15)
    pipeline = make_pipeline(coder, StandardScaler(), LinearSVC(C=0.1, dual=False))
    search = GridSearchCV(pipeline, {"scfc__sparseness_w": [0.5, 0.8]}, cv=2).fit(X, y)
    assert search.score(X_test, y_test) > 0.65


def test_classifier_predicts_ten_classes_from_one_bank_each(digits):
    X, y, X_test, y_test = digits
    model = SCFCClassifier(6, standardize=True, max_iter=80, ramp=20, image_shape=(8, 8)).fit(X, y)
    assert model.transform(X_test).shape == (300, 60)
    assert model.decision_function(X_test).shape == (300, 10)
    assert model.score(X_test, y_test) > 0.7


def test_transform_is_one_product_and_the_transfer_function(digits):
    X, *_ = digits
    model = SCFC(5, standardize=True, max_iter=10, ramp=5).fit(X)
    factors = model.result_.factors
    Z = X[:7] - X[:7].mean(axis=1, keepdims=True)
    Z /= Z.std(axis=1, keepdims=True)
    expected = np.tanh(factors["beta"].T * (Z @ factors["W"] + factors["theta"].T)) ** 3
    assert np.allclose(model.transform(X[:7]), expected)


def test_inferred_nmfsc_codes_have_the_mean_norms_of_training(digits):
    X, *_ = digits
    model = NMFSC(8, sparseness_w=0.7, max_iter=20).fit(X)
    codes = model.transform(X[:20])
    H = model.result_.H
    assert np.allclose(codes.sum(axis=1), np.abs(H).sum(axis=0).mean())
    assert np.allclose(np.linalg.norm(codes, axis=1), np.linalg.norm(H, axis=0).mean())


def test_one_class_is_refused(digits):
    with pytest.raises(InputError, match="one class"):
        SCFCClassifier().fit(digits[0], np.zeros(300))


@pytest.mark.parametrize("estimator", [SCFC, SCFCClassifier])
def test_a_fit_goes_on_from_its_checkpoint(digits, tmp_path, estimator):
    X, y = digits[0][:60], digits[1][:60] % 3
    settings = {"ramp": 4, "standardize": True}
    whole = estimator(5, **settings, max_iter=12).fit(X, y).components_
    kept = settings | {"checkpoint": tmp_path / "state"}
    estimator(5, **kept, max_iter=7).fit(X, y)
    assert len(list(tmp_path.rglob("*.npz"))) == (1 if estimator is SCFC else 3)
    rest = estimator(5, **kept, max_iter=12).fit(X, y)
    np.testing.assert_allclose(rest.components_, whole, atol=1e-12)
    with pytest.raises(InputError, match="checkpoint of another solve"):
        estimator(5, **kept).fit(X[:30], y[:30])


def test_banks_do_not_hang_on_the_number_of_processes(digits):
    X, y = digits[0][:60], digits[1][:60] % 3
    one, two = (
        SCFCClassifier(4, ramp=4, max_iter=8, standardize=True, n_jobs=n).fit(X, y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.components_, two.components_)
    shares = one.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (one.classes_[shares.argmax(axis=1)] == one.predict(X)).all()
