"""Sums of powers over entries are minimized exactly, with and without a plane, poles included."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conicnmf.kernels.separable import minimize_separable
from conicnmf.model.terms import Separable

POWERS = {
    "itakura-saito": (0.0, -2.0),
    "one half": (0.0, -1.5),
    "kl": (0.0, -1.0),
    "three halves": (0.5, -0.5),
    "squares": (1.0, 0.0),
    "cubes": (2.0, 0.0),
}


def random_sum(powers, seed, shape=(3, 5), zeros=0.3, curvature=0.0):
    rng = np.random.default_rng(seed)
    base = rng.random(shape) * 10.0 ** rng.integers(-3, 3, shape)
    base[rng.random(shape) < zeros / 2] = 0.0
    down, up = rng.random(shape) * (rng.random(shape) > zeros), 0.1 + rng.random(shape)
    return Separable.added([Separable.of(base, down, up, powers)], 0.1 * (curvature > 0), curvature)


def slope_at(sum_, B):
    with np.errstate(divide="ignore", invalid="ignore"):
        return sum_.gradient(B)


@pytest.mark.parametrize("curvature", [0.0, 2.0])
@pytest.mark.parametrize("powers", POWERS.values(), ids=POWERS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_without_a_plane_slopes_vanish_or_point_out_of_the_orthant(powers, curvature, seed):
    sum_ = random_sum(powers, seed, curvature=curvature)
    B = minimize_separable(sum_.base, sum_.slopes)
    assert (B >= 0).all()
    assert np.isfinite(B).all()
    alive = (sum_.base > 0) & (B > 0)
    size = sum(np.abs(w) for w in sum_.slopes.values())
    assert (
        np.abs(slope_at(sum_, B)[alive])
        <= 1e-9 * size[alive] * (1 + B / np.where(sum_.base > 0, sum_.base, 1.0))[alive] ** 2
    ).all()
    assert sum_.value(B) <= sum_.value(sum_.base) + 1e-12


@pytest.mark.parametrize("powers", POWERS.values(), ids=POWERS)
@pytest.mark.parametrize("equal", [False, True])
@settings(max_examples=25, deadline=None)
@example(seed=114)  # an entry just off zero, with half the digits of the multiplier
@example(seed=147589)
@given(seed=st.integers(0, 10**6))
def test_with_a_plane_the_multiplier_is_shared_by_all_entries(powers, equal, seed):
    sum_ = random_sum(powers, seed)
    rng = np.random.default_rng(seed + 1)
    shape = sum_.base.shape
    T = 0.1 + rng.random(shape) if equal else rng.standard_normal(shape)
    walled = (sum_.base == 0) & (powers[0] > 0)
    T[:, 0] = 0.5 + rng.random(shape[0])
    T = np.where(walled, -np.abs(T), T) if not equal else np.where(walled, 0.0, T)
    offset = 1.0 if equal else 0.0
    held = (T > 0).any(axis=1) & ~(walled.all(axis=1))
    B = minimize_separable(sum_.base, sum_.slopes, T, offset, held, equal)
    assert (B >= 0).all()
    assert np.isfinite(B).all()
    for j in np.flatnonzero(held):
        b, t, base = B[j], T[j], sum_.base[j]
        reach = np.abs(t) @ b + offset
        gap = t @ b - offset
        # An entry that just leaves zero moves with a root of the multiplier for β > 2.
        assert gap >= -1e-7 * reach
        if equal:
            assert gap <= 1e-7 * reach
        own = Separable(base[None], {e: w[j][None] for e, w in sum_.slopes.items()})
        slope = slope_at(own, b[None])[0]
        inside = (b > 0) & (t != 0) & (base > 0)
        if inside.any() and (equal or gap <= 1e-7 * reach):
            ratios = slope[inside] / t[inside]
            size = np.abs(list(own.slopes.values())).max() / np.abs(t[inside]).min()
            assert np.ptp(ratios) <= 1e-6 * size


@pytest.mark.parametrize("powers", [(0.0, -1.0), (0.5, -0.5), (0.0, -2.0), (1.0, 0.0)], ids=str)
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_a_cone_solver(powers, equal, seed):
    sum_ = random_sum(powers, seed, zeros=0.0)
    base = np.random.default_rng(seed).random(sum_.base.shape) + 0.5
    sum_ = Separable(base, sum_.slopes)
    T = np.ones(base.shape) if equal else np.random.default_rng(seed).standard_normal(base.shape)
    held = np.ones(len(base), dtype=bool)
    B = minimize_separable(base, sum_.slopes, T, float(equal), held, equal)
    X = cp.Variable(base.shape, nonneg=True)
    inner = cp.sum(cp.multiply(T, X), axis=1)
    program = cp.Problem(cp.Minimize(sum_.expression(X)), [inner == 1 if equal else inner >= 0])
    program.solve(solver="CLARABEL")
    assert sum_.value(B) == pytest.approx(program.value, abs=1e-6 * (1 + abs(program.value)))
    assert sum_.value(B) <= program.value + 1e-6


def test_an_entry_without_a_barrier_takes_what_the_plane_lacks():
    base, slopes = np.array([[0.0, 1.0]]), {0.0: np.ones((1, 2)), -1.0: np.array([[0.0, -1.0]])}
    T, held = np.array([[0.1, -1.0]]), np.array([True])
    B = minimize_separable(base, slopes, T, 0.0, held)
    # ν = 10 is the pole of the first entry; the second is then 1/(1 + 10).
    np.testing.assert_allclose(B, [[10 / 11, 1 / 11]], rtol=1e-12)


def test_a_plane_without_a_positive_entry_is_kept_by_zeros():
    slopes = {0.0: np.ones((1, 2)), -1.0: -np.ones((1, 2))}
    B = minimize_separable(np.ones((1, 2)), slopes, np.array([[-1.0, 0.0]]), 0.0, np.array([True]))
    assert B[0, 0] < 1e-12
    assert B[0, 1] == 1.0


def test_single_precision_is_kept_and_inputs_are_not_changed():
    base = np.ones((2, 3), dtype=np.float32)
    slopes = {0.0: 2 * base, -1.0: -base}
    B = minimize_separable(base, slopes)
    assert B.dtype == np.float32
    assert (base == 1).all()
    assert (slopes[0.0] == 2).all()


def test_a_base_whose_inverse_overflows_is_taken_for_zero():
    slopes = {1.0: np.ones((1, 2)), -1.0: -np.ones((1, 2))}
    near, at = (Separable(np.array([[b, 1.0]]), slopes) for b in (1e-310, 0.0))
    point = cp.Constant(np.array([[0.5, 2.0]]))
    assert float(near.expression(point).value) == float(at.expression(point).value)
