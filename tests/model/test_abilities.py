"""What terms say of themselves holds: zero, scale, sign, interiors and half-spaces with offsets."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import Halfspaces
from conicnmf.model.blocks import fitted_block
from conicnmf.model.known import TERMS
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.program import BlockProgram

RNG = np.random.default_rng(0)
PLUS = cn.NonNegative()
CONSTRAINTS = [
    PLUS,
    cn.Box(-1, 2),
    cn.Box(0.5, np.full((3, 6), 2.0)),
    cn.Fixed(np.eye(3, 6, dtype=bool), 0.7),
    cn.Simplex(2.0),
    cn.Simplex(each="sample"),
    cn.NormBall(1.5),
    cn.UnitNorm(),
    cn.UnitNorm(each="sample"),
    cn.Sparseness(0.3, 0.8),
    cn.Sparseness(min=0.4, each="sample"),
    cn.Sparseness(min=[0.0, 0.5, 0.3], max=[0.6, 1.0, 0.3]),
    cn.OnPart(cn.Sparseness(min=0.4), [0, 2, 3, 5]),
    cn.OnPart(cn.NormBall(0.5, each="sample"), [0, 2]),
    cn.Labels([0, 0, 1, 1, -1, 1], 0.2),
    cn.Convex(lambda X: cp.abs(cp.diff(X, axis=1)) <= 0.3),
    cn.ReverseConvex(lambda X: cp.norm(X, 2, axis=1) >= 1),
    cn.Orthonormal(),
    cn.NormIn(np.diag(np.arange(1.0, 7.0))),
    cn.NormIn(np.eye(6), equal=False),
    cn.Monotone(),
    cn.Monotone(increasing=False, each="sample"),
    cn.Unimodal(),
    cn.Cardinality(2),
    cn.Cardinality(1, each="sample"),
    cn.Orthogonal(),
    cn.FactorSum(5.0),
    cn.FactorSum(5.0, equal=True),
    cn.FactorNorm(1.5),
]
PENALTIES = [
    cn.L1(0.3),
    cn.L2(0.2),
    cn.SparsenessReward(0.5),
    cn.ConvexPenalty(lambda X: cp.sum_squares(cp.diff(X, axis=1))),
    cn.ConcavePenalty(lambda X: cp.sum(cp.log(1 + X))),
    cn.LogSum(0.3, eps=0.5),
    cn.CappedL1(0.3, cap=0.5),
    cn.NonZeros(0.3),
    cn.Gain(np.diag(np.arange(6.0))),
    cn.SelfFit(np.eye(6)),
    cn.TotalVariation(0.4),
    cn.Smooth(0.4, order=2),
    cn.GraphLaplacian(0.4, np.eye(6)),
    cn.L21(0.4),
    cn.GroupLasso(0.4, [0, 0, 1, 1, 1, 2]),
    cn.Nuclear(0.4),
    cn.MinimumVolume(0.4),
]


def points(count=5):
    return [RNG.uniform(0, 1, (3, 6)) * RNG.choice([0.1, 1, 3]) for _ in range(count)]


def test_every_term_of_ours_is_tried_here():
    assert {type(t) for t in CONSTRAINTS + PENALTIES} == set(TERMS)


@pytest.mark.parametrize("c", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_a_scaled_set_holds_the_scaled_points(constraint, c):
    scaled = constraint.scaled(c)
    for B in points():
        inside = constraint.project(B) if "project" in constraint.abilities else B
        for X in (B, inside):
            before, after = constraint.violation(X), scaled.violation(c * X)
            np.testing.assert_allclose(after > 1e-9, before > 1e-9)
            if "cone" in constraint.abilities:
                wanted = c * _excess(constraint, X)
                np.testing.assert_allclose(_excess(scaled, c * X), wanted, atol=1e-9)


def _excess(constraint, B):
    """Return the largest violation of the cone form, in units of B where it is linear in B."""
    parts = constraint.cone(cp.Constant(B))
    linear = not isinstance(constraint, cn.Convex)  # its own violation is in the user's unit
    found = max((float(np.max(part.violation())) for part in parts), default=0.0)
    return found if linear else 0.0


@pytest.mark.parametrize("c", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_a_scaled_penalty_costs_the_same_at_the_scaled_point(penalty, c):
    for B in points():
        assert penalty.scaled(c).value(c * B) == pytest.approx(penalty.value(B), rel=1e-12)


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_scale_free_sets_are_cones(constraint):
    if constraint.scale_free and "project" in constraint.abilities:
        for B in points():
            inside = constraint.project(B)
            for c in (1e-3, 20.0):
                assert constraint.violation(c * inside).max() <= 1e-9


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_sets_that_imply_the_orthant_lie_in_it(constraint):
    if constraint.implies_nonnegative:
        for B in points():
            assert (constraint.project(B - 0.5) >= 0).all()


ZERO_ALLOWED = {
    "NonNegative",
    "NormBall",
    "Labels",
    "Convex",
    "Monotone",
    "Unimodal",
    "Cardinality",
    "Orthogonal",
    "FactorNorm",
}


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_zero_is_allowed_where_it_is_in_the_set(constraint):
    name = type(constraint).__name__
    others = (
        "Box(-1, 2)",
        "wᵀBw ≤ 1",
        str(cn.Sparseness(max=0.5)),
        str(cn.OnPart(cn.NormBall(0.5, each="sample"), [0, 2])),
        "FactorSum(total=5.0, equal=False)",
    )
    expected = name in ZERO_ALLOWED or str(constraint) in others
    assert constraint.zero_allowed((3, 6)) == expected


def test_a_band_on_pieces_of_length_one_allows_zero():
    assert cn.Sparseness(min=0.5).zero_allowed((3, 1))


def test_prescribed_sparseness_gets_an_interior_and_others_stay():
    assert cn.Sparseness(0.4, 0.4).with_interior().band() == (0.4, pytest.approx(0.42))
    assert cn.Sparseness(0.4, 0.8).with_interior() == cn.Sparseness(0.4, 0.8)
    assert PLUS.with_interior() is PLUS


@pytest.mark.parametrize("compiled", [True, False])
def test_half_spaces_with_offsets_hold_in_cone_programs(compiled):
    rng = np.random.default_rng(3)
    Y, A = rng.random((8, 6)), rng.random((8, 3))
    normals, offsets = rng.standard_normal((3, 6)), np.array([0.5, -0.2, 1.0])
    block, held = fitted_block("H", Y, A, cn.Frobenius(), [PLUS])
    cut = Cut(Halfspaces(normals, "component", offsets), np.array([True, False, True]))
    if compiled:
        program = BlockProgram(block, more_slots=("component",))
        B = program.at(held).solve([cut]).B
    else:
        B = PlainProgram(block).solve(held, [cut], ("CLARABEL",))[0]
    X = cp.Variable((3, 6), nonneg=True)
    inner = cp.sum(cp.multiply(normals, X), axis=1)
    kept = [inner[0] >= 0.5, inner[2] >= 1.0]
    wanted = cp.Problem(cp.Minimize(cp.sum_squares(Y - A @ X)), kept).solve(solver="CLARABEL")
    assert held.objective(np.maximum(B, 0)) == pytest.approx(wanted, rel=1e-6)
    assert ((normals * B).sum(axis=1)[[0, 2]] >= [0.5 - 1e-6, 1.0 - 1e-6]).all()


@dataclass(frozen=True)
class Stricter(cn.Sparseness):
    """A band of a class of its own."""


def test_a_subclass_of_sparseness_is_served_like_its_base():
    V = RNG.random((9, 7))
    ours, theirs = (
        cn.factorize(V, 2, W=[PLUS, kind(min=0.6)]).solve(cn.HALS(), stop=10)
        for kind in (cn.Sparseness, Stricter)
    )
    np.testing.assert_array_equal(ours.W, theirs.W)
    assert cn.sparseness(theirs.W, axis=0).min() >= 0.6 - 1e-9


def test_simplex_with_l1_is_served_where_nonnegative_with_l1_is():
    V = RNG.random((9, 7))
    simplex = cn.factorize(V, 2, H=[cn.Simplex(), cn.L1(0.1)])
    for solver in (cn.HALS(), cn.ProjectedGradient(), cn.TangentPlane()):
        assert solver.mismatches(simplex) == []
        result = simplex.solve(solver, stop=5)
        np.testing.assert_allclose(result.H.sum(axis=1), 1.0, atol=1e-6)
