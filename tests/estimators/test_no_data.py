"""What is no data for an estimator is refused with the rule, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.estimators import (
    L0NMF,
    NonNegativeLDA,
    ProjectiveNMF,
    SCFCClassifier,
    SparseNMF,
    SparsePCA,
)

X = np.random.default_rng(0).random((12, 5))
TABLE = pd.DataFrame(X, columns=list("abcde"))


@pytest.mark.parametrize(
    ("model", "given", "says"),
    [
        (
            SparseNMF(2),
            TABLE.assign(name="x"),
            r"string.*got DataFrame of shape \(12, 6\); keep its",
        ),
        (SparseNMF(2), TABLE.assign(t=pd.Timestamp("2020")), r"got DataFrame.*select_dtypes"),
        (
            SparseNMF(2),
            X[0],
            r"2D array.*got ndarray of shape \(5,\); Reshape .*reshape\(1, -1",
        ),
        (SparseNMF(2), TABLE["a"], r"got Series of shape \(12,\); give a matrix"),
        (SparseNMF(2), X[None], r"dim 3.*got ndarray of shape \(1, 12, 5\); give"),
        (SparseNMF(2), X[:0], r"0 sample.*; give a matrix"),
        (SparseNMF(2), None, r"got None; Reshape your data"),
        (SparseNMF(2), "data.csv", r"got 'data.csv'; give a matrix"),
        (SparseNMF(2), {"a": 1}, r"got \{'a': 1\}; give a matrix"),
        (SparseNMF(2), [[1, 2], [3]], r"got \[\[1, 2\], \[3\]\]; give a matrix"),
        (SparseNMF(2), 1j * X, r"Complex.*; take its real part"),
        (SparseNMF(2), np.where(X > 0.9, np.inf, X), r"infinity.*; replace or drop"),
        (SparsePCA(2), np.where(X > 0.9, np.nan, X), r"NaN.*; SparseNMF leaves missing entries"),
        (SparsePCA(2), sp.csr_array(X), r"Sparse.*got csr_array.*; use X.toarray"),
        (ProjectiveNMF(2), X - 0.5, r"Negative.*; shift or clip X"),
        (L0NMF(2), [*X.astype(str).tolist(), ["a"] * 5], r"string.*; give a matrix"),
    ],
)
def test_what_is_no_data_is_refused(model, given, says):
    with pytest.raises(
        cn.InputError, match=f"(?s)^X is not valid data for {type(model).__name__}: .*{says}"
    ):
        model.fit(given)


@pytest.mark.parametrize("model", [NonNegativeLDA(), SCFCClassifier(2)], ids=["LDA", "SCFC"])
@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([0, 1], "inconsistent numbers.*; give one label per sample"),
        (None, r"requires y.*; pass the labels of the samples, fit\(X, y\)"),
        ([0.0, np.nan] * 6, "NaN.*; leave samples without a label out"),
        (np.linspace(0, 1, 12), "y must name classes, got .*; label them by class"),
        ([1] * 12, r"two classes, got one class, \[1\]; label samples of another"),
    ],
)
def test_labels_that_are_none_are_refused(model, y, says):
    with pytest.raises(cn.InputError, match=f"(?s){says}"):
        model.fit(X, y)


def test_other_features_are_refused():
    model = SparseNMF(2, max_iter=200).fit(X)
    with pytest.raises(
        cn.InputError, match=r"4 features.*got ndarray of shape \(12, 4\); give the f"
    ):
        model.transform(X[:, :4])
