"""Solvers that promise never to raise the objective keep it, on random problems of every kind."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.errors import ConicNMFError
from conicnmf.solve.choice import fitting

ROUNDING = 1e-9
FEW, MANY = 40, 1000


def _flat(X: cp.Expression) -> list[cp.Constraint]:
    return [cp.max(X) - cp.min(X) <= 2.0]


def losses(shape: tuple[int, int], rng: np.random.Generator) -> list[Any]:
    """Every loss, some with weights."""
    M = (rng.random(shape) < 0.8) | (np.arange(shape[0])[:, None] == 0)
    return [
        cn.Frobenius(),
        cn.WeightedFrobenius(M),
        cn.KullbackLeibler(),
        cn.KullbackLeibler(weights=M),
        cn.ItakuraSaito(),
        cn.BetaDivergence(float(rng.choice([0.5, 1.5]))),
        cn.Huber(0.3),
        cn.Absolute(),
    ]


def terms(length: int, rng: np.random.Generator) -> list[Any]:
    """What one factor may have beside non-negativity; `length` is that of a component."""
    w = float(10 ** rng.uniform(-2, 0))
    return [
        *([], [cn.L1(w)], [cn.L2(w)], [cn.Smooth(w)], [cn.TotalVariation(w)]),
        *([cn.L21(w)], [cn.L21(w, each="sample")], [cn.Nuclear(w)]),
        [cn.GroupLasso(w, np.arange(length) % 2)],
        *([cn.Monotone()], [cn.Unimodal()], [cn.Simplex()], [cn.Simplex(each="sample")]),
        *([cn.UnitNorm()], [cn.NormBall(2.0)], [cn.FactorSum(3.0)], [cn.FactorNorm(2.0)]),
        *([cn.Sparseness(0.2, 0.8)], [cn.Sparseness(min=0.5)], [cn.Convex(_flat)]),
        [cn.Smooth(w), cn.TotalVariation(w)],
    ]


def drawn(seed: int) -> tuple[cn.Problem, Any]:
    """Return a problem and one of the solvers that promise for it."""
    rng = np.random.default_rng(seed)
    m, n, rank = (int(rng.integers(*ends)) for ends in ((4, 11), (4, 11), (1, 4)))
    V = rng.random((m, n)) + 0.1

    def pick(choices: list[Any]) -> Any:
        return choices[rng.integers(len(choices))]

    nonneg = cn.NonNegative()
    loss = pick(losses((m, n), rng))
    W, H = [nonneg, *pick(terms(m, rng))], [nonneg, *pick(terms(n, rng))]
    problem = cn.factorize(V, rank, W=W, H=H, loss=loss)
    known = [solver for solver in fitting(problem) if solver.promises.monotone]
    return problem, pick(known) if known else None


def rise(seed: int) -> float | None:
    """Return by how much the objective rose between feasible iterates, nothing without a solve."""
    problem, solver = drawn(seed)
    if solver is None:
        return None
    try:
        result = problem.solve(solver, seed=seed, stop=cn.MaxIter(6), throw=False)
    except ConicNMFError:
        return None  # no start satisfies what was drawn
    inside = result.history.violation <= 1e-6
    values = result.history.objective[inside]
    size = max(abs(float(values[0])), 1.0) if values.size else 1.0
    return float(np.diff(values).max(initial=0.0)) / size


def check(seeds: range) -> None:
    """Solve all; the message names what rose."""
    rises = {seed: rise(seed) for seed in seeds}
    made = {seed: by for seed, by in rises.items() if by is not None}
    assert len(made) > 0.7 * len(seeds)
    wrong = [(seed, *drawn(seed), by) for seed, by in made.items() if not by <= ROUNDING]
    said = (
        f"{seed}: {solver} rose by {by:.1e} on {problem}" for seed, problem, solver, by in wrong
    )
    assert not wrong, "\n".join(said)


def test_objectives_never_rise_where_that_is_promised():
    check(range(FEW))


@pytest.mark.long
def test_objectives_never_rise_in_a_thousand_problems():
    check(range(MANY))
