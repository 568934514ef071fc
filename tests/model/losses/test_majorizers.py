"""Majorizers touch a loss where they were made and lie above it, whatever stands round the variable."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.model.terms import Quadratic, Separable

RNG = np.random.default_rng(0)
V = RNG.random((6, 5)) + 0.1
MASK = (RNG.random(V.shape) < 0.6) * RNG.integers(1, 4, V.shape)
S = np.array([[1.0, 0.5], [0.2, 2.0]])

SHAPES = {
    "plain": lambda loss: cn.factorize(V, 2, loss=loss),
    "offset": lambda loss: cn.factorize(V, 2, loss=loss, offset="feature", b=["nonnegative"]),
    "three factors": lambda loss: cn.factorize(V, (2, 3), loss=loss),
    "masked factor": lambda loss: cn.compose(
        cn.Approx(V, "M * W @ H", loss=loss),
        rank=2,
        constants={"M": (np.arange(12).reshape(6, 2) % 3 > 0) * 1.0},
    ),
    "two fits": lambda loss: cn.compose(
        cn.Approx(V, "W @ H", loss=loss), cn.Approx(V[:3], "X @ H"), rank=2
    ),
}
LOSSES = {
    "weights": cn.WeightedFrobenius(MASK),
    "kl": cn.KullbackLeibler(),
    "weighted kl": cn.KullbackLeibler(weights=MASK),
    "is": cn.ItakuraSaito(scale=2.0),
    "beta 0.5": cn.BetaDivergence(0.5),
    "beta 1.5": cn.BetaDivergence(1.5),
    "beta 3": cn.BetaDivergence(3.0),
    "huber": cn.Huber(0.2, weights=MASK),
    "absolute": cn.Absolute(scale=0.5),
}


def blocks_of(problem, seed):
    factors = problem.start(None, np.random.default_rng(seed))
    for held, B in problem.subproblems(factors):
        for block in held.block.majorized:
            yield held, held.majorized(B, block), B


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), far=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
def test_majorizers_touch_and_dominate_in_every_place(shape, loss, seed, far):
    kinds = set()
    for held, above, B in blocks_of(shape(loss), seed):
        kinds.add(above.block.kind)
        other = np.abs(B + far * np.random.default_rng(seed).standard_normal(B.shape))
        size = held.loss(B) + held.block.unit
        if isinstance(loss, cn.Absolute):
            # No square is above a magnitude at its kink: residuals near zero are a little below.
            assert above.loss(B) == pytest.approx(held.loss(B), rel=1e-9)
            assert above.loss(other) >= held.loss(other) * (1 - 1e-3)
            continue
        assert above.loss(B) == pytest.approx(held.loss(B), abs=1e-9 * size)
        assert above.loss(other) >= held.loss(other) - 1e-9 * size
        np.testing.assert_allclose(
            above.loss_gradient(B), held.loss_gradient(B), atol=1e-8 * size, rtol=1e-8
        )
    assert kinds


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_form_of_a_majorizer_is_the_same_function(shape, loss):
    for _, above, B in blocks_of(shape(loss), 1):
        other = RNG.random(B.shape) + 0.1
        value = pytest.approx(above.loss(other), rel=1e-6)
        forms = above.block.abilities
        assert above.expression(cp.Constant(other)).value == value
        assert above.expression(cp.Variable(B.shape)).is_convex()
        if "quadratic" in forms:
            assert above.quadratic().value(other) == value
        if "vectorized" in forms:
            assert above.vectorized().value(other.reshape(-1, 1)) == value
        if "reduced" in forms:
            assert above.reduced().value(other) == value
        if "separable" in forms:
            grown = above.separable().value(other) - above.separable().value(B)
            assert above.loss(B) + grown == value


def test_a_quadratic_and_its_least_squares_agree_for_singular_curvature():
    A = RNG.random((4, 2)) @ RNG.random((2, 3))  # rank two, three components
    G, B = A.T @ A, RNG.random((3, 5))
    q = Quadratic(G, G @ RNG.random((3, 5)), 7.0)
    reduced = q.reduced()
    assert reduced.value(B) == pytest.approx(q.value(B), rel=1e-9)
    np.testing.assert_array_equal(reduced.R, np.triu(reduced.R))  # compiled programs store no more


def test_a_long_component_does_not_hide_the_others():
    """An L1 on H alone lets a column of W grow without end while its row of H fades."""
    sizes = np.array([1.0, 1e8, 1.0])
    A, B = RNG.random((6, 3)) * sizes, RNG.random((3, 5)) / sizes[:, None]
    Y, M = RNG.random((6, 5)), (RNG.random((6, 5)) > 0.3) * 1.0
    for loss in (cn.WeightedFrobenius(M), cn.WeightedFrobenius(sp.csr_array(M))):
        for kind in (np.float64, np.float32):
            own = A.astype(kind)
            assert loss.reduced(Y, own).value(B) == pytest.approx(loss.value(Y, own, B), rel=1e-5)


def test_separable_sums_with_a_wall_at_zero_stay_there():
    wall = Separable.of(np.array([[0.0, 1.0]]), 1.0, 1.0, (1.0, 0.0))
    assert wall.value(np.array([[0.1, 1.0]])) == np.inf
    assert np.isfinite(wall.value(np.array([[0.0, 2.0]])))
