"""Thin, flat, empty-handed and badly scaled data: every solver that fits has an answer."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

X = np.random.default_rng(0).random((7, 6)) + 0.05
HOLES = X.copy()
HOLES[:, 2] = 0.0
HOLES[3] = 0.0
SPIKE = np.zeros((5, 4))
SPIKE[2, 1] = 1.0

DATA: dict[str, Any] = {
    "one column": X[:, :1],
    "one row": X[:1],
    "one entry": X[:1, :1],
    "zero column and row": HOLES,
    "zero column and row, sparse": sp.csr_array(HOLES),
    "constant": np.ones((7, 6)),
    "duplicated columns": np.repeat(X[:, :2], 3, axis=1),
    "one entry that is not zero": SPIKE,
    "1e60": 1e60 * X,
    "1e-60": 1e-60 * X,
    "columns of all sizes": X * np.logspace(-6, 6, 6),
}
SOLVERS = {
    "TangentPlane": cn.TangentPlane(),
    "TangentPlane, conic": cn.TangentPlane(engine="conic"),
    "SparsityMaximization": cn.SparsityMaximization(),
    "HALS": cn.HALS(),
    "ANLS": cn.ANLS(),
    "ProjectedGradient": cn.ProjectedGradient(),
    "Multiplicative": cn.Multiplicative(),
}
MODELS: dict[str, list[Any]] = {
    "non-negative": [cn.NonNegative()],
    "sparse": [cn.NonNegative(), cn.Sparseness(min=0.5)],
}


def runs(problem: cn.Problem) -> list[str]:
    return [name for name, solver in SOLVERS.items() if not solver.mismatches(problem)]


def assert_every_solver_has_an_answer(problem: cn.Problem) -> None:
    fitting = runs(problem)
    assert len(fitting) >= 4
    for solver in fitting:
        result = problem.solve(SOLVERS[solver], stop=4, throw=False)
        assert result.status.kind != "failed", solver
        assert result.max_violation <= 1e-6, solver
        assert result.relative_error <= 1 + 1e-6, solver
        for factor in (result.W, result.H):
            assert np.isfinite(factor).all(), solver
            assert (factor >= 0).all(), solver
            assert factor.dtype == problem.V.dtype, solver


@pytest.mark.parametrize("rank", [2, 9])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", DATA)
def test_every_solver_that_fits_has_an_answer(name: str, model: str, rank: int) -> None:
    data = DATA[name]
    single = data.shape[0] == 1 and model == "sparse"  # columns of W are single numbers
    with pytest.warns(UserWarning, match="length one") if single else nullcontext():
        problem = cn.factorize(data, rank, W=MODELS[model])
    assert_every_solver_has_an_answer(problem)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_every_solver_that_fits_keeps_single_precision(model: str, scale: float) -> None:
    data = (scale * X).astype(np.float32)
    assert_every_solver_has_an_answer(cn.factorize(data, 2, W=MODELS[model]))


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_the_units_of_the_data_do_not_matter(name: str, scale: float) -> None:
    there = cn.factorize(scale * X, 2).solve(SOLVERS[name], stop=10)
    here = cn.factorize(X, 2).solve(SOLVERS[name], stop=10)
    assert there.relative_error == pytest.approx(here.relative_error, rel=1e-3)
    assert there.objective == pytest.approx(scale**2 * here.objective, rel=1e-3)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("model", MODELS)
def test_zero_data_are_met_exactly(name: str, model: str) -> None:
    problem = cn.factorize(np.zeros((5, 4)), 2, W=MODELS[model])
    if name not in runs(problem):
        pytest.skip("the solver does not fit this model")
    result = problem.solve(SOLVERS[name], stop=100)  # gradient steps get there by a factor each
    assert result.objective == pytest.approx(0.0, abs=1e-8)
    assert np.isnan(result.relative_error)  # there is nothing to be relative to


@pytest.mark.parametrize("name", SOLVERS)
def test_a_rank_that_suffices_fits_exactly(name: str) -> None:
    """Non-negative data are their own factors once the rank reaches the number of columns."""
    problem = cn.factorize(X[:, :2], 3)
    stop = cn.MaxIter(3000) | cn.RelDecrease(1e-9, 20)
    assert problem.solve(SOLVERS[name], stop=stop).relative_error < 1e-6


@pytest.mark.parametrize("name", ["TangentPlane", "HALS", "ANLS", "SparsityMaximization"])
def test_negative_data_are_approximated_from_above(name: str) -> None:
    result = cn.factorize(X - 0.5, 2).solve(SOLVERS[name], stop=20)
    # The best non-negative model of what is below zero is zero.
    below = float((np.minimum(X - 0.5, 0) ** 2).sum())
    assert result.objective >= below
    assert (result.W @ result.H >= 0).all()


def test_multiplicative_updates_refuse_negative_data() -> None:
    with pytest.raises(cn.IncompatibleError, match=r"V has negative entries .*V >= 0"):
        cn.factorize(X - 0.5, 2).solve(cn.Multiplicative())
