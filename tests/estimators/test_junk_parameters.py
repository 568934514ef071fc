"""Parameters are checked when a fit begins, and what is wrong is said in our words."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import conicnmf as cn
from conicnmf import estimators
from tests.settings.junk import JUNK

X = np.random.default_rng(0).random((12, 9)) + 0.1
y = np.arange(12) % 2
PARAMETERS = [
    (name, parameter)
    for name in estimators.__all__
    if isinstance(getattr(estimators, name), type)
    for parameter in inspect.signature(getattr(estimators, name)).parameters
]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_junk_is_answered_in_our_words(name, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a word may be a path
    kind = getattr(estimators, name)
    known = inspect.signature(kind).parameters
    usual = {"n_components": 2, "max_iter": 2}
    for junk in JUNK.values():
        settings = {k: v for k, v in usual.items() if k in known} | {parameter: junk}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two iterations are too few
            try:
                kind(**settings).fit(X, y)
            except cn.ConicNMFError as error:
                says = str(error)
                assert "; " in says or "\n" in says, says
