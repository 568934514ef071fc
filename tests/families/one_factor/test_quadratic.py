"""Maximize ½tr(WᵀAW) for any symmetric A: the rules, the conditions and what is reported."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.errors import IncompatibleError, InputError
from conicnmf.families.one_factor import (
    ConeAscent,
    NaturalGradient,
    Oja,
    PlainSplit,
    ProjectionRule,
    QuadraticProjection,
)
from conicnmf.families.one_factor.additive import direction
from conicnmf.families.one_factor.gains import remaining_gain
from conicnmf.model.operators import Symmetric
from conicnmf.results import Status

seeds = st.integers(0, 2**32 - 1)


def symmetric(seed, m=6, kind="indefinite"):
    X = np.random.default_rng(seed).standard_normal((m, m))
    return {"positive": X @ X.T, "negative": -X @ X.T, "indefinite": (X + X.T) / 2}[kind]


def definite(seed, m=6):
    X = np.random.default_rng(seed).random((m, 2 * m))
    return X @ X.T / m


def best_unit_vector(A):
    """Return max wᵀAw over w ≥ 0, ‖w‖ = 1: an eigenvector of A on its support, of any support."""
    m, best = len(A), -np.inf
    for size in range(1, m + 1):
        for rows in map(list, combinations(range(m), size)):
            values, vectors = np.linalg.eigh(A[np.ix_(rows, rows)])
            for value, vector in zip(values, vectors.T, strict=True):
                if (vector >= -1e-12).all() or (vector <= 1e-12).all():
                    best = max(best, value)
    return best


def best_partition(A, rank):
    """Return the best ½tr(WᵀAW) over all ways to give the rows to columns."""
    m, best = len(A), -np.inf
    for owner in product(range(rank), repeat=m):
        groups = [[i for i in range(m) if owner[i] == j] for j in range(rank)]
        if all(groups):
            best = max(best, sum(best_unit_vector(A[np.ix_(g, g)]) for g in groups))
    return best / 2


@pytest.mark.parametrize("kind", ["positive", "negative", "indefinite"])
def test_no_start_beats_every_support_and_the_best_reaches_it(kind):
    A = symmetric(3, kind=kind)
    runs = cn.multistart(QuadraticProjection(A), ConeAscent(), n_starts=12)
    truth = -best_unit_vector(A) / 2
    assert runs.best.objective == pytest.approx(truth, abs=1e-6)
    assert (runs.objectives >= truth - 1e-9).all()


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_the_rule_ends_in_an_eigenvector_of_the_support(seed):
    A = definite(seed)
    result = cn.solve(QuadraticProjection(A), ProjectionRule())
    w = result.W[:, 0]
    on = w > 1e-6
    assert result.status is Status.AT_REST
    np.testing.assert_allclose((A @ w)[on], -2 * result.objective * w[on], rtol=1e-4)


def test_several_columns_come_close_to_the_best_of_all_partitions():
    A = definite(0, m=5)
    runs = cn.multistart(QuadraticProjection(A, 2), ProjectionRule(), n_starts=6, stop=400)
    truth = best_partition(A, 2)
    assert -truth - 1e-9 <= runs.best.objective <= -0.97 * truth
    assert runs.best.max_violation < 1e-9


def of_every_sign(seed, m):
    """Return matrices on which steps alone end far below the best: up to 13 times its size."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((m, m)), rng.random((m, m))
    negative = {"negative entries": -(Y + Y.T) / 2, "negative both ways": -Y @ Y.T}
    return negative | {"definite": -X @ X.T, "indefinite": (X + X.T) / 2, "positive": X @ X.T}


@pytest.mark.parametrize("seed", range(700, 703))
@pytest.mark.parametrize(("m", "rank"), [(7, 1), (5, 2), (5, 3)])
def test_small_problems_end_where_brute_force_does(seed, m, rank):
    for kind, A in of_every_sign(seed, m).items():
        truth = best_partition(A, rank) if rank > 1 else best_unit_vector(A) / 2
        found = QuadraticProjection(A, rank).solve(seed=seed)
        assert found.max_violation < 1e-9
        assert -found.objective >= truth - 1e-4 * abs(truth), kind
        assert -found.objective <= truth + 1e-9 * abs(truth), kind


def test_a_search_for_exchanges_goes_on_from_a_checkpoint(tmp_path):
    problem = QuadraticProjection(of_every_sign(1, 12)["indefinite"], 3)
    whole = problem.solve(seed=0)
    for cut in (len(whole.history) // 2, len(whole.history) - 20):
        path = tmp_path / f"{cut}.zip"
        problem.solve(seed=0, stop=cut, checkpoint=path)
        again = problem.solve(seed=0, checkpoint=path)
        assert again.objective == pytest.approx(whole.objective, rel=1e-9)


@settings(max_examples=10, deadline=None)
@given(seeds, st.sampled_from([ProjectionRule(), Oja(), NaturalGradient(), PlainSplit()]))
def test_whatever_is_returned_is_feasible(seed, solver):
    problem = QuadraticProjection(symmetric(seed), 2)
    result = cn.solve(problem, solver, stop=40, throw=False)
    assert result.status is Status.COLLAPSED or result.max_violation < 1e-9
    assert (result.W >= 0).all()


@given(seeds)
def test_separated_columns_are_orthonormal_and_keep_the_largest_entries(seed):
    W = np.random.default_rng(seed).random((8, 3))
    rounded = cn.Orthonormal().separate(W.T).T
    assert (np.count_nonzero(rounded, axis=1) == 1).all()
    if rounded.any(axis=0).all():
        assert cn.Orthonormal().violation(rounded.T).max() < 1e-12
    np.testing.assert_allclose(cn.Orthonormal().separate(rounded.T).T, rounded, rtol=1e-12)


@settings(max_examples=20)
@given(seeds, st.booleans())
def test_oja_and_the_natural_gradient_take_one_direction_for_a_symmetric_matrix(seed, normed):
    rng = np.random.default_rng(seed)
    A, B = symmetric(seed), definite(seed)
    problem = QuadraticProjection(A, 1, B) if normed else QuadraticProjection(A, 3)
    W = rng.random(problem.shapes["W"])
    G = A @ W
    if normed:
        printed = [0.5 * (2 * G - W @ (W.T @ B @ G) - W @ (G.T @ B @ W))]
    else:
        printed = [
            0.5 * (2 * G - W @ W.T @ G - W @ G.T @ W),
            G - W @ G.T @ W,
            G - W @ W.T @ A @ W,
        ]
    for formula in printed:
        np.testing.assert_allclose(direction(problem.view, problem.view.at(W)), formula, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_rule_with_a_norm_is_the_printed_one_normalized(seed):
    A, B = symmetric(seed, kind="positive"), definite(seed)
    problem = QuadraticProjection(A, 1, B)
    w = problem.start(None, np.random.default_rng(seed))["W"]
    w /= np.sqrt(float(w[:, 0] @ B @ w[:, 0]))  # a start may lie inside
    plus, minus = np.maximum(A, 0), np.maximum(-A, 0)
    s = float(w[:, 0] @ B @ A @ w[:, 0])
    result = cn.solve(problem, ProjectionRule(last=True), init=w, stop=1, throw=False)
    if s <= 0:
        assert result.status is Status.CONDITION_FAILED
        return
    expected = w * (plus @ w) / (minus @ w + s * w)
    expected /= np.sqrt(float(expected[:, 0] @ B @ expected[:, 0]))
    np.testing.assert_allclose(result.W, expected, rtol=1e-8, atol=1e-12)
    assert result.history[1].notes["wᵀBAw"] == pytest.approx(s)


def test_a_failing_condition_ends_the_rule_with_advice_and_a_usable_iterate():
    A, B = np.diag([0.01, 1.0]), np.array([[1.0, -0.99], [-0.99, 1.0]])
    w = np.array([[1.0], [0.05]])
    problem = QuadraticProjection(np.array([[1.0, -0.9], [-0.9, 1.0]]), 1, B)
    assert problem.conditions()["smallest eigenvalue of BA + AB"] > 0
    failing = QuadraticProjection(A, 1, B)
    assert failing.conditions()["smallest eigenvalue of BA + AB"] < 0
    result = cn.solve(failing, ProjectionRule(), init=w, throw=False)
    assert result.status is Status.CONDITION_FAILED
    assert (result.W >= 0).all()
    assert result.max_violation < 1e-9


def test_a_matrix_that_depends_on_w_is_asked_for_at_each_iterate():
    V = np.random.default_rng(0).random((5, 30))

    def A(W):
        return (V * np.exp(-((W.T @ V) ** 2).sum(axis=0))) @ V.T

    def value(W):
        return -0.5 * float(np.exp(-((W.T @ V) ** 2).sum(axis=0)).sum())

    problem = QuadraticProjection(A, 1, size=5, value=value)
    result = cn.solve(problem, ProjectionRule())
    w = result.W[:, 0]
    on = w > 1e-6
    slope = A(result.W) @ w
    assert result.objective == pytest.approx(-value(result.W))
    np.testing.assert_allclose(slope[on], (w @ slope) * w[on], rtol=1e-4)
    with pytest.raises(IncompatibleError, match="A depends on W"):
        cn.solve(problem, ConeAscent())


def test_negative_definite_matrices_have_their_minor_component_found():
    A, B = -definite(1), definite(2)
    problem = QuadraticProjection(A, 1, B)
    result = cn.solve(problem, ProjectionRule())
    # The rule moves away from a start that is better than where it ends.
    assert result.status is Status.NOT_IMPROVED
    assert result.max_violation < 1e-9
    assert cn.solve(problem, ConeAscent()).objective <= result.objective + 1e-9


def test_plain_splits_are_worse_and_need_negative_entries():
    A = symmetric(7, m=8, kind="positive")
    problem = QuadraticProjection(A)
    best = cn.solve(problem, ConeAscent()).objective
    for root in (False, True):
        assert cn.solve(problem, PlainSplit(root), throw=False).objective > 0.99 * best
    with pytest.raises(IncompatibleError, match="no negative entries"):
        cn.solve(QuadraticProjection(np.abs(A)), PlainSplit())


def test_sparse_and_dense_matrices_give_the_same():
    A = symmetric(5, m=9)
    A[np.abs(A) < 0.5] = 0
    dense, sparse = (
        cn.solve(QuadraticProjection(M, 2), ProjectionRule(), stop=30, throw=False)
        for M in (A, sp.csr_array(A))
    )
    np.testing.assert_allclose(dense.W, sparse.W, atol=1e-10)
    for end in ("lowest", "largest"):
        found = getattr(Symmetric(sp.csr_array(A)), end)
        assert found == pytest.approx(getattr(Symmetric(A), end))


def test_single_precision_is_kept_and_the_input_is_not_changed():
    A = definite(0).astype(np.float32)
    before = A.copy()
    assert cn.solve(QuadraticProjection(A, 2), ProjectionRule(), stop=30).W.dtype == np.float32
    np.testing.assert_array_equal(A, before)


def test_certificates_tell_an_optimum_from_a_fixed_point():
    A, B = definite(3), np.diag([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    problem = QuadraticProjection(A, 1, B)
    assert cn.solve(problem, ConeAscent()).certificate()
    assert not cn.solve(problem, ProjectionRule()).certificate()
    several = QuadraticProjection(definite(4), 2)
    early, late = (cn.solve(several, ProjectionRule(), stop=k).factors for k in (1, 500))
    assert remaining_gain(several, late)["W"] < 0.5 * remaining_gain(several, early)["W"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((2, 3)),), "square matrix"),
        ((np.array([[0.0, 1.0], [0.0, 0.0]]),), "symmetric"),
        ((np.array([[np.nan]]),), "finite"),
        ((np.eye(2), 3), "rank must be at most"),
        ((np.eye(2), 2, np.eye(2)), "norm needs rank=1"),
        ((np.array([["a"]]),), "real numbers"),
        ((lambda W: W,), "positive integer"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        QuadraticProjection(*arguments)


def test_wrong_settings_are_refused():
    with pytest.raises(InputError, match="number > 0, got rate=0"):
        Oja(rate=0)
    with pytest.raises(InputError, match="put it in brackets"):
        QuadraticProjection(np.eye(3), constraints=cn.Sparseness(min=0.5))
    with pytest.raises(IncompatibleError, match="on W has no prox_nonneg form"):
        cn.solve(QuadraticProjection(np.eye(3)), cn.HALS())


@settings(max_examples=20)
@given(seeds, st.integers(1, 6))
def test_matrices_of_rank_one_are_recognized(seed, m):
    rng = np.random.default_rng(seed)
    g = rng.standard_normal(m)
    found = Symmetric(np.outer(g, g)).single
    np.testing.assert_allclose(np.outer(found, found), np.outer(g, g), atol=1e-12)
    if m > 1:
        other = np.outer(g, g) + 1e-3 * (g @ g) * np.diag(rng.random(m))
        assert Symmetric(other).single is None


def test_large_sparse_matrices_are_not_made_dense():
    A = sp.random_array((3000, 3000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    problem = QuadraticProjection(A + A.T, 1)
    result = cn.solve(problem, stop=5)
    assert result.solver.startswith("ConeAscent")
    assert (np.diff(result.history.objective) <= 1e-9).all()


def test_large_singular_matrices_need_no_smallest_eigenvalue():
    """Iterations for the smallest eigenvalue of a singular matrix need not end."""
    G = np.random.default_rng(0).standard_normal((1600, 2))
    result = cn.solve(QuadraticProjection(G @ G.T, 2), stop=5)
    assert np.isfinite(result.objective)
    assert result.objective < 0
    assert result.max_violation <= 1e-9


def test_a_column_that_owns_its_rows_alone_has_nothing_to_gain():
    A = np.diag([-1.5, 0.5, 0.2, -0.3])  # power steps on A + 1.5 I lose the first axis
    result = cn.solve(QuadraticProjection(A, 4))
    assert result.certificate(), result.certificate()


def test_a_gain_that_falls_where_b_is_zero_is_not_called_unbounded():
    A, B = np.array([[2.0, 1.0], [1.0, -0.1]]), np.diag([1.0, 0.0])
    result = cn.solve(QuadraticProjection(A, 1, B), "ProjectedDescent", throw=False)
    # With w = (1, t) the gain is ½(2 + 2t − t²/10), which is largest at t = 10.
    assert result.status is not Status.UNBOUNDED
    assert result.direction is None
    assert result.objective >= -6 - 1e-6
    rising = cn.solve(QuadraticProjection(A + np.eye(2), 1, B), "ProjectedDescent", throw=False)
    assert rising.status is Status.UNBOUNDED
