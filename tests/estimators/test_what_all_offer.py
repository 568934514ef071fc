"""What each estimator offers follows from what it does; a new one is seen here without being listed."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from test_names_of_features import MODELS
from test_nothing_kept import KEPT

from conicnmf import estimators

EVERY = [own for own in vars(estimators).values() if inspect.isclass(own)]
ONE_WAY = {
    "NonNegativeLDA": "a sample is more than its projection on one direction",
    "NonNegativeKernelFDA": "a sample is more than its projection on one direction",
    "SCFCClassifier": "its banks learn to tell classes apart, not to reconstruct",
}
"""Codes of these do not go back to samples."""
KERNEL = "NonNegativeKernelFDA"
"""It compares new samples with those that it was fitted to."""


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_what_belongs_together_is_there_together(kind):
    assert issubclass(kind, BaseEstimator)
    assert hasattr(kind, "predict") == hasattr(kind, "predict_proba")
    assert hasattr(kind, "predict") == issubclass(kind, ClassifierMixin)
    assert hasattr(kind, "inverse_transform") == (kind.__name__ not in ONE_WAY)
    parameters = inspect.signature(kind).parameters
    assert "n_jobs" in parameters or "n_starts" not in parameters  # starts do not need each other
    for ability in ("fit_transform", "transform", "get_feature_names_out", "set_output"):
        assert hasattr(kind, ability)
    for name in ("fit", "transform"):
        assert next(iter(inspect.signature(getattr(kind, name)).parameters.items()))[0] == "self"
        assert list(inspect.signature(getattr(kind, name)).parameters)[1] == "X"


def test_every_estimator_is_asked_for_its_names_and_for_what_it_keeps():
    names = {kind.__name__ for kind in EVERY}
    assert {type(model).__name__ for model in MODELS} == names
    assert {type(model).__name__ for model in KEPT} == names - {KERNEL}
