"""Divergences under constraints: never a rise, always feasible, and the minimum a cone solver finds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.solve.methods.base import Context
from conicnmf.solve.programs.lightest import has_native_program

PLUS = cn.NonNegative()


def counts(m, n, rank, seed, level=5.0):
    rng = np.random.default_rng(seed)
    W, H = rng.random((m, rank)) ** 2, rng.random((rank, n))
    return rng.poisson(level * W @ H).astype(float)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    m, n, rank = rng.integers(2, 9), rng.integers(2, 9), rng.integers(1, 4)
    beta = rng.choice([-1.0, 0.0, 0.3, 1.0, 1.0, 1.5, 2.0, 2.7])
    V = counts(m, n, rank, seed) if beta > 0 else rng.random((m, n)) + 1e-3
    weights = [None, rng.random((m, n)) < 0.7, rng.random((m, 1)), rng.random((1, n)) + 0.1]
    weights = weights[rng.integers(4)]
    if weights is not None and not weights.any():
        weights = None
    penalties = [[], [cn.L1(rng.random())], [cn.L2(rng.random())], [cn.L1(0.3), cn.L2(0.2)]]
    W, H = ([PLUS, *penalties[rng.integers(4)]] for _ in range(2))
    data = sp.csr_array(V) if beta > 0 and rng.random() < 0.3 else V
    return cn.factorize(data, rank, loss=cn.BetaDivergence(beta, weights=weights), W=W, H=H)


@pytest.mark.parametrize("block", range(10))
def test_multiplicative_rules_never_raise_the_objective_in_a_thousand_problems(block):
    for seed in range(100 * block, 100 * block + 100):
        problem = random_problem(seed)
        result = problem.solve("Multiplicative", seed=seed, stop=6, throw=False)
        trace = result.history.objective
        assert np.isfinite(trace).all(), (seed, problem)
        assert (np.diff(trace) <= 1e-9 * (1 + np.abs(trace[:-1]))).all(), (seed, problem)


STATED = {
    "band": ([PLUS, cn.Sparseness(min=0.6)], [PLUS]),
    "high band": ([PLUS, cn.Sparseness(min=0.8)], [PLUS, cn.L1(0.1)]),
    "bands on samples": ([PLUS], [PLUS, cn.Sparseness(min=0.4, each="sample")]),
    "simplex": ([PLUS], [cn.Simplex(each="sample")]),
    "simplex of components": ([cn.Simplex(3.0), cn.L2(0.1)], [PLUS]),
    "both": ([PLUS, cn.Sparseness(min=0.5)], [cn.Simplex(each="sample")]),
    "reward": ([PLUS, cn.SparsenessReward(0.5)], [PLUS]),
}


@pytest.mark.parametrize("beta", [0.0, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("terms", STATED.values(), ids=STATED)
def test_native_steps_are_feasible_and_never_rise(terms, beta):
    W, H = terms
    V = counts(14, 12, 3, 1) + (0.1 if beta == 0 else 0.0)
    problem = cn.factorize(V, 3, loss=cn.BetaDivergence(beta), W=W, H=H)
    violations = []
    result = problem.solve(
        cn.TangentPlane(),
        stop=25,
        callback=lambda _, factors: violations.append(problem.violation(factors)),
    )
    assert max(violations) < 1e-6
    trace = result.history.objective
    assert np.isfinite(trace).all()
    assert (np.diff(trace) <= 1e-8 * np.abs(trace[:-1])).all()
    assert trace[-1] < 0.9 * trace[0]
    assert {solve.backend for step in result.history for solve in step.inner} == {"NATIVE"}


def smooth(W):
    return cp.abs(cp.diff(W, axis=0)) <= 0.5


@pytest.mark.parametrize(
    ("W", "H"),
    [
        ([PLUS, cn.Convex(smooth)], [PLUS]),
        ([PLUS, cn.Sparseness(min=0.3, max=0.5)], [PLUS]),
        ([PLUS, cn.NormBall(2.0)], [cn.Simplex(each="sample")]),
        ([cn.Box(0, 0.8)], [PLUS, cn.ConvexPenalty(cp.sum_squares)]),
    ],
    ids=["user's own", "band with a cone", "ball", "box"],
)
@pytest.mark.parametrize("loss", ["kl", "is"])
def test_other_constraints_take_cone_programs_of_the_size_of_the_factor(W, H, loss):
    V = counts(10, 40, 2, 2) + 0.1
    problem = cn.factorize(V, 2, loss=loss, W=W, H=H)
    result = problem.solve(cn.TangentPlane(), stop=6)
    assert result.max_violation < 1e-6
    trace = result.history.objective
    assert (np.diff(trace) <= 1e-6 * np.abs(trace[:-1])).all()
    assert trace[-1] < trace[0]


BLOCKS = {
    "orthant": [PLUS],
    "simplex": [cn.Simplex(each="sample")],
    "rows": [cn.Simplex(2.0)],
    "penalties": [PLUS, cn.L1(0.3), cn.L2(0.2)],
    "ball": [PLUS, cn.NormBall(3.0)],
}


@pytest.mark.parametrize("beta", [1.0, 1.5])
@pytest.mark.parametrize("terms", BLOCKS.values(), ids=BLOCKS)
def test_a_block_is_lowered_to_the_minimum_that_cvxpy_finds(terms, beta):
    rng = np.random.default_rng(0)
    Y, A = counts(9, 6, 2, 3), rng.random((9, 2)) + 0.1
    block, held = fitted_block("H", Y, A, cn.BetaDivergence(beta), terms)
    solver = cn.TangentPlane()
    seen = solver.look(block, Context())
    assert seen.block.kind == "separable"
    B = block.projection(np.full(block.shape, 0.5))
    native = has_native_program(seen.block)
    for _ in range(200 if native else 40):
        B = solver.lower(held, B, seen).B
    X = cp.Variable(block.shape)
    stated = held.expression(X) + sum(p.expression(X) for p in block.penalties)
    program = cp.Problem(
        cp.Minimize(stated), [part for c in block.constraints for part in c.cone(X)]
    )
    program.solve(solver="CLARABEL")
    # Native steps are cheap enough to come as near as they like; forty cone programs come this near.
    assert held.objective(B) == pytest.approx(program.value, rel=1e-6 if native else 1e-4)


def test_a_start_with_zeros_is_brought_to_where_the_loss_is_finite():
    V = counts(20, 15, 3, 4) + 0.5
    problem = cn.factorize(V, 3, loss="kl", W=[PLUS, cn.Sparseness(min=0.9)])
    factors = problem.start(None, np.random.default_rng(0))
    assert np.isfinite(problem.objective(factors))
    assert problem.violation(factors) < 1e-6
    zeros = cn.factorize(V, 3, loss="kl").start(
        (np.eye(20, 3), np.eye(3, 15)), np.random.default_rng(0)
    )
    assert np.isfinite(cn.factorize(V, 3, loss="kl").objective(zeros))


def test_a_mask_hides_entries_from_a_divergence():
    V = counts(12, 10, 2, 5)
    mask = np.random.default_rng(1).random(V.shape) < 0.7
    spoiled = np.where(mask, V, 1e3)
    start = np.full((12, 2), 0.5) + np.eye(12, 2), np.full((2, 10), 0.5) + np.eye(2, 10)
    clean, other = (
        cn.factorize(data, 2, loss=cn.KullbackLeibler(weights=mask)).solve(
            "Multiplicative", init=start, stop=20
        )
        for data in (V, spoiled)
    )
    np.testing.assert_allclose(clean.W @ clean.H, other.W @ other.H, rtol=1e-6)


def test_the_default_solver_reaches_what_scikit_learn_reaches():
    from sklearn.decomposition import NMF

    V = counts(30, 25, 3, 6)
    W0, H0 = (np.random.default_rng(2).random(s) + 0.1 for s in ((30, 3), (3, 25)))
    theirs = NMF(3, beta_loss=1, solver="mu", init="custom", max_iter=300, tol=0)
    W = theirs.fit_transform(V, W=W0.copy(), H=H0.copy())
    wanted = cn.KullbackLeibler().value(V, W, theirs.components_)
    mine = cn.factorize(V, 3, loss="kl").solve(init=(W0, H0), stop=300)
    assert mine.objective == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_units_of_the_data_do_not_matter(scale):
    V = counts(12, 10, 2, 7) + 1.0
    for loss, degree in (("kl", 1), ("is", 0)):
        one, other = (cn.factorize(c * V, 2, loss=loss).solve(stop=20) for c in (1.0, scale))
        assert other.objective == pytest.approx(scale**degree * one.objective, rel=1e-9)


def test_three_factors_offsets_and_views_take_divergences():
    V = counts(12, 10, 2, 8) + 0.5
    problems = [
        cn.factorize(V, (3, 2), loss="kl"),
        cn.factorize(V, 2, loss="kl", offset="feature", b=[PLUS]),
        cn.factorize({"x": V, "y": V[:5]}, 2, loss={"x": "kl", "y": "frobenius"}),
        cn.factorize({"x": V, "y": V[:5]}, 2, loss={"x": "kl", "y": "is"}),
    ]
    for problem in problems:
        result = problem.solve("Multiplicative", stop=30)
        trace = result.history.objective
        assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all(), problem
        assert trace[-1] < 0.9 * trace[0]


def test_signed_factors_are_refused_with_the_reason():
    V = counts(12, 10, 2, 8) + 0.5
    problem = cn.factorize(V, 2, loss="kl", W=[])
    assert any("may be negative" in why for why in cn.Multiplicative().mismatches(problem))
