"""Rows in several places are projected as rows in one piece are."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from conicnmf.geometry.band import project_band
from conicnmf.geometry.cones import cone_ratios
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.geometry.long_rows import LongRows
from conicnmf.geometry.simplex import project_simplex

KINDS = {
    "signed": lambda rng, shape: rng.standard_normal(shape),
    "positive": lambda rng, shape: rng.random(shape),
    "negative": lambda rng, shape: -rng.random(shape),
    "ties": lambda rng, shape: np.round(rng.standard_normal(shape)),
    "constant": lambda rng, shape: np.repeat(rng.integers(-1, 3, (shape[0], 1)), shape[1], axis=1),
    "far": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape),
}


def in_places(X, rng):
    """Return the rows in three places, and these."""
    cuts = np.unique(rng.integers(1, X.shape[1], size=2))
    parts = np.split(X, cuts, axis=1)

    def ask(work, combine):
        return reduce(combine, [work(k, part) for k, part in enumerate(parts)])

    return LongRows(ask, X.shape[1]), parts


def whole(cut, parts):
    """Return all places side by side."""
    return np.hstack([cut(k, part) for k, part in enumerate(parts)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_bands_and_simplexes(kind, seed):
    rng = np.random.default_rng([seed, len(kind)])
    X = KINDS[kind](rng, (4, int(rng.integers(2, 60)))).astype(float)
    low = np.array([0.0, 0.3, 0.8, 1.0])
    high = np.array([0.0, 1.0, 0.8 + 0.1 * rng.random(), 1.0])
    rows, parts = in_places(X, rng)
    cut, products = rows.directions(*(cone_ratios(X.shape[1], s) for s in (high, low)))
    P, U = project_band(X, low, high)
    size = np.abs(X).max() + 1e-300
    np.testing.assert_allclose(whole(cut, parts), U, atol=1e-9)
    near = whole(cut.times(np.maximum(products, 0.0)), parts)
    np.testing.assert_allclose(near / size, P / size, atol=1e-12)
    summed = whole(rows.simplex(1.7), parts)
    np.testing.assert_allclose(summed, project_simplex(X, 1.7), atol=1e-10 * max(size, 1.0))


def test_measures_of_rows():
    rng = np.random.default_rng(2)
    X = rng.random((3, 20)).astype(np.float32)
    X[1] = 0
    rows, _ = in_places(X, rng)
    np.testing.assert_allclose(rows.sparseness(), hoyer_sparseness(X), rtol=1e-5)
    np.testing.assert_allclose(rows.lengths, np.linalg.norm(X, axis=1), rtol=1e-6)
    np.testing.assert_allclose(rows.totals, X.sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal([rows.low, rows.top], [X.min(axis=1), X.max(axis=1)])
