"""Non-negative discriminants: the global optimum of two classes, the published rule, kernels."""

from __future__ import annotations

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

import conicnmf as cn
from conicnmf.errors import IncompatibleError, InputError
from conicnmf.families.one_factor import (
    ConeAscent,
    DirectionSearch,
    Discriminant,
    KernelDiscriminant,
    MedianFlip,
    Oja,
    PlainSplit,
    ProjectionRule,
    QuadraticProjection,
    kernel_fda,
)
from conicnmf.families.one_factor.gains import upper_bound
from conicnmf.model.operators import LowRank
from conicnmf.study.measures import equal_error_rate, fisher_ratio, orthogonality

seeds = st.integers(0, 2**32 - 1)


def classes(seed, m=4, n=40, q=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % q
    shape = rng.standard_normal((m, m))
    return shape @ rng.standard_normal((m, n)) + 2 * rng.standard_normal((m, q))[:, y], y


def brute_force(S, d):
    """Return the largest (dᵀw)²/wᵀSw over w ≥ 0: on each support the unconstrained optimum."""
    best = 0.0
    for size in range(1, len(d) + 1):
        for rows in map(list, combinations(range(len(d)), size)):
            w = np.linalg.solve(S[np.ix_(rows, rows)], d[rows])
            if (w >= 0).all() or (w <= 0).all():
                best = max(best, float(d[rows] @ w))
    return best


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 4))
def test_two_classes_are_solved_globally(seed, m):
    V, y = classes(seed, m)
    problem = Discriminant(V, y)
    result = cn.solve(problem, ConeAscent())
    truth = brute_force(problem.norm.matrix(), problem.A.directions[:, 0])
    assert -2 * result.objective == pytest.approx(truth, rel=1e-6)
    assert fisher_ratio(result.W[:, 0] @ V, y) == pytest.approx(truth, rel=1e-6)
    assert result.certificate(stationarity=1e-6)


@settings(max_examples=8, deadline=None)
@given(seeds)
def test_cone_solver_and_least_squares_agree(seed):
    problem = Discriminant(*classes(seed, m=7))
    native, conic = (
        cn.solve(problem, ConeAscent(engine)).objective for engine in ("native", "conic")
    )
    assert conic == pytest.approx(native, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_no_other_method_has_a_larger_ratio(seed):
    V, y = classes(seed, m=6)
    problem = Discriminant(V, y)
    best = cn.solve(problem).objective
    for solver in (ProjectionRule(), Oja(), PlainSplit()):
        if not solver.mismatches(problem):
            assert cn.solve(problem, solver, throw=False).objective >= best - 1e-9 * abs(best)
    free = np.linalg.solve(problem.norm.matrix(), problem.A.directions[:, 0])
    for signed in (free, -free):
        clipped = np.maximum(signed, 0)
        if clipped.any():
            assert fisher_ratio(clipped @ V, y) <= -2 * best * (1 + 1e-9)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_published_rule_ends_in_a_part_of_the_mean_difference(seed):
    V, y = classes(seed, m=5)
    problem = Discriminant(V, y)
    result = cn.solve(problem, ProjectionRule(last=True), throw=False)
    if result.status.kind != "converged":
        return
    d = problem.A.directions[:, 0]
    w = result.W[:, 0]
    cosines = [
        np.maximum(sign * d, 0) @ w / (np.linalg.norm(np.maximum(sign * d, 0)) or 1)
        for sign in (1, -1)
    ]
    assert max(cosines) / np.linalg.norm(w) == pytest.approx(1.0, abs=1e-4)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_more_classes_never_fall_and_end_stationary(seed):
    V, y = classes(seed, m=5, n=60, q=4)
    result = cn.solve(Discriminant(V, y), ConeAscent())
    values = result.history.objective
    assert (np.diff(values) <= 1e-10 * abs(values[-1])).all()
    assert -2 * result.objective == pytest.approx(fisher_ratio(result.W[:, 0] @ V, y), rel=1e-6)
    assert result.certificate()


def best_of_all_supports(A, B):
    """Return the largest wᵀAw/wᵀBw over w ≥ 0: on its support w is a generalized eigenvector."""
    best = 0.0
    for size in range(1, len(A) + 1):
        for rows in map(list, combinations(range(len(A)), size)):
            values, vectors = eigh(A[np.ix_(rows, rows)], B[np.ix_(rows, rows)])
            one_sided = (vectors >= -1e-12).all(axis=0) | (vectors <= 1e-12).all(axis=0)
            best = max([best, *values[one_sided]])
    return best


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(1, 4), st.integers(2, 5))
def test_few_classes_are_solved_globally_and_the_gap_is_proved(seed, m, q):
    V, y = classes(seed, m, n=60, q=q)
    problem = Discriminant(V, y)
    result = cn.solve(problem, DirectionSearch(1e-6), stop=2000)
    truth = best_of_all_supports(problem.A.matrix(), problem.norm.matrix())
    assert result.status is cn.Status.CONVERGED
    assert -2 * result.objective == pytest.approx(truth, rel=2e-6)
    for step in list(result.history)[1:]:
        assert -2 * step.objective * (1 + step.notes["gap"]) >= truth * (1 - 1e-9)
    assert result.history[-1].notes["gap"] <= 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_three_classes_are_never_below_another_method(seed):
    V, y = classes(seed, m=30, n=90, q=3)
    problem = Discriminant(V, y)
    best = cn.solve(problem)
    assert best.solver.startswith("DirectionSearch")
    for start in range(3):
        for other in (ConeAscent(), ProjectionRule(), Oja()):
            assert best.objective <= cn.solve(
                problem, other, seed=start, throw=False
            ).objective + 1e-4 * abs(best.objective)
    assert best.certificate(), best.certificate()


def test_searches_of_too_many_directions_are_refused_with_the_way_out():
    problem = QuadraticProjection(np.diag(np.arange(1.0, 9.0)), 1)
    assert "give LowRank" in DirectionSearch().mismatches(problem)[0]


@pytest.mark.parametrize("A", [np.zeros((4, 4)), LowRank(np.zeros((4, 0)))])
def test_a_matrix_without_directions_leaves_nothing_to_search(A):
    """Its one empty cone went to least squares of no numbers, which ended the process."""
    result = cn.solve(QuadraticProjection(A, 1), DirectionSearch())
    assert result.status is cn.Status.CONVERGED
    assert result.objective == 0


def test_sparse_discriminants_run_natively_and_agree_with_cone_programs():
    for seed, s in ((1, 0.5), (2, 0.7)):
        V, y = classes(seed, m=12, n=80)
        problem = Discriminant(V, y, ridge=0.1, constraints=[cn.Sparseness(min=s)])
        native, conic = (cn.solve(problem, ConeAscent(engine)) for engine in ("auto", "conic"))
        assert native.objective <= conic.objective + 1e-6 * abs(conic.objective)
        assert native.max_violation < 1e-9
        assert not any(step.inner for step in native.history)
        flat = Discriminant(V, y, ridge=0.1, constraints=[cn.Sparseness(max=0.3)])
        convex = [cn.solve(flat, ConeAscent(engine)).objective for engine in ("auto", "conic")]
        assert convex[0] == pytest.approx(convex[1], rel=1e-5)


def test_the_dual_bound_holds_and_is_tight():
    problem = Discriminant(*classes(1, m=6))
    g = problem.A.directions[:, 0]
    w = cp.Variable(6, nonneg=True)
    program = cp.Problem(
        cp.Maximize(g @ w), [cp.quad_form(w, cp.psd_wrap(problem.norm.matrix())) <= 1]
    )
    program.solve(solver="CLARABEL")
    assert upper_bound(problem.view, g) == pytest.approx(program.value, rel=1e-5)


@pytest.mark.parametrize("solver", [None, "ConeAscent", "ProjectedDescent"])
def test_unbounded_ratios_are_said_and_a_ridge_ends_them(solver):
    V = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 2.0, 2.0]])
    y = [0, 0, 1, 1]
    problem = Discriminant(V, y)
    np.testing.assert_allclose(problem.view.unbounded, [0.0, 1.0], atol=1e-9)
    with pytest.raises(cn.SolveError, match="or add a ridge") as caught:
        cn.solve(problem, solver)
    assert caught.value.result.status is cn.Status.UNBOUNDED
    direction = caught.value.result.direction["W"][:, 0]
    np.testing.assert_allclose(problem.norm @ direction[:, None], 0.0, atol=1e-9)
    assert direction @ (problem.A @ direction[:, None])[:, 0] > 0
    assert (direction >= 0).all()
    assert cn.solve(Discriminant(V, y, ridge=0.1)).status.kind == "converged"


def test_a_singular_but_bounded_problem_is_solved():
    V, y = classes(0, m=4)
    doubled = np.vstack([V, V[:1]])
    problem = Discriminant(doubled, y)
    assert problem.view.root.shape[1] == 4
    assert problem.view.unbounded is None
    plain = cn.solve(Discriminant(V, y)).objective
    assert cn.solve(problem).objective == pytest.approx(plain, rel=1e-5)
    assert cn.solve(problem).certificate()


def test_sparse_discriminants_keep_the_band_and_lose_little():
    V, y = classes(4, m=12, n=120)
    free = cn.solve(Discriminant(V, y))
    values = []
    for s in (0.5, 0.7, 0.9):
        problem = Discriminant(V, y, constraints=[cn.Sparseness(min=s)])
        result = cn.solve(problem)
        assert result.max_violation < 1e-6
        assert (np.diff(result.history.objective[1:]) <= 1e-9).all()
        values.append(result.objective)
    assert values[0] >= free.objective - 1e-6
    with pytest.raises(IncompatibleError, match="it keeps only W >= 0 and the norm"):
        cn.solve(problem, ProjectionRule())


def test_user_constraints_enter_the_cone_programs():
    V, y = classes(2, m=6)
    order = cn.Convex(lambda W: W[:-1] >= W[1:], name="falling")
    result = cn.solve(Discriminant(V, y, constraints=[order]))
    w = result.W[:, 0]
    assert (np.diff(w) <= 1e-6 * w.max()).all()
    box = cn.solve(Discriminant(V, y, constraints=[cn.Box(upper=0.05)]))
    assert box.W.max() <= 0.05 + 1e-9
    assert box.objective >= cn.solve(Discriminant(V, y)).objective
    assert max(box.violation.values()) < 1e-6


def test_fewer_samples_than_features_give_the_same_norm_in_both_forms():
    V, y = classes(0, m=20, n=10)
    problem = Discriminant(V, y, ridge=0.1)
    L = problem.view.root
    np.testing.assert_allclose((L @ L.T).toarray(), problem.norm.matrix(), atol=1e-10)
    native, conic = (
        cn.solve(problem, ConeAscent(engine)).objective for engine in ("native", "conic")
    )
    assert conic == pytest.approx(native, rel=1e-6)


def test_sparse_data_have_the_same_scatter():
    V, y = classes(3, m=5)
    V = np.maximum(V, 0)
    dense, sparse = Discriminant(V, y), Discriminant(sp.csr_array(V), y)
    np.testing.assert_allclose(dense.norm.matrix(), sparse.norm.matrix(), atol=1e-10)
    np.testing.assert_allclose(dense.A.matrix(), sparse.A.matrix(), atol=1e-10)


def test_scatter_is_as_defined():
    V, y = classes(5, m=3, n=30, q=3)
    problem = Discriminant(V, y)
    mean = V.mean(axis=1)
    total = np.cov(V, bias=True)
    between = sum(
        np.mean(y == c)
        * np.outer(V[:, y == c].mean(axis=1) - mean, V[:, y == c].mean(axis=1) - mean)
        for c in range(3)
    )
    np.testing.assert_allclose(problem.A.matrix(), between, atol=1e-12)
    np.testing.assert_allclose(problem.norm.matrix() + between, total, atol=1e-12)


def test_flipping_puts_the_first_class_nearer_to_the_origin():
    V, y = np.random.default_rng(0).random((9, 41)), np.arange(41) % 2
    flip = MedianFlip.learn(V, y, upper=1.0)
    turned = flip.apply(V)
    medians = [np.median(turned[:, y == c], axis=1) for c in (0, 1)]
    assert (medians[0] <= medians[1]).all()
    w = np.random.default_rng(1).random(9)
    shift = w @ turned - flip.signed(w) @ V
    assert np.ptp(shift) < 1e-12
    with pytest.raises(InputError, match="two classes"):
        MedianFlip.learn(V, np.arange(41) % 3)
    with pytest.raises(InputError, match="9 features"):
        flip.apply(V[:4])


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "cosine"])
@pytest.mark.parametrize("center", [False, True])
def test_kernel_discriminants_take_any_kernel(kernel, center):
    V, y = classes(0, m=3, n=24)
    V = V - V.min() + 0.1
    problem = KernelDiscriminant(V, y, kernel, center=center)
    best = cn.solve(problem, ConeAscent())
    rule = cn.solve(problem, ProjectionRule(), throw=False)
    assert -2 * best.objective <= 1 + 1e-6
    assert best.objective <= rule.objective + 1e-6
    order = problem.ranking(best)
    assert (np.diff(best.W[order, 0]) <= 0).all()
    again = problem.K @ best.W[:, 0]
    scores = problem.project(best, V)
    assert np.ptp((scores - again) / np.abs(again).max()) < 1e-6


def test_linear_kernels_project_as_their_direction_does():
    V, y = classes(1, m=3, n=20)
    problem = KernelDiscriminant(V, y)
    result = cn.solve(problem)
    np.testing.assert_allclose(problem.project(result, V), (V @ result.W[:, 0]) @ V, atol=1e-9)
    given_kernel = KernelDiscriminant(V.T @ V, y, "precomputed")
    np.testing.assert_allclose(given_kernel.A.matrix(), problem.A.matrix())


def test_kernel_fisher_analysis_reaches_the_ratio_of_the_linear_one():
    V, y = classes(2, m=3, n=40)
    problem = Discriminant(V, y)
    free = np.linalg.solve(problem.norm.matrix(), problem.A.directions[:, 0])
    alpha = kernel_fda(V.T @ V, y, ridge=1e-12)
    assert fisher_ratio((V @ alpha) @ V, y) == pytest.approx(fisher_ratio(free @ V, y), rel=1e-4)


def test_measures_by_hand():
    assert orthogonality(np.array([[1.0, 0.0], [0.0, 2.0]])) == 1
    assert orthogonality([[1.0, 1.0], [0.0, 1.0]]) == pytest.approx(1 - np.sqrt(0.5))
    assert equal_error_rate([0, 1, 2, 3], [0, 0, 1, 1]) == 0
    assert equal_error_rate([3, 2, 1, 0], [0, 0, 1, 1]) == 1
    assert equal_error_rate([0, 0, 0, 0], [0, 0, 1, 1]) == 0.5
    rng = np.random.default_rng(0)
    scores, labels = rng.standard_normal(4000), rng.random(4000) < 0.3
    assert equal_error_rate(scores + 2 * labels, labels) == pytest.approx(0.1587, abs=0.02)
    assert fisher_ratio([1.0, 1.0], [0, 1]) != fisher_ratio([1.0, 1.0], [0, 1])
    with pytest.raises(InputError, match="true for some"):
        equal_error_rate([1.0, 2.0], [True, True])


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0, 1, 0], {}, "one label for each of the"),
        ([0] * 4, {}, "at least two classes"),
        ([0, 1, 0, 1], {"ridge": -1}, "number >= 0, got ridge=-1"),
    ],
)
def test_wrong_input_is_refused(y, options, message):
    with pytest.raises(InputError, match=message):
        Discriminant(np.ones((2, 4)), y, **options)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("shape", [(3, 7), (9, 7)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_samples_that_are_all_equal_are_refused(form, shape, value):
    V, y = np.full(shape, value), [0, 1, 0, 1, 0, 1, 1]
    with pytest.raises(
        InputError, match="that differ, got the same sample 7 times; samples are columns"
    ):
        Discriminant(form(V), y)
    with pytest.raises(InputError, match="that differ, got the same sample 7 times"):
        KernelDiscriminant(V, y, center=True)
    with pytest.raises(InputError, match=r"other than zero, got zeros; try kernel='rbf'"):
        KernelDiscriminant(0 * V, y)


def test_unknown_kernels_are_refused():
    with pytest.raises(InputError, match="pairwise_kernels"):
        KernelDiscriminant(np.ones((2, 4)), [0, 1, 0, 1], "nonsense")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_more_features_than_samples_are_never_squared(kind, monkeypatch):
    V, y = classes(2, m=90, n=30)
    expected = cn.solve(QuadraticProjection(*formed(V, y, ridge=0.1))).objective

    def refuse(self):
        raise AssertionError("a features × features matrix was formed")

    monkeypatch.setattr(LowRank, "matrix", refuse)
    data = sp.csr_array(V) if kind == "sparse" else V
    result = cn.solve(Discriminant(data, y, ridge=0.1))
    assert result.objective == pytest.approx(expected, rel=1e-6)
    assert result.certificate(), result.certificate()


def formed(V, y, ridge):
    """Return S_B, 1 and S_W + ρI by their definitions."""
    means = np.array([V[:, y == c].mean(axis=1) for c in np.unique(y)]).T
    shares = np.array([np.mean(y == c) for c in np.unique(y)])
    apart = means - (means @ shares)[:, None]
    within = (V - means[:, y]) @ (V - means[:, y]).T / V.shape[1]
    within += ridge * np.trace(within) / len(V) * np.eye(len(V))
    return (apart * shares) @ apart.T, 1, within


def test_classes_with_equal_means_have_a_ratio_of_zero():
    V = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 0.0, 2.0], [3.0, 1.0, 1.0, 3.0]])
    for data in (V, np.tile(np.random.default_rng(0).random((5, 20)), 2)):
        y = np.repeat([0, 1], data.shape[1] // 2)
        result = cn.solve(Discriminant(data, y))
        assert result.status is cn.Status.CONVERGED
        assert result.objective == pytest.approx(0.0, abs=1e-12)


def test_equal_samples_are_refused_where_rounding_makes_their_kernel_differ():
    V, y = np.full((2, 6), 0.7), [0, 1, 0, 1, 1, 0]
    noise = np.random.default_rng(0)

    def kernel(a, b):
        return np.exp(-np.sum((a - b) ** 2)) - 1e-16 * noise.random()

    with pytest.raises(InputError, match="that differ, got the same sample 6 times"):
        KernelDiscriminant(V, y, kernel, center=True)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_kernel_tells_close_samples_apart_in_every_precision(kind):
    V = (2.0**-20 * np.random.default_rng(0).random((3, 12))).astype(kind)
    found = KernelDiscriminant(V, [0, 1] * 6, kernel="rbf", center=True)
    # Near zero exp(−x) is 1 − x: what is left is the linear kernel of centered samples.
    C = V.astype(float) - V.astype(float).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.K, C.T @ C * 2 / 3, atol=1e-15)


def test_a_kernel_that_is_the_same_for_all_is_refused_with_the_remedy():
    V = 2.0**-40 * np.random.default_rng(0).random((3, 12))
    with pytest.raises(cn.InputError, match=r"tells samples apart, got kernel='rbf'.*larger gamma"):
        KernelDiscriminant(V, [0, 1] * 6, kernel="rbf", center=True)


@pytest.mark.parametrize(("kernel", "size"), [("poly", 1e120), ("linear", 1e100), ("poly", 1e70)])
def test_kernels_of_samples_that_are_too_large_are_refused(kernel, size):
    V = size * np.random.default_rng(0).random((3, 6))
    with pytest.raises(InputError, match=r"squares are normal numbers, got .*; standardize them"):
        KernelDiscriminant(V, [0, 1] * 3, kernel)
