"""Projection from a level that is nearly known, against the projection that starts from nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conicnmf.geometry.hoyer import project_hoyer
from conicnmf.geometry.projected_step import advance_rows


def advance(B, ratio, norm=1.0, signed=True, levels=None):
    out, failed = np.empty_like(B), np.zeros(len(B), dtype=bool)
    levels = np.full(len(B), -np.inf) if levels is None else levels
    advance_rows(B, B, 0 * B, 0.0, 0.0, ratio, norm, signed, levels, out, failed)
    return out, failed


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 60),
    st.floats(0.05, 0.95),
    st.booleans(),
    st.integers(0, 999),
    st.integers(-9, 9),
)
def test_same_point_as_the_plain_projection_from_any_level(n, sparseness, signed, seed, exponent):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((3, n)) * 10.0**exponent
    ratio = np.sqrt(n) - sparseness * (np.sqrt(n) - 1)
    expected = project_hoyer(B, ratio, 1.0, signed)
    for levels in (np.full(3, -np.inf), np.zeros(3), np.full(3, 0.9), rng.random(3)):
        found, failed = advance(B, ratio, 1.0, signed, levels)
        assert np.allclose(found[~failed], expected[~failed], atol=1e-9)
        # Only rows whose wanted support is a single entry or all of them are left to the other.
        assert not failed.any() or ratio**2 <= 2 or ratio**2 >= n - 1 or not signed


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_norms_are_kept_and_precision_too(dtype):
    B = np.random.default_rng(0).standard_normal((4, 500)).astype(dtype)
    found, failed = advance(B, 6.0, norm=0.0)
    assert found.dtype == dtype
    assert not failed.any()
    assert np.allclose(np.linalg.norm(found, axis=1), np.linalg.norm(B, axis=1), rtol=1e-5)
    ratios = np.abs(found).sum(axis=1) / np.linalg.norm(found, axis=1)
    assert np.allclose(ratios, 6.0, rtol=1e-5)


@pytest.mark.parametrize("row", [np.ones(6), np.zeros(6), np.array([1.0, 1, 0, 0, 0, 0])])
def test_rows_without_a_level_are_left_to_the_other_projection(row):
    _, failed = advance(row[None], 1.2)
    assert failed.all()


def test_momentum_and_step_move_before_the_projection():
    rng = np.random.default_rng(0)
    B, before, gradient = rng.standard_normal((3, 2, 30))
    out, failed = np.empty_like(B), np.zeros(2, dtype=bool)
    levels = np.full(2, -np.inf)
    advance_rows(B, before, gradient, 0.5, 0.1, 3.0, 2.0, True, levels, out, failed)
    moved = B + 0.5 * (B - before) - 0.1 * gradient
    assert np.allclose(out, project_hoyer(moved, 6.0, 2.0, True))


@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("n", [10, 101])
def test_single_precision_meets_both_norms_on_plateaus(n, width):
    """Entries that are almost equal: nearly all of each is taken away, and no digit is left over."""
    rng = np.random.default_rng(3)
    B = (1 + width * rng.standard_normal((40, n))).astype(np.float32)
    for sparseness in (0.3, 0.6, 0.9):
        ratio = np.sqrt(n) - sparseness * (np.sqrt(n) - 1)
        found, failed = advance(B, ratio)
        kept = found[~failed].astype(float)
        assert len(kept) > 20 or width < 1e-3
        norms = np.linalg.norm(kept, axis=1)
        assert np.allclose(norms, 1, atol=1e-6)
        assert np.allclose(np.abs(kept).sum(axis=1), ratio * norms, rtol=1e-6)
