"""`check_loss` and `check_penalty` accept what is right and name what is wrong."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.extend import Loss
from conicnmf.model.terms import Penalty, Quadratic, Reduced
from conicnmf.testing import check_loss, check_penalty

Y = np.random.default_rng(8).random((5, 4))
Frobenius = cn.Frobenius


def broken_loss(**changes):
    return type("Broken", (Frobenius,), changes)()


def spoil(self, Y, A, B):
    slopes = Frobenius.gradient(self, Y, A, B)
    A[0, 0] = np.nextafter(A[0, 0], 9)
    return slopes


def dense_only(self, Y, A, B):
    return Frobenius.value(self, np.zeros(Y.shape) if sp.issparse(Y) else Y, A, B)


def tall(self, Y, A):
    return Reduced(A, Y.toarray() if sp.issparse(Y) else Y, 0.0)


LOSSES = {
    "the gradient of": broken_loss(gradient=lambda self, Y, A, B: 0 * B),
    "the quadratic form of": broken_loss(
        quadratic=lambda self, Y, A: (A.T @ A, A.T @ Y),
        gradient=lambda self, Y, A, B: 2 * A.T @ (A @ B - Y),
    ),
    "the reduced form of .* disagrees": broken_loss(
        reduced=lambda self, Y, A: Reduced(A.T @ A, A.T @ Y, 0.0)
    ),
    "fill up with zeros": broken_loss(reduced=tall),
    "is not the gradient's two parts": broken_loss(
        ratio=lambda self, Y, A, B: (np.zeros_like(B), np.ones_like(B))
    ),
    "has negative parts": broken_loss(ratio=lambda self, Y, A, B: (-B, B)),
    "the expression of .* disagrees": broken_loss(
        expression=lambda self, Y, A, B: cp.norm(Y - A @ B, "fro")
    ),
    "must be convex": broken_loss(
        expression=lambda self, Y, A, B: (
            -cp.sum_squares(Y - A @ B) if isinstance(B, cp.Variable) else cp.sum_squares(Y - A @ B)
        )
    ),
    "on sparse data": broken_loss(value=dense_only),
    "changed its input": broken_loss(gradient=spoil),
    "another loss": broken_loss(transposed=lambda self: Frobenius(2.0)),
    "the majorizer of .* does not touch": broken_loss(
        majorize=lambda self, Y, A, B: Quadratic(*self.quadratic(Y, A), 1e3)
    ),
    "the majorizer of .* is below": broken_loss(
        majorize=lambda self, Y, A, B: Quadratic.touching(
            self.value(Y, A, B), self.gradient(Y, A, B), 0 * (A.T @ A), B
        )
    ),
    "the masked parts of .* do not add up": broken_loss(masked=lambda self, observed: self),
    "the bound by ratio of .* is below": broken_loss(powers=(0.0, 0.0)),
    "is not convex in B": broken_loss(
        value=lambda self, Y, A, B: -Frobenius.value(self, Y, A, B), abilities=frozenset()
    ),
}
for name in ("gradient", "quadratic", "reduced", "ratio", "expression", "masked"):
    setattr(type(LOSSES["is not convex in B"]), name, getattr(Loss, name))


def test_right_losses_pass():
    check_loss(Frobenius(0.5), Y)
    check_loss(Frobenius(), sp.csr_array(Y))


@pytest.mark.parametrize("sentence", LOSSES)
def test_a_mistake_in_a_loss_is_named(sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_loss(LOSSES[sentence], Y)


class Quartic(Penalty):
    """A newcomer's penalty, right in every respect."""

    def value(self, B):
        return float((B**4).sum())

    def expression(self, B):
        return cp.sum(cp.power(B, 4))

    def gradient(self, B):
        return 4 * B**3


def nudge(self, B):
    slopes = 4 * B**3
    B[0, 0] = np.nextafter(B[0, 0], 9)
    return slopes


def broken_penalty(base=Quartic, **changes):
    return type("Broken", (base,), changes)()


PENALTIES = {
    "the expression of .* disagrees": broken_penalty(
        expression=lambda self, B: cp.sum(cp.power(B, 2))
    ),
    "must be convex": broken_penalty(expression=lambda self, B: -cp.sum_squares(B)),
    "the gradient of": broken_penalty(gradient=lambda self, B: B**3),
    "turns float32 into float64": broken_penalty(gradient=lambda self, B: 4 * B.astype(float) ** 3),
    "the orthant form of": broken_penalty(orthant=lambda self: (1.0, 0.0)),
    "the slope of": broken_penalty(slope=lambda self, B: B),
    "is not convex": broken_penalty(
        base=Penalty, value=lambda self, B: float(np.sqrt(np.abs(B)).sum())
    ),
    "changed its input": broken_penalty(gradient=nudge),
    "claims 'orthant' but": broken_penalty(orthant=lambda self, B: (0.0, 0.0)),
    "twice is another": broken_penalty(transposed=lambda self: cn.L1(1.0)),
}


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_right_penalty_passes(nonneg):
    check_penalty(Quartic(), nonneg)


@pytest.mark.parametrize("sentence", PENALTIES)
def test_a_mistake_in_a_penalty_is_named(sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_penalty(PENALTIES[sentence])


def test_a_penalty_that_is_linearised_need_not_be_convex():
    check_penalty(
        broken_penalty(
            base=Penalty,
            value=lambda self, B: float(np.sqrt(np.abs(B)).sum()),
            slope=lambda self, B: 0.5 / np.sqrt(B),
        )
    )
