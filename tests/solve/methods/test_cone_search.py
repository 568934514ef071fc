"""Search over sampled cones in each visit of a block, on problems small enough for brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import conicnmf as cn

KINDS = ["plain", "masked", "signed"]


def drawn(kind, seed, m=4, n=7, rank=2):
    """Return data, weights, coefficients, and the terms and loss of a sparse W."""
    rng = np.random.default_rng(seed)
    V, H = rng.random((m, n)), rng.random((rank, n))
    M, loss, signs = np.ones((m, n)), "frobenius", [cn.NonNegative()]
    if kind == "masked":
        M = (rng.random((m, n)) < 0.7).astype(float)
        loss = cn.WeightedFrobenius(M)
    elif kind == "signed":
        V, H, signs = rng.normal(size=(m, n)), rng.normal(size=(rank, n)), []
    return V, M, H, loss, [*signs, cn.Sparseness(min=0.6)]


def known_codes(kind, seed):
    """Return the problem of W alone, with H known."""
    V, _, H, loss, terms = drawn(kind, seed)
    return cn.compose(cn.Approx(V, "W @ H", loss=loss), W=terms, constants={"H": H})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["sample", "enumerate"])
def test_directions_are_on_their_cones_and_lengths_are_the_best_ones(kind, method):
    V, M, H, _, _ = drawn(kind, 3)
    stated = known_codes(kind, 3)
    (block,) = stated.blocks
    factors = stated.start(None, np.random.default_rng(0))
    search = cn.ConeSearch(samples=6, method=method, budget=40)
    held, B = block.given(factors), block.rows(factors)
    X = search.near(held, B, np.random.default_rng(1))
    assert block.violation(X) <= 1e-9
    parts = np.array([(M * np.outer(x, h)).ravel() for x, h in zip(X, H, strict=True)])
    low = -np.inf if kind == "signed" else 0.0
    best = lsq_linear(parts.T, (M * V).ravel(), (low, np.inf), tol=1e-14)
    np.testing.assert_allclose(best.x, 1.0, atol=1e-6)


SEARCH = cn.ConeSearch(samples=100, budget=300)
SOLVED = {
    "plain": (cn.TangentPlane, "plain", 12),
    "masked": (cn.TangentPlane, "masked", 3),
    "signed": (cn.TangentPlane, "signed", 1),
    "masked, sharpened": (cn.SparsityMaximization, "masked", 0),
}


def ends(stated, solver):
    """Return the results of two starts."""
    return [stated.solve(solver, seed=seed, init="random", throw=False) for seed in range(2)]


@pytest.mark.parametrize("case", SOLVED)
def test_blocks_end_at_the_minimum_that_branch_and_bound_proves(case):
    solver, kind, seed = SOLVED[case]
    stated = known_codes(kind, seed)
    runs = ends(stated, solver(search=SEARCH))
    least = cn.global_block(stated, runs[0].factors, "W", budget=20000, gap=1e-4)
    assert least.proved
    for run in runs:
        assert run.max_violation <= 1e-6
        assert run.objective <= least.objective * (1 + 1e-3)


def test_without_a_search_some_starts_end_elsewhere_and_the_certificate_tells():
    stated = known_codes("masked", 0)
    for found, own in ((None, False), (SEARCH, True)):
        runs = ends(stated, cn.SparsityMaximization(search=found))
        proved = [
            check.tolerance < np.inf
            for run in runs
            for check in run.certificate(budget=20000).checks
            if check.name == "global in W"
        ]
        assert len(proved) == 2
        assert all(proved) == own


def test_the_objective_never_rises_with_a_search():
    V, _, _, _, terms = drawn("plain", 5, m=8, n=9)
    problem = cn.factorize(V, 2, W=terms)
    result = problem.solve(cn.SparsityMaximization(search=SEARCH), stop=10)
    assert (np.diff(result.history.objective) <= 0).all()


def test_what_cannot_be_searched_is_refused():
    V = np.ones((4, 5))
    by_sample = [cn.NonNegative(), cn.Sparseness(min=0.6, each="sample")]
    solver = cn.TangentPlane(search=SEARCH)
    assert not cn.factorize(V, 2).solve(solver, stop=1).max_violation
    with pytest.raises(cn.IncompatibleError, match="sparseness of components, and H has others"):
        cn.factorize(V, 2, H=by_sample).solve(solver)


def test_a_start_is_searched_with_weights_and_signs():
    for kind in KINDS:
        V, _, _, loss, terms = drawn(kind, 4, m=6, n=9)
        H = [] if kind == "signed" else [cn.NonNegative()]
        problem = cn.factorize(V, 2, loss=loss, W=terms, H=H)
        searched = problem.solve(cn.HALS(), init=cn.ConeSearch(samples=20, budget=200), stop=0)
        plain = problem.solve(cn.HALS(), stop=0)
        assert searched.max_violation <= 1e-6
        assert searched.objective < plain.objective


def test_a_factor_behind_a_mask_begins_with_its_best_coefficients():
    """The coefficients are SciPy's for the dictionary that the mask leaves."""
    rng = np.random.default_rng(0)
    V, M = rng.random((6, 5)), (rng.random((6, 2)) < 0.7).astype(float)
    terms = {"W": [cn.NonNegative(), cn.Sparseness(min=0.4)], "H": [cn.NonNegative()]}
    problem = cn.compose(cn.Approx(V, "M * W @ H"), rank=2, constants={"M": M}, **terms)
    begun = problem.start(cn.ConeSearch(samples=3, budget=9), rng)
    best = np.column_stack([nnls(M * begun["W"], v)[0] for v in V.T])
    np.testing.assert_allclose(begun["H"], best, atol=1e-8)
