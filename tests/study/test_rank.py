"""The rank by held-out entries: the errors are those of a brute force, the rank is the true one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.report import plot_rank
from conicnmf.study import cross_validate_rank
from conicnmf.study.held_out import deal_entries
from conicnmf.study.rank import _choice


@pytest.fixture(scope="module")
def noisy():
    return cn.datasets.low_rank(30, 40, 3, noise=0.1, seed=1).V


@pytest.fixture(scope="module")
def choice(noisy):
    return cross_validate_rank(noisy, range(1, 6), folds=3, stop=300)


def test_the_true_rank_is_found(choice):
    assert choice.rank == choice.best == 3
    assert choice.table.index.tolist() == [1, 2, 3, 4, 5]
    assert "rank 3" in repr(choice)


def test_fitted_errors_fall_with_the_rank_and_held_out_errors_do_not(choice):
    assert choice.table["fitted"].is_monotonic_decreasing
    assert not choice.table["held_out"].is_monotonic_decreasing


def test_held_out_errors_are_those_of_a_fit_without_the_entries(noisy, choice):
    part = deal_entries(noisy.shape, 3)[2]
    loss = cn.WeightedFrobenius(~part)
    problem = cn.factorize(np.where(part, 0, noisy), 2, loss=loss)
    result = problem.solve(seed=0, stop=300)
    error = sum(
        (noisy[i, j] - result.W[i] @ result.H[:, j]) ** 2 for i, j in np.argwhere(part)
    ) / sum(noisy[i, j] ** 2 for i, j in np.argwhere(part))
    row = choice.folds.query("rank == 2 and fold == 2")
    assert row["held_out"].item() == pytest.approx(error, rel=1e-9)
    assert row["fitted"].item() == pytest.approx(result.relative_error, rel=1e-9)


def test_means_and_standard_errors_are_taken_over_the_folds(choice):
    own = choice.folds.query("rank == 4")["held_out"].to_numpy()
    assert choice.table.loc[4, "held_out"] == pytest.approx(own.mean())
    assert choice.table.loc[4, "standard_error"] == pytest.approx(own.std(ddof=1) / np.sqrt(3))


def test_the_numbers_do_not_depend_on_the_number_of_processes(noisy):
    one, two = (
        cross_validate_rank(noisy, [1, 2], folds=2, stop=20, n_jobs=n).folds for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_entries_are_dealt_out_once_each_and_unknown_ones_never():
    observed = np.random.default_rng(0).random((7, 9)) > 0.3
    parts = deal_entries((7, 9), 3, seed=5, observed=observed)
    np.testing.assert_array_equal(np.sum(parts, axis=0), observed)
    sizes = [part.sum() for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_unknown_entries_play_no_part(noisy):
    observed = np.random.default_rng(0).random(noisy.shape) > 0.1
    spoiled = np.where(observed, noisy, 1e3)
    clean, dirty = (
        cross_validate_rank(V, [2, 3], folds=2, stop=30, observed=observed).folds
        for V in (np.where(observed, noisy, 0), spoiled)
    )
    pd.testing.assert_frame_equal(clean, dirty)


def test_sparse_data_are_data_with_zeros(noisy):
    V = np.where(noisy > np.median(noisy), noisy, 0)
    dense, thin = (
        cross_validate_rank(X, [2], folds=2, stop=10).folds for X in (V, sp.csr_array(V))
    )
    pd.testing.assert_frame_equal(dense, thin)


def test_entries_of_sparse_masks_are_those_of_dense_ones(noisy):
    observed = np.random.default_rng(0).random(noisy.shape) > 0.5
    V = np.where(observed, noisy, 0)
    dense, thin = (
        cross_validate_rank(X, [2, 3], folds=3, stop=20, observed=seen).folds
        for X, seen in ((V, observed), (sp.csr_array(V), sp.csr_array(observed)))
    )
    pd.testing.assert_frame_equal(dense, thin, rtol=1e-6)


def test_sparse_masks_are_never_densified(monkeypatch):
    V = sp.random_array((300, 200), density=0.05, rng=np.random.default_rng(0)).tocsr()
    observed = V != 0
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("densified"))
    found = cross_validate_rank(V, [1], folds=2, stop=3, observed=observed)
    assert np.isfinite(found.table["held_out"].item())


def test_counts_are_judged_by_their_own_loss():
    rng = np.random.default_rng(0)
    truth = 4 * rng.gamma(1.0, size=(25, 2)) @ rng.gamma(1.0, size=(2, 40))
    V = rng.poisson(truth).astype(float)
    choice = cross_validate_rank(V, [1, 2, 4], folds=3, loss="kl", stop=100)
    assert choice.rank == 2
    part = deal_entries(V.shape, 3)[0]
    result = cn.factorize(np.where(part, 0, V), 2, loss=cn.KullbackLeibler(weights=~part)).solve(
        stop=100
    )
    y, p, mean = V[part], (result.W @ result.H)[part] + 1e-3 * V.mean(), V.mean()
    shift = np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y
    error = np.sum(p - y * np.log(p) + shift) / np.sum(mean - y * np.log(mean) + shift)
    row = choice.folds.query("rank == 2 and fold == 0")
    assert row["held_out"].item() == pytest.approx(error, rel=1e-9)


def test_a_model_with_constraints_is_judged_under_them(noisy):
    def sparse(V, rank, loss):
        return cn.factorize(V, rank, loss=loss, W=[cn.NonNegative(), cn.Sparseness(min=0.9)])

    solver = cn.ProjectedGradient()
    free = cross_validate_rank(noisy, [3], folds=2, solver=solver, stop=50)
    bound = cross_validate_rank(noisy, [3], folds=2, solver=solver, stop=50, problem=sparse)
    assert bound.table["held_out"].item() > free.table["held_out"].item()


def test_more_starts_never_fit_worse(noisy):
    one, many = (
        cross_validate_rank(noisy, [4], folds=2, stop=30, n_starts=n).folds["fitted"]
        for n in (1, 3)
    )
    assert (many <= one).all()


def test_the_smallest_rank_within_one_standard_error_is_chosen():
    folds = pd.DataFrame(
        {
            "rank": [1, 1, 2, 2, 3, 3],
            "held_out": [0.9, 1.0, 0.52, 0.58, 0.4, 0.6],
            "fitted": [0.8, 0.8, 0.4, 0.4, 0.3, 0.3],
        }
    )
    found = _choice(folds)
    assert (found.rank, found.best) == (2, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranks": []}, "one rank or more, got none"),
        ({"ranks": [0]}, "positive integer"),
        ({"ranks": [1], "folds": 1}, "whole number >= 2"),
        ({"ranks": [1], "folds": 99}, "12 known entries cannot fill 99 folds"),
        ({"ranks": [1], "observed": np.ones((3, 4))}, "boolean array of V's shape"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(cn.InputError, match=message):
        cross_validate_rank(np.ones((3, 4)), **options)


def test_the_picture_rings_the_chosen_rank(choice):
    (axes,) = plot_rank(choice).axes
    ring = [line for line in axes.get_lines() if line.get_markersize() == 12]
    assert ring[0].get_xdata()[0] == 3
    assert "rank 3" in axes.get_title(loc="left")


@pytest.mark.parametrize("ranks", [np.array("s"), np.array(1.5), 10**400])
def test_one_rank_that_is_none_is_refused(ranks):
    with pytest.raises(cn.InputError, match="rank"):
        cn.cross_validate_rank(np.ones((4, 5)), ranks)
