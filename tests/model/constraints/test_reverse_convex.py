"""Constraints between convex and concave functions, by points, differences and CVXPY itself."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.curvature_parts import halves, known_parts
from conicnmf.testing import check_constraint

RNG = np.random.default_rng(0)
STATED = {
    "norms": lambda X: cp.norm(X, 2, axis=1) >= 1,
    "squares of a slice": lambda X: cp.sum_squares(X[:, :2]) >= 1,
    "peaks": lambda X: cp.max(X, axis=1) >= 1,
    "entropy": lambda X: cp.sum(cp.entr(X), axis=1) <= 0.5,
    "two norms": lambda X: cp.norm1(X[0]) <= 1.3 * cp.norm2(X[0]),
    "two norms as a difference": lambda X: 2 * (cp.norm1(X[0]) - 1.3 * cp.norm2(X[0])) <= 0,
    "neighbors apart": lambda X: cp.abs(cp.diff(X, axis=1)) >= 0.2,
    "roots": lambda X: cp.sum(cp.sqrt(X)) <= 2,
    "a spectral norm": lambda X: cp.sigma_max(X) >= 2,
    "several": lambda X: [cp.norm(X) >= 1, cp.sum(cp.sqrt(X), axis=0) <= cp.norm(X, 2, axis=0) + 1],
}


@pytest.mark.parametrize("kind", STATED)
@pytest.mark.parametrize(("flipped", "unit"), [(False, 1.0), (True, 8.0)])
def test_half_spaces_lie_inside_and_keep_their_point(kind, flipped, unit):
    term = cn.ReverseConvex(STATED[kind]).scaled(unit)
    term = term.transposed() if flipped else term
    for size in (0.1, 1.0, 3.0):
        P = unit * size * RNG.random((3, 4))
        planes = term.tangent(P)
        inside = term.violation(P) == 0
        assert planes.count == inside.size
        assert (planes.slack(P)[inside] >= -1e-9 * unit).all()
        for X in unit * RNG.random((30, 3, 4)) * RNG.choice([0.1, 1, 4], (30, 1, 1)):
            held = planes.slack(X) >= 0
            assert (term.violation(X)[held] <= 1e-9).all()


def test_the_violation_is_that_of_cvxpy():
    X = RNG.random((3, 4))
    for stated in STATED.values():
        made = stated(cp.Constant(X))
        parts = made if isinstance(made, list) else [made]
        wanted = np.concatenate([np.ravel(part.violation(), order="F") for part in parts])
        np.testing.assert_allclose(cn.ReverseConvex(stated).violation(X), wanted, atol=1e-12)


def test_where_a_side_is_flat_or_has_no_slope_a_near_tangent_serves():
    norms, entropy = cn.ReverseConvex(STATED["norms"]), cn.ReverseConvex(STATED["entropy"])
    assert not norms.tangent(np.zeros((3, 4))).flat.any()
    sparse = np.eye(3, 4)
    assert entropy.tangent(sparse).slack(sparse).min() > -1e-8
    assert entropy.violation(-sparse).min() == np.inf


def test_it_is_what_it_says():
    check_constraint(cn.ReverseConvex)


def test_parts_of_sums_add_up():
    x = cp.Variable(4, value=RNG.random(4))
    total = 3 * cp.sum(cp.multiply([1, 2, 3, 4], cp.square(x) - cp.exp(x))) / 2 - cp.norm(x) + 1
    assert sum(part.value for part in known_parts(total)) == pytest.approx(total.value)
    convex, concave = halves(total)
    assert (convex.is_convex(), concave.is_concave()) == (True, True)
    assert convex.value + concave.value == pytest.approx(total.value)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (lambda X: cp.norm(X) <= 1, "state that with Convex"),
        (lambda X: cp.norm(X) == 1, "write it as f"),
        (lambda X: X[0, 0] * X[0, 1] <= 1, "known curvature"),
    ],
)
def test_what_is_not_reverse_convex_is_refused(stated, said):
    with pytest.raises(cn.ModelError, match=said):
        cn.factorize(np.ones((4, 3)), 2, H=[cn.ReverseConvex(stated)])


def test_one_that_says_nothing_stands_next_to_one_that_does():
    nothing, long = (
        cn.ReverseConvex(lambda X: []),
        cn.ReverseConvex(lambda X: cp.norm(X, 2, 1) >= 3),
    )
    P = np.ones((2, 4))
    assert nothing.tangent(P).count == nothing.violation(P).size
    assert (nothing.tangent(P).slack(P) > 0).all()
    V = np.random.default_rng(0).random((6, 5))
    result = cn.factorize(V, 2, H=[cn.NonNegative(), nothing, long]).solve(
        cn.TangentPlane(), seed=0
    )
    assert (np.linalg.norm(result.H, axis=1) >= 3 - 1e-6).all()
