"""What the first-order and multiplicative solvers promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import low_rank, rises, sparse_problem

import conicnmf as cn
from conicnmf.kernels.nnls import kkt_residual
from conicnmf.testing import check_solver

MONOTONE = [
    cn.HALS(),
    cn.HALS(extrapolate=False),
    cn.ANLS(),
    cn.Multiplicative(),
    cn.ProjectedGradient(),
    cn.ProjectedGradient(free="multiplicative"),
    cn.SparsityMaximization(),
]


@pytest.mark.parametrize("solver", MONOTONE, ids=str)
def test_plain_nmf_never_rises(solver):
    result = cn.factorize(low_rank(), 3).solve(solver, stop=40)
    assert rises(result) <= 1e-12
    assert result.objective < 0.5 * result.history.objective[0]


@pytest.mark.parametrize(
    "solver", [s for s in MONOTONE if s.name not in ("ANLS", "Multiplicative")], ids=str
)
@pytest.mark.parametrize("s", [0.3, 0.7, 0.9])
def test_sparse_nmf_never_rises(solver, s):
    result = sparse_problem(s=s).solve(solver, stop=25)
    assert rises(result) <= 1e-12
    assert cn.sparseness(result.W, axis=0).min() >= s - 1e-9


@pytest.mark.parametrize("form", ["gauge", "taylor"])
def test_conic_sparsity_maximization_never_rises(form):
    solver = cn.SparsityMaximization(engine="conic", form=form)
    result = sparse_problem(s=0.7).solve(solver, stop=5)
    assert rises(result) <= 1e-12
    assert result.max_violation < 1e-6
    assert result.objective < result.history.objective[0]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), l1=st.sampled_from([0.0, 0.3]), l2=st.sampled_from([0.0, 0.2]))
def test_the_multiplicative_theorem_with_penalties(seed, l1, l2):
    terms = [cn.NonNegative(), cn.L1(l1), cn.L2(l2)]
    problem = cn.factorize(low_rank(m=8, n=7, seed=seed), 2, W=terms, H=terms)
    assert rises(problem.solve(cn.Multiplicative(), stop=30, seed=seed)) <= 1e-12


@pytest.mark.parametrize("more", [[], [cn.Sparseness(max=0.6)], [cn.NormBall(9.0)]], ids=str)
def test_codes_of_a_dictionary_that_became_zero_pay_their_price_no_longer(more):
    """Then the objective is that of nothing at all, and no code is left standing."""
    V = low_rank(m=8, n=7)
    H = [cn.NonNegative(), *more, cn.L1(1.0)]
    result = cn.factorize(V, 2, W=[cn.NonNegative(), cn.L1(1e4)], H=H).solve(cn.HALS(), stop=20)
    assert result.objective == pytest.approx((V**2).sum())


def test_the_multiplicative_theorem_with_weights():
    rng = np.random.default_rng(0)
    loss = cn.WeightedFrobenius(rng.random((20, 16)) < 0.7)
    assert (
        rises(cn.factorize(low_rank(), 3, loss=loss).solve(cn.Multiplicative(), stop=50)) <= 1e-12
    )


def test_anls_ends_at_exact_least_squares():
    result = cn.factorize(low_rank(), 3).solve(cn.ANLS())
    V, W, H = low_rank(), result.W, result.H
    assert kkt_residual(W.T @ W, W.T @ V, H) < 1e-8


def test_solvers_agree_on_the_minimum_of_an_easy_problem():
    V = low_rank(noise=0.0)
    for solver in MONOTONE[:4]:
        result = cn.factorize(V, 3).solve(solver, stop=cn.MaxIter(3000) | cn.RelDecrease(1e-9))
        assert result.relative_error < 1e-3, solver


@pytest.mark.parametrize(
    "terms",
    [
        [cn.NonNegative(), cn.UnitNorm()],
        [cn.NonNegative(), cn.NormBall(0.5)],
        [cn.Simplex()],
        [cn.Box(0, 0.4)],
        [cn.NonNegative(), cn.Sparseness(min=0.4), cn.UnitNorm()],
        [cn.Sparseness(min=0.6)],
    ],
    ids=str,
)
def test_hals_and_projected_gradient_keep_every_product_set(terms):
    problem = cn.factorize(low_rank(), 3, W=terms)
    for solver in (cn.HALS(), cn.ProjectedGradient()):
        result = problem.solve(solver, stop=20)
        assert result.max_violation < 1e-9
        assert rises(result) <= 1e-12


@pytest.mark.parametrize("H", [[cn.NonNegative()], [], [cn.Box(-1, 1)]], ids=str)
def test_no_multiplicative_step_is_taken_where_anything_is_negative(H):
    """Every iterate stays in W ≥ 0, not only the last; with a signed H the data need not show it."""
    for V in (low_rank() - 0.2, low_rank())[: 1 if H and H[0].implies_nonnegative else 2]:
        problem = cn.factorize(V, 3, H=H)
        result = problem.solve(cn.ProjectedGradient(free="multiplicative"), stop=20)
        assert result.history.violation.max() <= 1e-12
        assert rises(result) <= 1e-12
        plain = problem.solve(cn.ProjectedGradient(), stop=20)
        assert plain.objective == result.objective


def test_projected_gradient_is_the_gradient_that_it_is_named_after():
    """One step from a given point, by its own formula: P(B − ∇f(B)/L), L = 2‖AᵀA‖."""
    V, rng = low_rank(), np.random.default_rng(1)
    W, H = rng.random((20, 3)), rng.random((3, 16))
    result = cn.factorize(V, 3).solve(cn.ProjectedGradient(), init=(W, H), stop=1)
    before = {"W": W, "H": H}
    for name in (block.name for block in cn.factorize(V, 3).blocks):
        W, H = before["W"], before["H"]
        left, right, Y = (W, H, V) if name == "H" else (H.T, W.T, V.T)
        step = 1 / (2 * np.linalg.norm(left, 2) ** 2)
        new = np.maximum(right - step * 2 * left.T @ (left @ right - Y), 0.0)
        before[name] = new if name == "H" else new.T
    np.testing.assert_allclose(result.W, before["W"], atol=1e-12)
    np.testing.assert_allclose(result.H, before["H"], atol=1e-12)


def test_what_is_wrong_with_the_data_is_told_once():
    reasons = cn.Multiplicative().mismatches(cn.factorize(low_rank() - 0.2, 3))
    assert len(reasons) == 1
    assert "negative entries" in reasons[0]


def test_a_chain_is_no_worse_than_its_first_solver():
    problem = sparse_problem(s=0.8, rank=4)
    first = problem.solve(cn.TangentPlane())
    chained = problem.solve(cn.Chain((cn.TangentPlane(), cn.HALS())))
    assert chained.objective <= first.objective * (1 + 1e-3)
    assert chained.solver.startswith("Chain")


@pytest.mark.parametrize(
    "solver", [*MONOTONE, cn.TangentPlane(), cn.Chain((cn.TangentPlane(), cn.HALS()))], ids=str
)
def test_solver_conformance(solver):
    check_solver(solver)


def test_extrapolation_does_not_let_the_scale_of_the_factors_drift():
    problem = sparse_problem(s=0.7, rank=4)
    result = problem.solve(cn.HALS(), stop=800)
    sizes = np.linalg.norm(result.W, axis=0) / np.linalg.norm(result.H, axis=1)
    np.testing.assert_allclose(sizes, 1, rtol=1e-6)
    assert np.isfinite(result.history.objective).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", MONOTONE, ids=str)
def test_nothing_rises_with_both_penalties_in_any_precision(solver, dtype):
    terms = [cn.NonNegative(), cn.L1(0.3), cn.L2(0.2)]
    V = (30 * low_rank()).astype(dtype)
    result = cn.factorize(V, 3, W=terms, H=terms).solve(solver, stop=40)
    assert rises(result) <= (1e-6 if dtype is np.float32 else 1e-12)
