"""Solvers that need other data or terms than `test_scale` has: V·2ᵏ is solved in the same steps too."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import SOLVERS
from conicnmf.families.one_factor import Discriminant, ProjectiveNMF, QuadraticProjection
from conicnmf.model.operators import LowRank
from conicnmf.solve.choice import fitting
from tests.solve import test_scale

RNG = np.random.default_rng(6)
V = RNG.random((7, 9)) * 100
ROOT = RNG.standard_normal((7, 7))
POWERS = (-200, -14, 14, 200)


def gain(c):
    """½tr(WᵀAW) with orthonormal columns, A indefinite."""
    return QuadraticProjection(c * (ROOT + ROOT.T), 2)


def ratio(c):
    """½wᵀAw with wᵀBw = 1 and an A of two directions."""
    directions = LowRank(np.sqrt(c) * ROOT[:, :2])
    return QuadraticProjection(directions, 1, ROOT @ ROOT.T + np.eye(7))


def self_fit(c):
    """‖V − WWᵀV‖²."""
    return ProjectiveNMF(c * V, 2)


def discriminant(c):
    """½wᵀS_Bw with wᵀS_Ww = 1, where w gets shorter as the data get larger."""
    return Discriminant(c * V, [0, 1, 2] * 3, ridge=0.1)


def counts(c):
    """Kullback and Leibler's divergence."""
    return cn.factorize(c * V, 2, loss="kl")


def few(c):
    """Squares and a price for each entry of H that is not zero."""
    price = cn.NonZeros(float(c**2) * 50)
    return cn.factorize(c * V, 3, W=[cn.NonNegative(), cn.UnitNorm()], H=[cn.NonNegative(), price])


def plain(c):
    """Squares alone."""
    return cn.factorize(c * V, 2)


DEGREE = {gain: 1, ratio: 1, self_fit: 2, discriminant: 0, counts: 1, few: 2, plain: 2}
"""The objective of c times the data is this power of c as large."""
MORE = [
    (plain, cn.Race((cn.HALS(), cn.Multiplicative()), starts=2, laps=2)),
    (plain, cn.Chain((cn.HALS(), cn.ANLS()))),
    (plain, cn.Coded()),
    (plain, cn.Online(batch_size=5)),
]
FITS = [
    (made, solver)
    for made in (gain, ratio, self_fit, discriminant, counts, few)
    for solver in fitting(made(1.0))
    if solver.name != "JointNLP"
]
CASES = [pytest.param(made, own, id=f"{made.__name__}-{own.name}") for made, own in MORE + FITS]


@pytest.mark.parametrize(("made", "solver"), CASES)
def test_powers_of_two_change_nothing(made, solver):
    base = made(1.0).solve(solver, stop=3, throw=False)
    for power in POWERS:
        c = 2.0**power
        result = made(c).solve(solver, stop=3, throw=False)
        assert result.status is base.status
        assert result.objective / c ** DEGREE[made] == pytest.approx(base.objective, rel=1e-8)
        alone = {discriminant: 1 / c}.get(made, 1.0) if len(base.factors) == 1 else None
        for own in base.factors:
            size = alone or np.linalg.norm(result[own]) / np.linalg.norm(base[own])
            np.testing.assert_allclose(result[own] / size, base[own], rtol=1e-8, atol=1e-10)


SINGLE = {
    "gain": (lambda c: QuadraticProjection(_single(c * (ROOT + ROOT.T)), 2), 1.0, 0.0),
    "norm": (lambda c: QuadraticProjection(_single(PSD), 1, _single(c * (PSD + EYE))), -1.0, -0.5),
    "self-fit": (lambda c: ProjectiveNMF(_single(c * V), 2), 2.0, 0.0),
    "discriminant": (lambda c: Discriminant(_single(c * V), [0, 1, 2] * 3, ridge=0.1), 0.0, -1.0),
}
"""One factor in single precision, with the powers of c that objective and factor grow with."""
PSD, EYE = ROOT[:, :2] @ ROOT[:, :2].T, np.eye(7)


def _single(X):
    return X.astype(np.float32)


@pytest.mark.parametrize("name", SINGLE)
def test_one_factor_in_single_precision(name):
    made, degree, length = SINGLE[name]
    for solver in (own for own in fitting(made(1.0)) if own.name != "JointNLP"):
        base = made(1.0).solve(solver, stop=3, throw=False)
        for power in (-30, 30):
            c = 2.0**power
            result = made(c).solve(solver, stop=3, throw=False)
            assert result.status is base.status
            assert result.objective / c**degree == pytest.approx(base.objective, rel=1e-8)
            np.testing.assert_allclose(result.W / c**length, base.W, rtol=1e-7, atol=1e-8)


def test_every_solver_is_among_them():
    """But for machines whose units are those of their activations, which are absolute."""
    seen = {solver.name for _, solver in (*test_scale.CASES, *MORE, *FITS)}
    assert set(SOLVERS.names()) - seen <= {"SCFC", "MiniBatch"}


def _tied(R, W, H, c):
    return cp.sum_squares(R) + c * cp.sum_squares(W[:, 0] - H[0, :7])


def _sum_of_two(R, W, H, c):
    return cp.norm(R, "fro") + cp.norm(W[:, 0] - H[0, :7], 1) * np.sqrt(c)


COUPLINGS = {
    "length": (lambda R, W, H, c: cp.norm(R, "fro"), 1),
    "largest": (lambda R, W, H, c: cp.max(cp.abs(R)), 1),
    "singular values": (lambda R, W, H, c: cp.normNuc(R), 1),
    "tied factors": (_tied, 2),
    "two parts": (_sum_of_two, 1),
}
"""What ties factors and is kept as CVXPY's expression, with the power of the data it grows with."""


@pytest.mark.parametrize("kind", COUPLINGS)
def test_couplings_are_in_units_of_one_too(kind):
    form, degree = COUPLINGS[kind]

    def made(c):
        W, H = (cp.Variable(shape, nonneg=True) for shape in ((7, 2), (2, 9)))
        return cn.Problem(cp.Minimize(form(c * V - W @ H, W, H, c)))

    base = made(1.0).solve("TangentPlane", stop=3)
    for power in POWERS:
        c = 2.0**power
        result = made(c).solve("TangentPlane", stop=3)
        assert result.objective / c**degree == pytest.approx(base.objective, rel=1e-8)
        assert result.relative_error == pytest.approx(base.relative_error, rel=1e-8)
        assert made(c).objective(result.factors) == pytest.approx(result.objective, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize(
    "form", [lambda R: cp.log_sum_exp(cp.abs(R)), lambda R: cp.maximum(cp.norm(R), 1e6)]
)
def test_a_coupling_that_bends_somewhere_stays_in_its_units(form, scale):
    W, H = (cp.Variable(shape, nonneg=True) for shape in ((7, 2), (2, 9)))
    problem = cn.Problem(cp.Minimize(form(scale * V / 100 - W @ H)))
    assert problem.normalized() is problem  # it grows with no power of the data
