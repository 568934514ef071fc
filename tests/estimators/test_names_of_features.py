"""The names of a data frame come back from every estimator: features out, codes, results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from conicnmf import one_factor
from conicnmf.estimators import (
    L0NMF,
    NMF,
    NMFSC,
    PSD,
    SCFC,
    SESM,
    Factorizer,
    HebbianNMF,
    MiniBatchNMF,
    NonNegativeKernelFDA,
    NonNegativeLDA,
    NonNegativeSparseCoding,
    ProjectiveNMF,
    SCFCClassifier,
    SparseNMF,
    SparsePCA,
)

X = pd.DataFrame(
    np.random.default_rng(0).random((24, 5)) + np.repeat(np.eye(2), 12, axis=0) @ np.ones((2, 5)),
    index=[f"tumor {i}" for i in range(24)],
    columns=["p53", "kras", "egfr", "myc", "brca"],
)
Y = np.repeat(["benign", "malignant"], 12)
MODELS = [
    Factorizer(2),
    L0NMF(2),
    NMF(2),
    NMFSC(2, max_iter=5),
    PSD(2, max_iter=5),
    SCFC(2, max_iter=5),
    SESM(2, max_iter=5),
    HebbianNMF(2),
    MiniBatchNMF(2),
    NonNegativeKernelFDA(),
    NonNegativeLDA(),
    NonNegativeSparseCoding(2),
    ProjectiveNMF(2),
    SCFCClassifier(2, max_iter=5, ramp=2),
    SparseNMF(2),
    SparsePCA(2),
]
OF_SAMPLES = (NonNegativeKernelFDA,)
"""Their one component is a weight of each sample."""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_names_go_in_and_out(model):
    model.fit(X, Y)
    assert list(model.feature_names_in_) == list(X.columns)
    codes = model.set_output(transform="pandas").transform(X)
    assert list(codes.columns) == list(model.get_feature_names_out())
    assert list(codes.index) == list(X.index)
    known = X.index if isinstance(model, OF_SAMPLES) else X.columns
    results = getattr(model, "results_", [getattr(model, "result_", None)])
    for result in filter(None, results):
        assert list(result.W_frame.index) == list(known)
        for entries in result.top(2).entries.values():
            assert {name for name, _ in entries} <= set(known)


@pytest.mark.parametrize("model", [NMF(2), SparseNMF(2), SCFC(2, max_iter=5)], ids=repr)
def test_codes_that_a_result_holds_have_the_names_of_samples(model):
    assert list(model.fit(X).result_.H_frame.columns) == list(X.index)


@pytest.mark.parametrize(
    ("problem", "known"),
    [
        (one_factor.ProjectiveNMF(X.T, 2), X.columns),
        (one_factor.Discriminant(X.T, Y), X.columns),
        (one_factor.QuadraticProjection(X.cov()), X.columns),
        (one_factor.KernelDiscriminant(X.T, Y, "rbf", center=True), X.index),
    ],
    ids=["projective", "discriminant", "quadratic", "kernel"],
)
def test_problems_of_one_factor_keep_the_names_of_a_data_frame(problem, known):
    result = problem.solve(stop=5, throw=False)
    assert list(result.W_frame.index) == list(known)
