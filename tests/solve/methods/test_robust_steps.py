"""Robust and logistic losses under constraints: no rise, feasible, the minimum a cone solver finds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.solve.methods.base import Context

RNG = np.random.default_rng(6)
CLEAN = RNG.random((16, 3)) ** 2 @ RNG.random((3, 14))
SPOILED = np.where(RNG.random(CLEAN.shape) < 0.05, CLEAN + 4, CLEAN)
BITS = (RNG.random((16, 14)) < 0.4) * 1.0
MASK = RNG.random(CLEAN.shape) < 0.8
PLUS = cn.NonNegative()

LOSSES = {
    "huber": (cn.Huber(0.1), SPOILED),
    "masked huber": (cn.Huber(0.1, weights=MASK), SPOILED),
    "absolute": (cn.Absolute(), SPOILED),
    "logistic": (cn.Logistic(), BITS),
}
STATED = {
    "plain": ([PLUS], [PLUS]),
    "free": ([], []),
    "band": ([PLUS, cn.Sparseness(min=0.5)], [PLUS]),
    "simplex": ([PLUS], [cn.Simplex(each="sample")]),
    "penalties": ([PLUS, cn.L2(0.1)], [PLUS, cn.L1(0.1)]),
    "user's own": ([PLUS, cn.Convex(lambda W: cp.sum(W, axis=0) <= 5)], [PLUS]),
}


@pytest.mark.parametrize("terms", STATED.values(), ids=STATED)
@pytest.mark.parametrize("name", LOSSES)
def test_every_solver_that_fits_keeps_its_promises(name, terms):
    loss, V = LOSSES[name]
    problem = cn.factorize(V, 3, loss=loss, W=terms[0], H=terms[1])
    solvers = [cn.TangentPlane(), cn.HALS(), cn.ANLS(), cn.Multiplicative()]
    fitting = [solver for solver in solvers if not solver.mismatches(problem)]
    assert fitting
    for solver in fitting:
        result = problem.solve(solver, stop=8)
        assert result.max_violation < 1e-6
        trace = result.history.objective
        assert (np.diff(trace) <= 1e-7 * np.abs(trace[:-1])).all(), solver
        assert trace[-1] < trace[0], solver


@pytest.mark.parametrize("loss", [cn.Huber(0.1), cn.Absolute(), cn.Logistic()], ids=str)
@pytest.mark.parametrize("terms", [[PLUS], [], [cn.Simplex(each="sample")]], ids=str)
def test_a_block_is_lowered_to_the_minimum_that_cvxpy_finds(terms, loss):
    A = RNG.random((16, 3)) + 0.1
    Y = BITS if isinstance(loss, cn.Logistic) else SPOILED
    block, held = fitted_block("H", Y, A, loss, terms)
    solver = cn.ANLS(extrapolate=False)
    face = solver.facing(block)
    assert face.kind in ("quadratic", "weighted")
    B = np.full(block.shape, 1 / 3)
    for _ in range(2000):
        new = solver.minimize(held.majorized(B, face), B)[0]
        B = new if held.objective(new) <= held.objective(B) else B
    X = cp.Variable(block.shape)
    limits = [part for c in block.constraints for part in c.cone(X)]
    program = cp.Problem(cp.Minimize(held.expression(X)), limits)
    program.solve(solver="CLARABEL")
    smoothed = isinstance(loss, cn.Absolute)
    assert held.objective(B) == pytest.approx(program.value, rel=2e-3 if smoothed else 1e-6)
    assert held.objective(B) >= program.value * (1 - 1e-6)


@pytest.mark.parametrize("loss", [cn.Huber(0.05), cn.Absolute()], ids=str)
def test_outliers_hardly_move_the_model(loss):
    def error(stated):
        result = cn.factorize(SPOILED, 3, loss=stated).solve(seed=1)
        return np.linalg.norm(result.W @ result.H - CLEAN) / np.linalg.norm(CLEAN)

    assert error(loss) < 0.1 * error("frobenius")


def test_logistic_models_with_an_offset_beat_the_base_rate():
    rates = BITS.mean(axis=1, keepdims=True)
    base = -(BITS * np.log(rates) + (1 - BITS) * np.log(1 - rates)).sum()
    result = cn.factorize(BITS, 2, loss="logistic", offset="feature").solve(stop=100)
    assert result.objective < base
    probabilities = 1 / (1 + np.exp(-(result.W @ result.H + result["b"])))
    assert probabilities.min() < 0.5 < probabilities.max()


def test_memo_of_a_block_is_that_of_its_majorizer():
    block, _ = fitted_block("H", SPOILED, np.ones((16, 2)), cn.Huber(0.1), [PLUS])
    assert cn.TangentPlane().look(block, Context()).block.kind == "quadratic"


def test_huber_goes_to_components_and_then_to_samples():
    V = np.random.default_rng(3).random((9, 8))
    mask = np.random.default_rng(4).random((9, 8)) < 0.7
    for loss in (cn.Huber(0.1), cn.Huber(0.1, weights=mask)):
        assert "HALS → ANLS is picked" in cn.factorize(V, 2, loss=loss).explain()
    assert "ANLS is picked" in cn.factorize(V, 2, loss=cn.Absolute()).explain()


@pytest.mark.parametrize("weights", [None, MASK], ids=["all", "masked"])
def test_absolute_values_end_where_no_program_of_a_block_is_lower(weights):
    rng = np.random.default_rng(8)
    V = np.where(rng.random((40, 30)) < 0.1, 3.0, rng.random((40, 2)) @ rng.random((2, 30)))
    if weights is not None:
        weights = rng.random(V.shape) < 0.7
    loss = cn.Absolute(weights=weights)
    result = cn.factorize(V, 2, loss=loss, H=[PLUS, cn.L1(0.1)]).solve(cn.ANLS(), seed=1)
    assert result.status.kind == "converged"
    assert (np.diff(result.history.objective) <= 1e-12 * result.objective).all()
    X = cp.Variable(result.H.shape, nonneg=True)
    cost = loss.expression(V, result.W, X) + 0.1 * cp.sum(X)
    best = cp.Problem(cp.Minimize(cost)).solve(solver="CLARABEL")
    assert result.objective == pytest.approx(best, rel=1e-6)
