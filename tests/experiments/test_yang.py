"""The claims of Yang and Laaksonen (2007), on small versions of the data."""

from __future__ import annotations

import numpy as np
import pytest

from conicnmf.datasets import local
from conicnmf.datasets.catalog import STORED
from experiments import reproduce
from experiments.yang_faces import faces, fisher, tuned
from experiments.yang_filters import share_in_rows


def need(*names):
    """Skip where the faces are not on this machine."""
    for name in names:
        if local.find(STORED[name]) is None:
            pytest.skip(f"{STORED[name].file} is not on this machine; set {local.VARIABLE}")


def columns(outcome, name, key="method"):
    return dict(zip(outcome.table[key], outcome.table[name], strict=True))


def test_projections_separate_parts_and_factorizations_do_not():
    need("cbcl_faces")
    outcome = reproduce("yang-orthogonality", seeds=[0])
    rho = columns(outcome, "lowest ρ")
    assert rho["projective NMF"] > 0.95
    assert rho["NLHN"] > 0.95
    assert rho["NMF"] < rho["NLHN"] - 0.1
    error = columns(outcome, "relative error")
    assert error["NLHN on-line"] <= 1.05 * error["NLHN"]
    assert {"orthogonality", "basis_nlhn", "basis_nmf", "basis_pca"} <= outcome.figures.keys()


def test_no_filter_beats_the_optimal_one_under_its_constraints():
    need("olivetti", "yale")
    outcome = reproduce("yang-table1")
    ratio = columns(outcome, "Fisher ratio, w ≥ 0")
    assert max(ratio, key=ratio.get) == "NLDA, optimal"
    test = columns(outcome, "test EER %")
    assert test["NLDA, optimal"] < test["LDA"]
    assert f"{test['NLDA, optimal']:.1f} %" in outcome.reason
    # Every rate has an interval by subject round it.
    for which in ("training", "test"):
        for rate, interval in zip(
            outcome.table[f"{which} EER %"], outcome.table[f"{which}, 95 %"], strict=True
        ):
            low, high = map(float, interval.split(" to "))
            assert low - 0.05 <= rate <= high + 0.05


def test_filters_are_drawn_and_the_sparse_one_keeps_its_band():
    need("olivetti", "yale")
    outcome = reproduce("yang-filters")
    sparse = outcome.table["method"].str.contains("≥")
    assert (outcome.table.loc[sparse, "sparseness"] >= 0.85 - 1e-6).all()
    assert outcome.table["share of w² at the part"].between(0, 1).all()
    assert "filters" in outcome.figures


def test_the_published_rule_ranks_faces_by_their_light():
    need("olivetti", "yale")
    outcome = reproduce("yang-ranking")
    light = columns(outcome, "rank correlation with brightness")
    assert light["NKFDA, published rule"] > 0.9
    assert abs(light["KFDA"]) < 0.3
    assert outcome.verdict == "partly"
    assert outcome.reason.endswith(
        "3 of 4 published sentences hold; these do not: KFDA weighs dark faces least."
    )


def test_both_collections_are_cropped_alike_and_in_even_light():
    need("olivetti", "yale")
    ours, theirs = faces("olivetti", "glasses"), faces("yale", "glasses")
    assert ours.shape == theirs.shape == (28, 24)
    assert (ours.y.sum(), theirs.y.sum()) == (119, 36)
    for V in (ours.V, theirs.V):
        assert V.min() >= 0
        assert V.max() <= 1
        np.testing.assert_allclose(V.mean(axis=0), 0.5, atol=0.05)
    hair = faces("olivetti", "facial_hair", coarse=True)
    assert hair.shape == (14, 12)
    assert np.bincount(hair.y).tolist() == [310, 70]


def test_settings_are_chosen_by_their_error_on_other_subjects():
    need("olivetti")
    data = faces("olivetti", "glasses", coarse=True)

    def fit(V, y, good):
        return fisher(V, y, None) if good else np.zeros(len(V))

    assert tuned(fit, (False, True), data) is True


def test_shares_of_rows_add_up():
    picture = np.random.default_rng(0).random((6, 4))
    halves = share_in_rows(picture, (0.0, 0.5)) + share_in_rows(picture, (0.5, 1.0))
    assert halves == pytest.approx(1.0)
