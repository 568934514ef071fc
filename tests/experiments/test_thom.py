"""The claims of Thom, Schweiger and Palm (2011), on small data and, marked long, in full."""

from __future__ import annotations

import numpy as np
import pytest

from conicnmf.datasets import local
from conicnmf.datasets.catalog import STORED
from experiments import reproduce
from experiments.thom_digits import code_sparseness, svm_error
from experiments.thom_supervised import _rarer


@pytest.fixture
def need():
    """Skip where data are not on this machine."""

    def check(name):
        if local.find(STORED[name]) is None:
            pytest.skip(f"{name} is not on this machine; set {local.VARIABLE}")

    return check


def test_codes_of_digits_are_told_apart_and_as_sparse_as_estimated(need):
    need("mnist")
    outcome = reproduce("thom-mnist")
    (row,) = outcome.table.to_dict("records")
    assert row["test error %"] < 16
    assert row["code sparseness"] == pytest.approx(row["estimate"], rel=0.03)
    assert outcome.verdict == "agrees"


def test_filters_of_natural_images_are_gabor_functions(need):
    need("natural_images")
    table = reproduce("thom-gabor").table.set_index("sparseness of W")
    assert table.loc["0.75", "median ρ"] >= 0.93
    assert table.loc["none", "median ρ"] < table.loc["0.75", "median ρ"]


def test_teacher_lowers_the_error_and_keeps_both_signs_of_filters(need):
    need("mnist")
    table = reproduce("thom-supervised").table.set_index(["variant", "iterations"])
    taught, plain = table.loc[("supervised", 40)], table.loc[("unsupervised", 40)]
    assert taught["test error %"].item() < plain["test error %"].item()
    assert taught["smaller sign's share"].item() > 3 * plain["smaller sign's share"].item()


def test_error_is_lowest_at_middling_to_high_sparseness(need):
    need("mnist")
    outcome = reproduce("thom-grid")
    assert outcome.verdict == "agrees"
    errors = outcome.table.set_index(["σ_W", "σ_H"])["test error %"]
    assert errors.idxmin() == (0.65, 0.65)


def test_error_of_separable_codes_is_zero_and_that_of_noise_is_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    codes = np.eye(3)[:, y] + 0.01 * rng.standard_normal((3, 60))
    assert svm_error(codes, y, codes, y)[0] == 0
    noise = rng.standard_normal((3, 60))
    assert svm_error(noise, y, rng.standard_normal((3, 60)), y)[0] > 30


def test_rarer_sign_of_strokes_is_absent():
    strokes = np.abs(np.random.default_rng(0).standard_normal((9, 4)))
    assert _rarer(strokes).max() == 0
    assert _rarer(np.array([[1.0], [-1.0]])).item() == 0.5


def test_estimate_of_code_sparseness_is_right_for_independent_rows():
    rng = np.random.default_rng(0)
    H = rng.laplace(size=(100, 3000))
    H /= np.linalg.norm(H, axis=1, keepdims=True)
    rows = (np.sqrt(3000) - np.abs(H).sum(axis=1)) / (np.sqrt(3000) - 1)

    class Found:
        pass

    Found.H = H
    mean, estimate, _ = code_sparseness(Found, rows.mean())
    assert mean == pytest.approx(estimate, rel=0.03)


@pytest.mark.long
@pytest.mark.parametrize("name", ["thom-gabor", "thom-mnist", "thom-grid"])
def test_published_claim_holds_in_full(need, name):
    need("natural_images" if name == "thom-gabor" else "mnist")
    assert reproduce(name, quick=False).verdict == "agrees"


@pytest.mark.long
def test_teacher_lowers_the_mean_error_after_equal_iterations(need):
    need("mnist")
    table = reproduce("thom-supervised", quick=False).table
    means = table.groupby(["filters", "variant", "iterations"])["test error %"].mean().unstack()
    assert (means.xs("supervised", level=1)[40] < means.xs("unsupervised", level=1)[40]).all()
