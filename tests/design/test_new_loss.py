"""A loss with a value, a gradient and a majorizer, in one short file, is served like ours."""

from __future__ import annotations

from pathlib import Path

import cvxpy as cp
import new_loss
import numpy as np
import pytest
from new_loss import LogCosh
from scipy.optimize import minimize

import conicnmf as cn
from conicnmf.extend import LOSSES
from conicnmf.testing import check_loss

RNG = np.random.default_rng(3)
V = RNG.random((9, 3)) @ RNG.random((3, 8)) + 0.05 * RNG.random((9, 8))
WEIGHTS = (RNG.random(V.shape) < 0.8) * (0.5 + RNG.random(V.shape))
PLUS = cn.NonNegative()
STATED = {
    "plain": ([PLUS], [PLUS]),
    "band": ([PLUS, cn.Sparseness(min=0.4)], [PLUS]),
    "both bounds": ([PLUS, cn.Sparseness(min=0.2, max=0.5)], [PLUS]),
    "user's own": ([PLUS, cn.Convex(lambda W: cp.sum(W, axis=0) <= 4)], [PLUS]),
    "simplex": ([PLUS], [cn.Simplex(each="sample")]),
    "signed": ([], [cn.L2(0.1)]),
}
SOLVERS = [
    cn.TangentPlane(),
    cn.TangentPlane(engine="conic"),
    cn.SparsityMaximization(),
    cn.HALS(),
    cn.ANLS(),
    cn.ProjectedGradient(),
]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Make it known for one test."""
    monkeypatch.setattr(LOSSES, "_known", dict(LOSSES._known))
    LOSSES.add("LogCosh", LogCosh)  # the one line


def test_its_file_is_short():
    assert len(Path(new_loss.__file__).read_text().splitlines()) < 80


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_it_is_what_it_says_it_is(weights):
    check_loss(LogCosh(weights), V)


def test_it_is_known_by_name():
    assert isinstance(cn.factorize(V, 3, loss="log-cosh").loss, LogCosh)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("terms", STATED.values(), ids=STATED)
def test_tangent_planes_gradients_and_cone_programs_serve_it(terms, weights):
    problem = cn.factorize(V, 3, loss=LogCosh(weights), W=terms[0], H=terms[1])
    fitting = [solver for solver in SOLVERS if not solver.mismatches(problem)]
    assert {"TangentPlane"} <= {solver.name for solver in fitting}
    for solver in fitting:
        result = problem.solve(solver, stop=6)
        trace = result.history.objective
        assert result.max_violation < 1e-6
        assert (np.diff(trace) <= 1e-7 * np.abs(trace[:-1])).all(), solver
        assert trace[-1] < trace[0], solver


def test_every_solver_of_squares_works_on_its_majorizer():
    text = cn.factorize(V, 3, loss="log-cosh").explain()
    for name in ("TangentPlane", "SparsityMaximization", "HALS", "ANLS"):
        assert f"yes  {name}, on quadratic majorizers of the loss" in text
    assert "yes  ProjectedGradient\n" in text


@pytest.mark.parametrize("terms", [STATED["plain"], STATED["band"]], ids=["plain", "band"])
def test_certificates_judge_it(terms):
    problem = cn.factorize(V, 3, loss=LogCosh(WEIGHTS), W=terms[0], H=terms[1])
    result = problem.solve(stop=cn.MaxIter(2000) | cn.RelDecrease(1e-8, patience=20))
    assert result.certificate()
    early = problem.solve(stop=2)
    assert not early.certificate()


def test_its_blocks_reach_the_minimum_that_another_route_finds():
    problem = cn.factorize(V, 2, loss="log-cosh")
    factors = problem.start(None, np.random.default_rng(0))
    held, H = problem.subproblems(factors)[-1]
    for _ in range(300):
        H = cn.ANLS().minimize(held.majorized(H, held.block.majorized[0]), H)[0]
    found = minimize(
        lambda x: held.objective(x.reshape(H.shape)),
        H.ravel() + 0.1,
        jac=lambda x: held.gradient(x.reshape(H.shape)).ravel(),
        bounds=[(0, None)] * H.size,
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-9},
    )
    assert held.objective(H) == pytest.approx(found.fun, rel=1e-6)
