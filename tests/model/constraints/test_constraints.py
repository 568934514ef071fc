"""Every constraint that is shipped is the set it says it is."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.model import constraints
from conicnmf.model.terms import Constraint, Example
from conicnmf.testing import check_constraint

SHIPPED = [
    kind
    for name in constraints.__all__
    if isinstance(kind := getattr(constraints, name), type)
    and issubclass(kind, Constraint)
    and kind is not constraints.Entrywise
]


@pytest.mark.parametrize("kind", SHIPPED)
def test_a_constraint_is_what_it_says(kind):
    check_constraint(kind)


@settings(max_examples=6, deadline=None)
@given(
    low=st.floats(0, 0.9), width=st.floats(0.1, 0.9), n=st.integers(2, 12), seed=st.integers(0, 99)
)
def test_any_sparseness_band_is_what_it_says(low, width, n, seed):
    # Narrow bands have hardly an interior, which CVXPY's answers need; kernels are tested on them.
    high = min(low + width, 1.0)
    outside = np.ones((2, n)) if low > 0.01 else np.eye(2, n)
    assume(low > 0.01 or high < 0.99)
    band = cn.Sparseness(low, high)
    inside = band.project(np.random.default_rng(seed).random((2, n)))
    check_constraint([Example(band, inside, outside)], seed=seed)


@settings(max_examples=6, deadline=None)
@given(total=st.floats(0.01, 100), radius=st.floats(0.01, 100), seed=st.integers(0, 99))
@pytest.mark.parametrize("each", ["component", "sample"])
def test_any_simplex_and_ball_is_what_it_says(each, total, radius, seed):
    X = np.random.default_rng(seed).random((3, 4)) - 0.3
    for constraint in (cn.Simplex(total, each), cn.NormBall(radius, each)):
        inside = constraint.project(X)
        check_constraint([Example(constraint, inside, inside + 2 * total + 2 * radius)], seed=seed)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 999))
def test_any_box_and_fixed_entries_are_what_they_say(seed):
    rng = np.random.default_rng(seed)
    low = np.where(rng.random((3, 4)) < 0.3, -np.inf, rng.standard_normal((3, 4)))
    high = np.where(rng.random((3, 4)) < 0.3, np.inf, np.maximum(low, -9) + rng.random((3, 4)))
    high[0, 0] = low[0, 0] = 1.0
    mask = rng.random((3, 4)) < 0.5
    mask[1, 1] = True
    for constraint in (cn.Box(low, high), cn.Fixed(mask, rng.standard_normal((3, 4)))):
        inside = constraint.project(rng.standard_normal((3, 4)))
        outside = inside + 30 * np.where(np.isfinite(constraint.bounds()[1]), 1, 0)
        check_constraint([Example(constraint, inside, outside)], seed=seed)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_violation_of_a_cone_does_not_depend_on_the_scale(scale):
    X = np.array([[1.0, 1.0, 1.0, 0.9], [3.0, 0.0, 0.0, -1.0]])
    for constraint in (cn.NonNegative(), cn.Sparseness(min=0.5), cn.Sparseness(max=0.4)):
        np.testing.assert_allclose(constraint.violation(scale * X), constraint.violation(X))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_violation_is_relative_to_what_was_asked_for(scale):
    X = np.array([[0.9, 0.2]])
    for at in (cn.Simplex(1.0), cn.NormBall(0.5), cn.Box(0.0, 0.5)):
        size = {"Simplex": "total", "NormBall": "radius", "Box": "upper"}[type(at).__name__]
        scaled = type(at)(**{size: scale * float(getattr(at, size))})
        np.testing.assert_allclose(scaled.violation(scale * X), at.violation(X))


def test_a_zero_component_violates_lower_bounds_on_sparseness_only():
    zero = np.zeros((2, 5))
    assert cn.Sparseness(0.1, 1).violation(zero).tolist() == [1.0, 1.0]
    # ‖x‖₂ ≤ eᵀx/c, x ≥ 0 is a convex cone with zero in it.
    assert not cn.Sparseness(max=0.4).violation(zero).any()


def test_sparseness_is_ignored_in_one_dimension():
    X = np.array([[2.0], [0.0]])
    band = cn.Sparseness(min=0.2, max=0.4)
    assert not band.violation(X).any()
    assert band.cone(cp.Variable((2, 1))) == []
    assert not band.tangent(X).normals.any()


LENGTH_ONE = "is left out: each {} has length one, for which sparseness is undefined; drop it"


def test_a_band_on_pieces_of_length_one_is_left_out_with_a_warning_from_terms():
    band = cn.Sparseness(min=0.5)
    with pytest.warns(UserWarning, match=f"on H {LENGTH_ONE.format('component')}") as caught:
        problem = cn.factorize(np.ones((4, 1)), 2, H=[cn.NonNegative(), band])
    assert caught[0].filename == __file__
    assert problem.solve().violation == {"W: NonNegative()": 0.0, "H: NonNegative()": 0.0}
    with pytest.warns(UserWarning, match=LENGTH_ONE.format("sample")):
        cn.factorize(
            np.ones((4, 3)), 1, W=[cn.NonNegative(), cn.Sparseness(max=0.5, each="sample")]
        )


def test_a_band_on_pieces_of_length_one_is_left_out_with_a_warning_from_algebra():
    W, H = cp.Variable((4, 2), nonneg=True), cp.Variable((2, 1), nonneg=True)
    bound = cn.sparseness(H, axis=1) >= 0.5
    with pytest.warns(UserWarning, match=LENGTH_ONE.format("component")):
        problem = cn.Problem(cp.Minimize(cp.sum_squares(np.ones((4, 1)) - W @ H)), [bound])
    assert "Sparseness" not in str(problem)


def test_sparseness_of_samples_looks_at_columns():
    X = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert cn.Sparseness(min=0.5, each="sample").violation(X).round(9).tolist() == [0.0, 0.5]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cn.Sparseness(0.9, 0.4), ["0 <= min <= max <= 1", "min=0.9", "max=0.4"]),
        (lambda: cn.Sparseness(float("nan")), ["nan"]),
        (lambda: cn.Sparseness(each="row"), ["component", "sample", "row"]),
        (lambda: cn.Simplex(0.0), ["> 0", "0.0"]),
        (lambda: cn.Simplex(each="entry"), ["entry"]),
        (lambda: cn.NormBall(-1.0), ["> 0", "-1.0"]),
        (lambda: cn.UnitNorm(each="factor"), ["factor"]),
        (lambda: cn.Box(1, 0), ["lower <= upper", "swap"]),
        (lambda: cn.Box(float("nan"), 1), ["NaN"]),
        (lambda: cn.Fixed(np.ones((2, 2)), np.ones((2, 2))), ["boolean", "float64"]),
        (lambda: cn.Fixed(np.ones((1, 1), bool), np.array([[np.nan]])), ["finite"]),
    ],
)
def test_bad_settings_are_refused_with_the_rule_and_the_value(make, words):
    with pytest.raises(cn.InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


V = np.ones((5, 4))


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (cn.Box(0, np.ones((2, 2))), ["(5, 3)", "(2, 2)"]),
        (cn.Fixed(np.ones((3, 5), bool), np.ones((3, 5))), ["(5, 3)", "(3, 5)"]),
    ],
)
def test_bounds_of_another_shape_are_refused(term, words):
    with pytest.raises(cn.InputError) as caught:
        cn.factorize(V, 3, W=[term])
    for word in words:
        assert word in str(caught.value)


def test_a_constraint_outside_cvxpys_rules_is_refused_by_name():
    curved = cn.Convex(lambda X: cp.norm(X, "fro") >= 1, name="outside the ball")
    with pytest.raises(cn.ModelError, match="outside the ball"):
        cn.factorize(V, 3, H=[curved])


def test_terms_on_w_are_given_as_the_user_sees_w():
    first_feature = np.zeros((5, 3), dtype=bool)
    first_feature[0] = True
    values = np.where(first_feature, 2.0, 0.0)
    bounded = cn.Convex(lambda W: W[1, :] <= 0.25)
    terms = [cn.NonNegative(), cn.Fixed(first_feature, values), bounded]
    W = cn.factorize(V, 3, W=terms).solve(cn.TangentPlane(), stop=3).W
    np.testing.assert_allclose(W[0], 2.0)
    assert W[1].max() <= 0.25 + 1e-6


def test_examples_are_what_users_may_look_at():
    for kind in SHIPPED:
        for constraint, inside, outside in kind.examples():
            assert inside.shape == outside.shape
            assert str(constraint) != ""


def test_a_cone_of_the_user_is_quiet_at_zero():
    cone = cn.Convex(lambda H: cp.SOC(cp.sum(H), H[0]))
    assert not cone.violation(np.zeros((2, 3))).any()


def test_labels_count_samples_whichever_way_a_factor_is_written():
    V, labels = np.ones((5, 4)), cn.Labels([0, 0, 1, 1], 0.5)
    cn.compose(cn.Approx(V, "W.T @ H.T"), rank=2, H=["nonnegative", labels])
    for model in ("W.T @ H.T", "W @ H"):
        with pytest.raises(cn.InputError, match="a label for each of the 4 samples, got 2"):
            cn.compose(cn.Approx(V, model), rank=2, H=["nonnegative", cn.Labels([0, 1], 0.5)])


def test_a_point_that_was_changed_in_place_is_judged_anew():
    near = cn.Convex(lambda X: cp.abs(cp.diff(X, axis=1)) <= 0.5)
    B = np.array([[0.0, 1.0, 1.0]])
    first = near.violation(B)
    first[:] = 7.0
    assert near.violation(B).max() == pytest.approx(0.5)
    B[0, 0] = 1.0
    assert near.violation(B).max() == 0.0


def test_bounds_on_sparseness_in_two_terms_are_one_band():
    V = np.random.default_rng(0).random((7, 6))
    two = [cn.NonNegative(), cn.Sparseness(min=0.3), cn.Sparseness(max=0.6)]
    one = [cn.NonNegative(), cn.Sparseness(0.3, 0.6)]
    found, wanted = (cn.factorize(V, 2, W=terms).solve(cn.HALS(), stop=5) for terms in (two, one))
    np.testing.assert_array_equal(found.W, wanted.W)
    assert list(found.violation) == list(wanted.violation)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pieces_kept_alive_for_long_still_have_the_digits_of_their_sparseness(dtype):
    band = cn.Sparseness(0.12, 0.54)
    B = band.project_nonneg(np.array([[3.0, 2.0, 1.0, 0.5, 0.0]], dtype=dtype))
    for _ in range(400):
        B = band.kept_alive(np.zeros_like(B), B)
    assert B.any()
    assert band.violation(B).max() <= 1e-6
