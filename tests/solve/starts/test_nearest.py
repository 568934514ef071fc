"""Common points of constraints that have no projection together; only proofs are called infeasible."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.starts.nearest import nearest

PLUS = cn.NonNegative()


def drawn(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def fixed_at(point, share=0.3, seed=1):
    mask = np.random.default_rng(seed).random(point.shape) < share
    return cn.Fixed(mask, np.where(mask, point, 0.0))


def parts_of(owners):
    """Return non-negative components of which each owns some of the columns."""
    sizes = 1 + np.random.default_rng(2).random(len(owners))
    return np.where(np.asarray(owners) == np.arange(3)[:, None], sizes, 0.0)


SIGNED = drawn((3, 5))
RISING = np.sort(drawn((3, 5), 3), axis=1)
PARTS = parts_of([0, 1, 1, 2, 2, 2])
HILL = np.array([[0.0, 1.0, 4.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0, 1.0, 0.0]])
MEETING = {
    "known entries of either sign and an upper bound": (
        SIGNED,
        [cn.Sparseness(max=0.5), fixed_at(SIGNED)],
    ),
    "known entries, order and a lower bound": (
        RISING,
        [cn.Monotone(), cn.Sparseness(min=0.03), fixed_at(RISING)],
    ),
    "a negative sum and an upper bound": (
        -np.abs(SIGNED),
        [cn.Sparseness(max=0.5), cn.FactorSum(-5.0)],
    ),
    "known entries of parts that are sparse": (
        PARTS,
        [PLUS, cn.Orthogonal(), fixed_at(PARTS), cn.Sparseness(min=0.1)],
    ),
    "peaks with known entries and a band": (
        HILL,
        [PLUS, cn.Unimodal(), fixed_at(HILL), cn.Sparseness(0.4, 0.8)],
    ),
    "few entries within a box, sparse in both directions": (
        PARTS,
        [PLUS, cn.Cardinality(3), cn.Box(0, 2), cn.Sparseness(min=0.9, each="sample")],
    ),
}


@pytest.mark.parametrize("name", MEETING)
def test_a_common_point_is_found(name):
    point, terms = MEETING[name]
    own = [float(term.violation(point).max()) for term in terms]
    assert max(own) <= 1e-9, "the test's own point"
    problem = cn.factorize(np.ones((4, point.shape[1])), len(point), H=terms)
    block = problem.blocks[1]
    for seed in range(5):
        assert block.violation(nearest(block, drawn(point.shape, seed))) <= 1e-6


def test_what_is_not_proved_is_no_contradiction():
    """Entries near one are not sparse, but no cone program says so."""
    problem = cn.factorize(np.ones((8, 6)), 3, H=[cn.Box(0.9, 1.0), cn.Sparseness(min=0.8)])
    with pytest.raises(cn.SolveError, match="does not prove") as caught:
        problem.solve(cn.TangentPlane())
    assert caught.value.result.status is cn.Status.INFEASIBLE
    assert "H: " in str(caught.value)


@pytest.mark.parametrize(
    "terms", [[PLUS, cn.UnitNorm(), cn.NormBall(2.0)], [PLUS, cn.Cardinality(5), cn.Box(0, 2)]]
)
def test_starts_are_positive_in_sets_without_a_cone_too(terms):
    """A divergence is infinite where the model is zero, which a projection may leave behind."""
    V = 1 + np.random.default_rng(0).random((6, 5))
    W, H = np.eye(6, 2), np.ones((2, 5))
    problem = cn.factorize(V, 2, W=terms, loss="kl")
    start = problem.start({"W": W, "H": H}, np.random.default_rng(0))
    assert problem.violation(start) <= 1e-6


def test_losses_that_cvxpy_cannot_state_have_no_say_in_the_domain():
    """The model has no entry where a fixed row of W is zero, so the divergence stays infinite."""
    V = 1 + np.random.default_rng(0).random((6, 5))
    nothing = cn.Fixed(np.ones((6, 2), dtype=bool), np.zeros((6, 2)))
    problem = cn.compose(
        cn.Approx(V, "W @ H", loss="kl"),
        cn.Approx(V[:3], "X @ H", loss=cn.BetaDivergence(3.0)),
        rank=2,
        W=[nothing],
    )
    result = problem.solve(throw=False)
    assert result.status is cn.Status.NOT_FINITE
    assert not result.certificate()


def test_a_contradiction_is_not_proved_by_large_numbers():
    """Cone solvers have absolute tolerances: for them 1e30 is no number."""
    size = 2.0**99
    bounded = cn.Convex(lambda X: cp.sum(X, axis=0) <= 1.3 * size, name="bounded")
    problem = cn.factorize(
        size**2 * np.eye(4, 3), 2, W=[PLUS, cn.Sparseness(0.7, 0.7), bounded], H=[cn.Box(0, size)]
    )
    block = problem.blocks[0]
    found = nearest(block, size * np.abs(drawn(block.shape)))
    assert block.violation(found) <= 1e-6


def test_known_entries_of_parts_leave_no_row_without_one():
    """A place where the largest entry is known to be zero goes to another component."""
    known = cn.Fixed(np.eye(3, 2, dtype=bool), np.zeros((3, 2)))
    problem = cn.factorize(np.ones((3, 4)), 2, W=[cn.Orthogonal(), known])
    block = problem.blocks[0]
    found = nearest(block, np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 1.0]]))
    np.testing.assert_array_equal(found, [[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]])
    both = cn.Fixed(np.ones((3, 2), dtype=bool), np.ones((3, 2)))
    with pytest.raises(
        cn.InfeasibleError, match="keep 2 entries of a piece from zero, and 1 may be"
    ):
        cn.factorize(np.ones((3, 4)), 2, W=[cn.Orthogonal(), both]).solve()
