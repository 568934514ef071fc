"""Projective NMF and the non-negative linear Hebbian network, in batches and on a stream."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize

import conicnmf as cn
from conicnmf.errors import IncompatibleError, InputError
from conicnmf.families.one_factor import (
    HebbianStream,
    OnlineHebbian,
    ProjectedDescent,
    ProjectionRule,
    ProjectiveNMF,
    ProjectiveRule,
    QuadraticProjection,
)
from conicnmf.families.one_factor.view import one_factor
from conicnmf.study.measures import orthogonality

seeds = st.integers(0, 2**32 - 1)


def parts(n=200, seed=0, noise=0.05):
    """Return data of four parts that do not overlap, and the parts."""
    rng = np.random.default_rng(seed)
    W = np.kron(np.eye(4), 0.5 + rng.random((5, 1)))
    return W @ rng.random((4, n)) + noise * rng.random((20, n)), W


@settings(max_examples=15, deadline=None)
@given(seeds, st.integers(1, 4))
def test_its_rule_never_raises_the_error(seed, rank):
    V = np.random.default_rng(seed).random((7, 11)) ** 3
    result = cn.solve(ProjectiveNMF(V, rank), ProjectiveRule(), stop=60)
    values = result.history.objective
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert result.objective == pytest.approx(np.sum((V - result.W @ result.W.T @ V) ** 2))
    assert result.relative_error == pytest.approx(result.objective / np.sum(V**2))


@settings(max_examples=10)
@given(seeds)
def test_the_gradient_is_that_of_differences(seed):
    rng = np.random.default_rng(seed)
    problem = ProjectiveNMF(rng.random((5, 6)), 2)

    def value(x):
        return problem.objective({"W": x.reshape(5, 2)})

    def slope(x):
        (term,) = problem.blocks[0].penalties
        return term.gradient(x.reshape(5, 2).T).T.ravel()

    x = 0.3 * rng.random(10) + 0.1
    assert check_grad(value, slope, x) <= 1e-4 * np.linalg.norm(slope(x)) + 1e-4


@settings(max_examples=10, deadline=None)
@given(seeds, st.floats(1e-3, 1e3))
def test_scale_does_not_oscillate_whatever_the_start(seed, scale):
    rng = np.random.default_rng(seed)
    V, W = rng.random((6, 9)), rng.random((6, 2))
    problem = ProjectiveNMF(V, 2)
    for solver in (ProjectiveRule(), ProjectionRule()):
        near = cn.solve(problem, solver, init=W, stop=5)
        far = cn.solve(problem, solver, init=scale * W, stop=5)
        np.testing.assert_allclose(near.W, far.W, rtol=1e-6, atol=1e-12)


def test_hebbian_step_is_the_printed_one_up_to_scale():
    rng = np.random.default_rng(0)
    V, W = rng.random((6, 9)), rng.random((6, 2))
    printed = W * (V @ V.T @ W) / (W @ W.T @ V @ V.T @ W)
    found = cn.solve(ProjectiveNMF(V, 2), ProjectionRule(), init=W, stop=1).W
    np.testing.assert_allclose(found / found.sum(), printed / printed.sum(), rtol=1e-9)


@pytest.mark.parametrize("solver", [ProjectiveRule(), ProjectionRule(), OnlineHebbian(0.01)])
def test_parts_that_do_not_overlap_are_found(solver):
    V, W = parts()
    stop = 10 if isinstance(solver, OnlineHebbian) else 1000
    result = cn.solve(ProjectiveNMF(V, 4), solver, stop=stop)
    assert orthogonality(result.W) > 0.95
    assert cn.measures.matched_cosines(W, result.W).min() > 0.98


def test_sparse_data_are_never_multiplied_out_when_there_are_many_features():
    V = sp.random_array((4000, 60), density=0.02, rng=np.random.default_rng(0), format="csr")
    problem = ProjectiveNMF(V, 3)
    assert problem.blocks[0].penalties[0].moments.formed is None
    dense = cn.solve(ProjectiveNMF(V.toarray(), 3), ProjectiveRule(), stop=5)
    np.testing.assert_allclose(
        cn.solve(problem, ProjectiveRule(), stop=5).W, dense.W, rtol=1e-6, atol=1e-12
    )
    assert cn.solve(problem, OnlineHebbian(), stop=1).W.shape == (4000, 3)


def test_products_with_few_features_go_through_the_small_matrix():
    V = np.random.default_rng(0).random((5, 40))
    problem = ProjectiveNMF(V, 2)
    assert problem.blocks[0].penalties[0].moments.formed is not None
    W = np.random.default_rng(1).random((5, 2))
    np.testing.assert_allclose(one_factor(problem).at(W).G, V @ (V.T @ W))


def test_sparseness_bands_are_kept_and_cost_something():
    V, _ = parts(60)
    free = cn.solve(ProjectiveNMF(V, 3), ProjectedDescent())
    banded = ProjectiveNMF(V, 3, constraints=[cn.Sparseness(min=0.7, max=0.8)])
    result = cn.solve(banded)
    assert result.solver.startswith("ProjectedDescent")
    assert result.max_violation < 1e-6
    assert (np.diff(result.history.objective) <= 1e-9).all()
    assert result.objective >= free.objective * 0.9
    assert result.certificate()
    with pytest.raises(IncompatibleError, match="it keeps only W >= 0 and the norm"):
        cn.solve(banded, ProjectiveRule())


def test_a_converged_result_is_certified_and_a_start_is_not():
    V, _ = parts(60)
    problem = ProjectiveNMF(V, 4)
    assert cn.solve(problem).certificate()
    assert not cn.solve(problem, stop=1).certificate()


def test_a_stream_in_three_passes_comes_close_to_the_batch():
    V, _ = parts(600, noise=0.3)
    problem = ProjectiveNMF(V, 4)
    batch = min(cn.solve(problem, ProjectionRule(), seed=s, stop=1000).objective for s in range(3))
    online = cn.solve(problem, OnlineHebbian(), stop=3)
    assert online.objective <= 1.03 * batch
    assert online.n_iter == 3


def test_partial_fit_goes_on_where_it_stopped():
    V, _ = parts(90)
    whole = HebbianStream(4).partial_fit(V)
    bits = HebbianStream(4)
    for first in range(0, 90, 30):
        bits.partial_fit(V[:, first : first + 30])
    np.testing.assert_array_equal(whole.W, bits.W)
    sparse = HebbianStream(4).partial_fit(sp.csr_array(V))
    np.testing.assert_allclose(sparse.W, whole.W)
    assert np.linalg.norm(whole.W, 2) == pytest.approx(1.0)


def test_a_zero_in_a_sample_does_not_end_its_row():
    V, _ = parts(200)
    V[:, 0] = 0
    V[0, 1:30] = 0
    V[7] = 0
    W = HebbianStream(4).partial_fit(V).W
    np.testing.assert_array_equal(W.any(axis=1), np.arange(20) != 7)


def test_wrong_input_is_refused():
    with pytest.raises(InputError, match="V >= 0"):
        ProjectiveNMF(-np.eye(3), 1)
    with pytest.raises(InputError, match="> 0 and <= 1, got rate=2"):
        OnlineHebbian(rate=2)
    with pytest.raises(InputError, match=">= 1, got batch=0"):
        HebbianStream(2, batch=0)
    with pytest.raises(InputError, match="no sample yet"):
        _ = HebbianStream(2).W
    stream = HebbianStream(2).partial_fit(np.ones((3, 4)))
    with pytest.raises(InputError, match="3 features"):
        stream.partial_fit(np.ones((4, 4)))
    with pytest.raises(InputError, match="negative entries"):
        stream.partial_fit(-np.ones((3, 4)))


def test_the_best_iterate_of_a_rule_is_returned_where_an_objective_is_stated():
    """On these digits the rule passes a better point than its fixed point, and keeps it."""
    V = cn.datasets.load("digits").V
    problem = QuadraticProjection(V @ V.T / V.shape[1], 10)
    for seed in range(2):
        result = cn.solve(problem, ProjectionRule(), seed=seed, stop=300)
        assert result.objective == result.history.objective.min()
        last = cn.solve(problem, ProjectionRule(last=True), seed=seed, stop=300)
        assert last.objective == last.history.objective[-1]


def test_zero_data_have_a_certificate():
    result = cn.solve(ProjectiveNMF(np.zeros((4, 3)), 2), stop=3)
    assert result.objective == 0
    assert result.certificate().checks


def test_zeros_of_the_start_are_lifted_where_the_rule_has_settled():
    V = np.random.default_rng(0).random((8, 12))
    W = np.random.default_rng(1).random((8, 2))
    W[::2] = 0
    problem = ProjectiveNMF(V, 2)
    result = cn.solve(problem, ProjectiveRule(), init={"W": W})
    free = cn.solve(problem, ProjectiveRule())
    assert result.objective < 1.1 * free.objective
    assert result.certificate(), result.certificate()


@pytest.mark.parametrize("seed", [2, 15, 23])
def test_an_exact_fit_in_single_precision_is_certified_from_its_first_iterate(seed):
    w = np.random.default_rng(seed).random((5, 1)).astype(np.float32)
    V = w @ np.random.default_rng(seed + 1).random((1, 9)).astype(np.float32)
    start = {"W": w / np.linalg.norm(w)}
    result = cn.solve(ProjectiveNMF(V, 1), ProjectiveRule(), init=start)
    assert result.certificate(), result.certificate()


@pytest.mark.parametrize("seed", range(4))
def test_the_default_ends_no_higher_than_its_rule_and_as_low_as_another_quasi_newton_code(seed):
    V = parts(n=60, seed=seed, noise=0.5)[0]
    problem = ProjectiveNMF(V, 3)
    result = cn.solve(problem, seed=seed)
    assert result.solver.startswith("ProjectiveQuasiNewton")
    assert (np.diff(result.history.objective) <= 0).all()
    rule = cn.solve(problem, ProjectiveRule(), seed=seed)
    assert result.objective <= rule.objective * (1 + 1e-3)
    term = one_factor(problem).term

    def value(x):
        B = x.reshape(result.W.shape).T
        return term.value(B), term.gradient(B).T.ravel()

    bounds = [(0, None)] * result.W.size
    other = minimize(value, result.W.ravel(), jac=True, bounds=bounds, method="L-BFGS-B")
    assert other.fun >= result.objective * (1 - 1e-4)
    assert result.certificate(), result.certificate()


def test_quasi_newton_steps_go_on_from_a_checkpoint(tmp_path):
    problem, file = ProjectiveNMF(parts(n=60, noise=0.5)[0], 3), tmp_path / "run.npz"
    cn.solve(problem, stop=4, checkpoint=file)
    later = cn.solve(problem, stop=9, checkpoint=file)
    assert later.objective == pytest.approx(cn.solve(problem, stop=9).objective, rel=1e-12)
