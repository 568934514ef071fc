"""Losses other than squares are recognized in their usual spellings, and only then."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

RNG = np.random.default_rng(2)
V = RNG.poisson(2.0, (6, 5)).astype(float)
BITS = (RNG.random((6, 5)) < 0.5) * 1.0
M = RNG.random((6, 5)) + 0.2
MASK = (RNG.random((6, 5)) < 0.7) * 1.0
MIX = np.array([[1.0, 0.5], [0.2, 2.0]])
W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
b = cp.Variable((6, 1), nonneg=True)
P = W @ H
KL, HUBER, ABSOLUTE, LOGISTIC = cn.KullbackLeibler, cn.Huber, cn.Absolute, cn.Logistic

SPELLINGS = {
    "kl_div": (KL, cp.sum(cp.kl_div(V, P))),
    "scaled kl_div": (KL, 3 * cp.sum(cp.kl_div(V, 2 * P)) / 2),
    "mean kl_div": (KL, cp.mean(cp.kl_div(V, P))),
    "turned kl_div": (KL, cp.sum(cp.kl_div(V.T, H.T @ W.T))),
    "transposed kl_div": (KL, cp.sum(cp.kl_div(V.T, (W @ H).T))),
    "weighted kl_div": (KL, cp.sum(cp.multiply(M, cp.kl_div(V, P)))),
    "masked kl_div": (KL, cp.sum(cp.multiply(MASK, cp.kl_div(V, P)))),
    "kl_div of some": (KL, cp.sum(cp.kl_div(V[MASK > 0], 2 * P[MASK > 0]))),
    "weighted kl_div of some": (
        KL,
        cp.sum(cp.multiply(M[MASK > 0], cp.kl_div(V[MASK > 0], P[MASK > 0]))),
    ),
    "by rows": (KL, cp.sum(cp.sum(cp.kl_div(V, P), axis=1))),
    "sparse kl_div": (KL, cp.sum(cp.kl_div(sp.csr_array(V), P))),
    "with an offset": (KL, cp.sum(cp.kl_div(V, P + b @ np.ones((1, 5))))),
    "rel_entr": (KL, cp.sum(cp.rel_entr(V, P) - V + P)),
    "rel_entr and a sum": (KL, cp.sum(cp.rel_entr(V, P)) + cp.sum(P)),
    "weighted rel_entr": (KL, cp.sum(cp.multiply(M, cp.rel_entr(V, P) - V + P))),
    "poisson": (KL, cp.sum(P) - cp.sum(cp.multiply(V, cp.log(P)))),
    "poisson entry by entry": (KL, cp.sum(P - cp.multiply(V, cp.log(P)))),
    "scaled poisson": (KL, 0.5 * (cp.sum(3 * P) - cp.sum(cp.multiply(V, cp.log(3 * P))))),
    "weighted poisson": (KL, cp.sum(cp.multiply(M, P) - cp.multiply(M * V, cp.log(P)))),
    "sparse poisson": (KL, cp.sum(P) - cp.sum(cp.multiply(sp.csr_array(V), cp.log(P)))),
    "huber": (HUBER, cp.sum(cp.huber(V - P, 0.5))),
    "huber by default": (HUBER, cp.sum(cp.huber(P - V))),
    "scaled huber": (HUBER, 2 * cp.sum(cp.huber(3 * (V - P), 0.5))),
    "weighted huber": (HUBER, cp.sum(cp.multiply(M, cp.huber(V - P, 0.5)))),
    "masked inside": (HUBER, cp.sum(cp.huber(cp.multiply(MASK, V - P), 0.5))),
    "masked model": (HUBER, cp.sum(cp.huber(V - cp.multiply(MASK, P), 0.5))),
    "huber of some": (HUBER, cp.sum(cp.huber(3 * (V - P)[MASK > 0], 0.5))),
    "turned huber": (HUBER, cp.sum(cp.huber(V.T - H.T @ W.T, 0.5))),
    "magnitudes": (ABSOLUTE, cp.sum(cp.abs(V - P))),
    "norm1": (ABSOLUTE, cp.norm1(V - P)),
    "norm of a vector": (ABSOLUTE, cp.norm(cp.vec(V - P, order="F"), 1)),
    "stacked magnitudes": (ABSOLUTE, cp.norm1(cp.vec((V - P).T, order="C"))),
    "masked magnitudes": (ABSOLUTE, cp.sum(cp.abs(cp.multiply(V > 1, V - P)))),
    "magnitudes of some": (ABSOLUTE, cp.norm1((V - P).T[1:, MASK[:, 0] > 0])),
    "mixed components": (HUBER, cp.sum(cp.huber(V - W @ MIX @ H))),
    "weighted magnitudes": (ABSOLUTE, cp.sum(cp.multiply(M, cp.abs(V - P)))),
    "magnitudes of weighted": (ABSOLUTE, cp.sum(cp.abs(cp.multiply(-M, V - 2 * P)))),
    "logistic": (LOGISTIC, cp.sum(cp.logistic(P) - cp.multiply(BITS, P))),
    "logistic in two": (LOGISTIC, cp.sum(cp.logistic(P)) - cp.sum(cp.multiply(BITS, P))),
    "weighted logistic": (
        LOGISTIC,
        cp.sum(cp.multiply(M, cp.logistic(P)) - cp.multiply(M * BITS, P)),
    ),
    "logistic of signs": (LOGISTIC, cp.sum(cp.logistic(-cp.multiply(2 * BITS - 1, P)))),
}


def value_at(stated, seed):
    rng = np.random.default_rng(seed)
    for variable in stated.variables():
        variable.value = rng.random(variable.shape) + 0.1
    factors = {v.id: v.value for v in stated.variables()}
    return float(stated.value), factors


@pytest.mark.parametrize(("kind", "stated"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_spelling_is_read_as_what_it_means(kind, stated):
    problem = cn.Problem(cp.Minimize(stated + 0.1 * cp.sum(H)))
    assert type(problem.loss) is kind
    for seed in range(3):
        wanted, values = value_at(stated + 0.1 * cp.sum(H), seed)
        factors = {
            name: values[s.variable.id].T if s.turned else values[s.variable.id]
            for name, s in problem.sources.items()
        }
        assert problem.objective(factors) == pytest.approx(wanted, rel=1e-9)
        assert problem.restated(factors) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    "stated",
    [
        cp.sum(cp.kl_div(V, P + 1)),
        cp.sum(cp.rel_entr(V, P)),
        cp.sum(cp.huber(cp.multiply(M, V - P), 0.5)),
        cp.sum(cp.logistic(P)) - cp.sum(cp.multiply(0.5 * BITS, P)),
        cp.sum(cp.multiply(MASK, P)) - cp.sum(cp.multiply(V + 1, cp.log(P))),
    ],
    ids=["shifted model", "entropy alone", "huber of weighted", "no bits", "weights that differ"],
)
def test_what_is_another_function_is_kept_as_it_is(stated):
    problem = cn.Problem(cp.Minimize(stated))
    assert not isinstance(problem.loss, (KL, HUBER, ABSOLUTE, LOGISTIC))


def test_sparse_counts_are_not_made_dense_by_reading():
    big = sp.random_array((3000, 2000), density=1e-3, rng=RNG, format="csr")
    X, Y = cp.Variable((3000, 2), nonneg=True), cp.Variable((2, 2000), nonneg=True)
    stated = cp.sum(X @ Y) - cp.sum(cp.multiply(big, cp.log(X @ Y)))
    problem = cn.Problem(cp.Minimize(stated))
    assert isinstance(problem.loss, KL)
    assert sp.issparse(problem.V)
    assert abs(problem.V - big).max() < 1e-12


def test_a_likelihood_is_read_beside_another_fit():
    stated = cp.sum(P) - cp.sum(cp.multiply(V, cp.log(P))) + cp.sum_squares(BITS - P)
    problem = cn.Problem(cp.Minimize(stated))
    assert sorted(type(fit.loss).__name__ for fit in problem.fits) == [
        "Frobenius",
        "KullbackLeibler",
    ]
    wanted, values = value_at(stated, 0)
    factors = {name: values[s.variable.id] for name, s in problem.sources.items()}
    assert problem.objective(factors) == pytest.approx(wanted, rel=1e-9)


def test_negative_counts_are_refused_at_the_door():
    with pytest.raises(cn.InputError, match="KullbackLeibler needs V >= 0"):
        cn.Problem(cp.Minimize(cp.sum(cp.kl_div(V - 5, P))))


def test_a_cap_on_a_divergence_is_read():
    loss = cp.sum(cp.kl_div(V, P))
    problem = cn.Problem(cp.Minimize(loss + cp.sum(H)), [2 * loss <= 30])
    assert problem.loss.cap == pytest.approx(15)


@pytest.mark.parametrize(
    "stated",
    [
        cp.sum(cp.log(P)) + cp.sum(cp.multiply(V + 1, cp.inv_pos(P))),
        cp.sum(cp.power(P, 0.5)) + cp.sum(cp.multiply(V, cp.power(P, -0.5))),
    ],
    ids=["Itakura-Saito", "beta 0.5"],
)
def test_what_cvxpy_cannot_state_points_to_the_terms(stated):
    with pytest.raises(cn.ModelError, match="BetaDivergence"):
        cn.Problem(cp.Minimize(stated))


def test_read_losses_are_solved_natively():
    problem = cn.Problem(cp.Minimize(cp.sum(cp.kl_div(V, P))), [cn.sparseness(W, axis=0) >= 0.4])
    result = problem.solve(stop=10)
    assert result.max_violation < 1e-6
    assert {inner.backend for step in result.history for inner in step.inner} == {"NATIVE"}
