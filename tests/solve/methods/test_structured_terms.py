"""Structured terms: exact component-wise steps reach what CVXPY finds, and never rise."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.solve.choice import choose
from conicnmf.solve.methods.hals import minimize_components

PLUS = cn.NonNegative()
LENGTH = 9
PATH = np.diff(np.eye(LENGTH), axis=0)
CONVEX = [
    cn.TotalVariation(0.3),
    cn.Smooth(0.4),
    cn.Smooth(0.4, order=2),
    cn.GraphLaplacian(0.5, PATH.T @ PATH),
    cn.L21(0.4),
    cn.GroupLasso(0.4, np.arange(LENGTH) // 3),
    cn.Monotone(),
    cn.Monotone(increasing=False),
]
OTHERS = [cn.Unimodal(), cn.Cardinality(3), cn.MinimumVolume(0.4, delta=0.2)]


def random_block(terms, seed):
    rng = np.random.default_rng(seed)
    Y, A = rng.standard_normal((8, LENGTH)) + 0.5, rng.random((8, 3))
    block, held = fitted_block("H", Y, A, cn.Frobenius(), terms)
    return Y, A, block, held


@pytest.mark.parametrize("signed", [False, True], ids=["non-negative", "signed"])
@pytest.mark.parametrize("term", [*CONVEX, cn.L1(0.5)], ids=repr)
def test_a_convex_block_ends_where_cvxpy_does(term, signed):
    terms = [term] if signed else [PLUS, term]
    for seed in range(3):
        Y, A, block, held = random_block([*terms, cn.L2(0.1)], seed)
        B = minimize_components(block, held.quadratic(), np.zeros(block.shape), 400)
        X = cp.Variable(block.shape)
        cost = cp.sum_squares(Y - A @ X) + 0.1 * cp.sum_squares(X)
        cost += sum(own.expression(X) for own in terms if isinstance(own, cn.extend.Penalty))
        kept = [part for own in block.constraints for part in own.cone(X)]
        wanted = cp.Problem(cp.Minimize(cost), kept).solve(solver="CLARABEL")
        assert block.violation(B) <= 1e-9
        assert held.objective(B) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("term", [*CONVEX, *OTHERS], ids=repr)
def test_the_objective_never_rises_and_constraints_hold(term):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        V = rng.random((LENGTH, 7)) + 0.1 * rng.standard_normal((LENGTH, 7))
        free = seed % 2 == 1
        problem = cn.factorize(V, 3, W=[term] if free else [PLUS, term], H=[PLUS, cn.L2(0.05)])
        result = problem.solve(cn.HALS(), stop=30, seed=seed)
        objective = result.history.objective
        assert np.diff(objective).max() <= 1e-12 * objective[0]
        assert problem.violation(result.factors) <= 1e-9
        assert result.objective == pytest.approx(problem.restated(result.factors), rel=1e-9)


@pytest.mark.parametrize("term", CONVEX, ids=repr)
def test_a_cone_program_finds_nothing_better_in_a_block(term):
    V = np.random.default_rng(5).random((LENGTH, 8))
    problem = cn.factorize(V, 2, W=[PLUS, term], H=[PLUS, cn.L2(0.1)])
    found = problem.solve(cn.HALS(), stop=400)
    again = problem.solve(cn.TangentPlane(engine="conic"), init=(found.W, found.H), stop=2)
    assert again.objective >= found.objective * (1 - 1e-6)


@pytest.mark.parametrize("term", [*CONVEX, *OTHERS], ids=repr)
def test_exact_steps_are_the_default(term):
    V = np.random.default_rng(5).random((LENGTH, 8))
    problem = cn.factorize(V, 2, W=[PLUS, term])
    assert not cn.HALS().mismatches(problem)
    chosen, _ = choose(problem)
    assert chosen.name.startswith(("HALS", "ANLS"))


def test_terms_that_tie_components_or_have_no_joint_step_are_named():
    V = np.random.default_rng(5).random((LENGTH, 8))
    tied = cn.factorize(V, 2, W=[PLUS, cn.L21(0.1, each="sample")])
    assert cn.HALS().mismatches(tied) == ["L21(weight=0.1, each='sample') on W links components"]
    several = cn.factorize(V, 2, W=[PLUS, cn.Smooth(1.0), cn.TotalVariation(1.0)])
    (reason,) = cn.HALS().mismatches(several)
    assert "no joint proximal step is known" in reason
    low_rank = cn.factorize(V, 2, W=[PLUS, cn.Nuclear(1.0)])
    assert any("has no prox_nonneg form" in reason for reason in cn.HALS().mismatches(low_rank))


def test_a_component_that_the_data_do_not_see_obeys_its_penalty():
    Y, A = np.zeros((4, LENGTH)), np.zeros((4, 2))
    A[:, 0] = 1.0
    block, held = fitted_block("H", Y, A, cn.Frobenius(), [PLUS, cn.L21(0.4)])
    B = minimize_components(block, held.quadratic(), np.ones(block.shape), 2)
    assert not B.any()


def test_weights_and_structured_terms_go_together():
    rng = np.random.default_rng(3)
    V, M = rng.random((LENGTH, 8)), rng.random((LENGTH, 8)) > 0.3
    loss = cn.WeightedFrobenius(M)
    problem = cn.factorize(V, 2, loss=loss, W=[PLUS, cn.TotalVariation(0.2)], H=[PLUS, cn.L2(0.1)])
    found = problem.solve(cn.HALS(), stop=600)
    again = problem.solve(cn.TangentPlane(engine="conic"), init=(found.W, found.H), stop=2)
    assert again.objective >= found.objective * (1 - 1e-4)


def test_single_precision_stays_single():
    V = np.random.default_rng(3).random((LENGTH, 8)).astype(np.float32)
    for term in [*CONVEX, *OTHERS]:
        result = cn.factorize(V, 2, W=[PLUS, term]).solve(cn.HALS(), stop=5)
        assert result.W.dtype == np.float32


@pytest.mark.parametrize("seed", range(3))
def test_smooth_activations_of_loud_and_silent_frames(seed):
    """Frames differ by six powers of ten, where ties of one strength for all make no progress."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((12, 2)) ** 3, rng.random((2, 40)) * 10 ** rng.uniform(-6, 0, 40)
    V = (W @ H) * rng.gamma(2.0, 0.5, (12, 40)) + 1e-6
    rough = cn.factorize(V, 2, loss="is").solve(init=cn.NNDSVD(), stop=50)
    sizes = np.linalg.norm(rough.W, axis=0)
    terms = {"W": [PLUS, cn.L2(10.0)], "H": [PLUS, cn.Smooth(100.0)]}
    problem = cn.factorize(V, 2, loss="is", **terms)
    result = problem.solve(init=(rough.W / sizes, rough.H * sizes[:, None]))
    assert result.status is cn.Status.CONVERGED
    assert result.certificate()


@pytest.mark.parametrize("beside", [cn.Simplex(0.5), cn.Box(0, 0.3), cn.NormBall(0.5)], ids=str)
def test_least_squares_of_all_columns_know_of_a_sum_and_of_nothing_beside_it(beside):
    V = 10 * np.random.default_rng(0).random((7, 8))
    stated = [PLUS, beside, cn.FactorSum(3.0)]
    problem = cn.factorize(V, 4, W=stated, H=[PLUS, cn.Sparseness(max=0.76, each="sample")])
    assert cn.ANLS().mismatches(cn.factorize(V, 4, W=stated))
    result = problem.solve("Splitting", stop=30)
    assert result.max_violation <= 1e-6
    assert result.objective < 0.7 * result.history[0].objective
