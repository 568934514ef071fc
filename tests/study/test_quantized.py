"""Quantized and binary codes."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from conicnmf.errors import InputError
from conicnmf.study.measures import binary_codes, quantize


@pytest.mark.parametrize("k", [1, 2, 5])
def test_rows_are_rounded_as_by_k_means_from_the_same_start(k):
    H = np.random.default_rng(0).gamma(0.5, size=(4, 60))
    for row, mine in zip(H, quantize(H, k), strict=True):
        begin = np.quantile(row, (np.arange(k) + 0.5) / k)[:, None]
        means = KMeans(k, init=begin, n_init=1, tol=0).fit(row[:, None])
        np.testing.assert_allclose(mine, means.cluster_centers_[means.labels_, 0])


def test_rows_of_few_values_are_not_changed():
    H = np.random.default_rng(1).choice([0.0, 1.0, 5.0], (3, 40))
    np.testing.assert_array_equal(quantize(H, 3), H)
    np.testing.assert_array_equal(quantize(np.ones((1, 5)), 3), np.ones((1, 5)))


def test_binary_codes_are_all_sums_of_parts():
    rng = np.random.default_rng(2)
    W, H = rng.random((5, 3)), rng.standard_normal((3, 4))
    parts = W * np.abs(H).max(axis=1)
    found = {tuple(column.round(12)) for column in binary_codes(W, H).T}
    sums = {
        tuple(sum((parts[:, j] for j in range(3) if mask >> j & 1), np.zeros(5)).round(12))
        for mask in range(8)
    }
    assert found == sums
    with pytest.raises(InputError, match="take some of the components"):
        binary_codes(np.ones((2, 17)), np.ones((17, 2)))
