"""Huber's loss, magnitudes and logistic losses agree with their formulas in every form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.testing import check_loss

RNG = np.random.default_rng(5)
Y = RNG.random((6, 5)) + 0.1
BITS = (RNG.random((6, 5)) < 0.5) * 1.0
MASK = RNG.random((6, 5)) < 0.6
WEIGHTS = {
    "none": None,
    "mask": MASK,
    "sparse": sp.csr_array(MASK * (0.1 + RNG.random((6, 5)))),
    "feature": RNG.random((6, 1)) + 0.1,
    "sample": RNG.random((1, 5)) + 0.1,
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("delta", [1e-3, 0.2, 10.0])
def test_huber_agrees_in_every_form(delta, weights):
    check_loss(cn.Huber(delta, weights=weights, scale=0.6), Y)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_magnitudes_agree_in_every_form(weights):
    check_loss(cn.Absolute(weights=weights, scale=2.0), Y, seed=1)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_logistic_agrees_in_every_form(weights):
    check_loss(cn.Logistic(weights=weights), BITS)


def test_the_limits_of_huber_are_squares_and_magnitudes():
    A, B = RNG.random((6, 2)), RNG.random((2, 5))
    assert cn.Huber(1e3).value(Y, A, B) == pytest.approx(cn.Frobenius().value(Y, A, B))
    tiny = cn.Huber(1e-9, scale=0.5e9).value(Y, A, B)
    assert tiny == pytest.approx(cn.Absolute().value(Y, A, B), rel=1e-6)


@pytest.mark.parametrize("loss", [cn.Huber(0.3), cn.Absolute()], ids=str)
def test_multiples_and_units(loss):
    A, B = RNG.random((6, 2)), RNG.random((2, 5))
    value = loss.value(Y, A, B)
    assert loss.times(3.0).value(Y, A, B) == pytest.approx(3 * value)
    assert loss.scaled(8.0).value(8 * Y, 8 * A, B) == pytest.approx(value)


def test_large_log_odds_do_not_overflow():
    far = cn.Logistic().value(np.array([[1.0, 0.0]]), np.array([[1.0]]), np.array([[-1e4, 1e4]]))
    assert far == pytest.approx(2e4)


@pytest.mark.parametrize("V", [Y, 2 * BITS, sp.csr_array(0.5 * BITS)], ids=["reals", "two", "half"])
def test_logistic_data_are_zero_or_one(V):
    with pytest.raises(cn.InputError, match=r"Logistic needs V 0 or 1, got .*; write"):
        cn.factorize(V, 2, loss="logistic")


def test_explain_says_that_non_negative_log_odds_want_an_offset():
    assert "1/2 and more" in cn.factorize(BITS, 2, loss="logistic").explain()
    assert "1/2" not in cn.factorize(BITS, 2, loss="logistic", W=[]).explain()
    assert "1/2" not in cn.factorize(BITS, 2, loss="logistic", offset="feature").explain()


@pytest.mark.parametrize("loss", ["huber", "absolute", "l1", "logistic"])
def test_single_precision_is_kept(loss):
    V = BITS.astype(np.float32)
    result = cn.factorize(V, 2, loss=loss).solve(stop=5)
    assert result.W.dtype == result.H.dtype == np.float32


@pytest.mark.parametrize("loss", [cn.Huber(0.1), cn.Absolute()], ids=str)
def test_the_squares_of_a_step_have_the_gradient_of_the_loss(loss):
    A, B = RNG.random((6, 2)), RNG.random((2, 5))
    squares = loss.reweigh(Y, A, B)
    np.testing.assert_allclose(squares.gradient(Y, A, B), loss.gradient(Y, A, B), rtol=1e-9)
    X = cp.Variable(B.shape)
    assert squares.expression(Y, A, X).is_convex()
