"""What a fitted model keeps, and what it can do without the samples."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import conicnmf as cn
from conicnmf import estimators

RNG = np.random.default_rng(0)
X = RNG.random((400, 6)) @ RNG.random((6, 60))
Y = np.repeat(["a", "b", "c", "d"], 100)
CUT_SHORT = pytest.mark.filterwarnings("ignore:.*(reached the limit|Maximum number)")
KEPT = [
    *(kind(3, max_iter=3) for kind in (estimators.NMF, estimators.MiniBatchNMF)),
    *(
        getattr(estimators, name)(3, max_iter=3)
        for name in (
            "Factorizer",
            "HebbianNMF",
            "L0NMF",
            "NonNegativeSparseCoding",
            "ProjectiveNMF",
            "SparseNMF",
            "SparsePCA",
            "NMFSC",
            "SESM",
            "PSD",
            "SCFC",
        )
    ),
    estimators.NonNegativeLDA(),
    estimators.SCFCClassifier(2, max_iter=3, sparseness_h=None),
]


@CUT_SHORT
@pytest.mark.parametrize("model", KEPT, ids=lambda model: type(model).__name__)
def test_no_samples_are_kept(model):
    y = Y[:400] if not isinstance(model, estimators.NonNegativeLDA) else Y == "a"
    small = len(pickle.dumps(model.fit(X, y)))
    # Codes of the fit are a part of the result; the samples are twenty times as large.
    assert small < X.nbytes / 2, f"{small} bytes"
    assert pickle.loads(pickle.dumps(model)).transform(X[:2]).shape[0] == 2


@CUT_SHORT
@pytest.mark.parametrize("kind", ["NMFSC", "SESM", "PSD", "SCFC"])
def test_codes_of_autoencoders_go_back_to_samples(kind):
    model = getattr(estimators, kind)(3, max_iter=3).fit(X)
    again = model.inverse_transform(model.transform(X[:5]))
    assert again.shape == (5, 60)
    with pytest.raises(cn.InputError, match="3 columns"):
        model.inverse_transform(X)


def test_a_certificate_takes_the_samples_again_and_no_others():
    model = estimators.SparseNMF(3, tol=1e-8).fit(X)
    assert model.certificate(X, stationarity=1e-1)
    with pytest.raises(cn.InputError):
        model.certificate(X[::-1])


def test_starts_in_several_processes_give_the_same_model():
    one, two = (estimators.SparseNMF(3, n_starts=3, n_jobs=n, solver="HALS").fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_shares_of_classes_sum_to_one_and_agree_with_the_prediction():
    for y in (Y, Y == "a"):
        model = estimators.SCFCClassifier(2, max_iter=5, sparseness_h=None).fit(X, y)
        shares = model.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
