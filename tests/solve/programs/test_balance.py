"""What CVXPY adds to a program takes the units of the factor, so answers do not depend on units."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.programs.prox_program import ProxProgram

PENALTIES = {
    "largest": lambda X: cp.max(X),
    "norm": lambda X: cp.norm(X, "fro"),
    "magnitudes of differences": lambda X: cp.norm1(cp.diff(X, axis=1)),
    "singular values": lambda X: cp.normNuc(X),
    "norm of sums": lambda X: cp.norm(cp.pos(cp.sum(X, axis=0)), 2) + cp.max(X),
}


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("power", [-60, 40])
def test_a_penalty_of_any_kind_has_the_same_answer_in_other_units(name, power):
    V = np.random.default_rng(0).random((6, 5))
    unit = 2.0**power

    def solved(c):
        weighed = cn.ConvexPenalty(lambda H: 0.3 * c * PENALTIES[name](H))
        ball = cn.NormBall(1.5)
        problem = cn.factorize(c * V, 2, W=[cn.NonNegative(), ball], H=[cn.NonNegative(), weighed])
        return problem.solve(cn.TangentPlane(engine="conic"), stop=3)

    plain, other = solved(1.0), solved(unit)
    np.testing.assert_array_equal(other.W, plain.W)
    np.testing.assert_array_equal(other.H, unit * plain.H)


@pytest.mark.parametrize("name", PENALTIES)
def test_the_balanced_program_has_the_optimum_of_the_stated_one(name):
    B = np.random.default_rng(1).normal(size=(2, 3))
    stated = cn.ConvexPenalty(lambda X: 1e7 * PENALTIES[name](1e-7 * X))
    above = cn.Convex(lambda X: 1e6 * X >= 1e5)
    found, records = ProxProgram(B.shape, [above], [stated]).solve(B, 0.5)
    assert len(records) == 1, "it is solved at once"
    X = cp.Variable(B.shape)
    distance = cp.sum_squares(X - B) / 2 + 0.5 * PENALTIES[name](X)
    cp.Problem(cp.Minimize(distance), [X >= 0.1]).solve(solver="CLARABEL")
    np.testing.assert_allclose(found, X.value, atol=5e-5)


@pytest.mark.parametrize("name", PENALTIES)
def test_a_named_backend_sees_the_factors_units_inside_norms_and_squares(name):
    V = np.random.default_rng(0).random((6, 5))

    def solved(c):
        weighed = cn.ConvexPenalty(lambda H: 0.3 * c * PENALTIES[name](H))
        problem = cn.factorize(
            c * V, 2, W=[cn.NonNegative(), cn.NormBall(1.5)], H=[cn.NonNegative(), weighed]
        )
        return problem.solve(cn.TangentPlane(engine="conic", backend="ECOS"), stop=2)

    if name != "singular values":  # ECOS has no semidefinite cones
        np.testing.assert_array_equal(solved(2.0**-30).H, 2.0**-30 * solved(1.0).H)


def test_functions_that_are_no_powers_keep_their_own_numbers():
    """A Huber function is a square below its edge and a line above it."""
    X = np.array([[0.5, 3.0]])
    bent = cn.ConvexPenalty(lambda B: cp.sum(cp.huber(B, 1.0)))
    for c in (2.0**-20, 2.0**20):
        assert bent.scaled(c).value(c * X) == pytest.approx(bent.value(X), rel=1e-12)
