"""Intervals from whole groups drawn anew."""

import numpy as np
import pytest

from conicnmf.errors import InputError
from conicnmf.study.measures import equal_error_rate, interval_by_group


def test_samples_of_one_group_come_and_go_together():
    groups = np.repeat([3, 1, 2], [2, 5, 1])
    seen = []
    interval_by_group(lambda drawn: float(seen.append(drawn) or 0), groups, draws=50)
    for drawn in seen:
        counts = np.bincount(drawn, minlength=8)
        for group in (1, 2, 3):
            assert len(set(counts[groups == group])) == 1
        assert sum(counts[[0, 2, 7]]) == 3  # as many groups as there are


def test_of_groups_of_one_it_is_the_known_interval_of_a_mean():
    x = np.random.default_rng(0).standard_normal(400)
    low, high = interval_by_group(lambda drawn: x[drawn].mean(), np.arange(400), draws=4000)
    half = 1.96 * x.std() / 20
    assert (low, high) == pytest.approx((x.mean() - half, x.mean() + half), abs=0.15 * half)


def test_alike_samples_make_it_wider():
    x = np.repeat(np.random.default_rng(0).standard_normal(40), 10)
    alone = interval_by_group(lambda drawn: x[drawn].mean(), np.arange(400))
    together = interval_by_group(lambda drawn: x[drawn].mean(), np.arange(400) // 10)
    assert np.ptp(together) > 2 * np.ptp(alone)


def test_draws_without_a_figure_do_not_count_and_none_at_all_is_refused():
    x = np.array([1.0, np.nan])
    assert interval_by_group(lambda drawn: x[drawn].mean(), ["a", "b"]) == (1.0, 1.0)
    with pytest.raises(InputError, match="not a number for any draw"):
        interval_by_group(lambda drawn: np.nan, ["a", "b"])


def test_equal_error_rate_is_the_one_written_out():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scores, labels = rng.integers(0, 6, 25).astype(float), rng.random(25) < 0.4
        labels[:2] = True, False
        cuts = np.append(np.unique(scores), np.inf)
        missed = np.array([np.mean(scores[labels] < cut) for cut in cuts])
        false = np.array([np.mean(scores[~labels] >= cut) for cut in cuts])
        k = np.argmax(missed >= false)
        a, b = missed[k - 1] - false[k - 1], missed[k] - false[k]
        wanted = missed[k - 1] - a / (b - a) * (missed[k] - missed[k - 1])
        assert equal_error_rate(scores, labels) == pytest.approx(wanted)
