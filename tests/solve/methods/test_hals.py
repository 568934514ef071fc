"""HALS where components are mixed by what stands between two factors."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.kernels.hals import hals_sweeps


def _between(seed, **terms):
    """State W C H with a C whose rows are much alike."""
    rng = np.random.default_rng(seed)
    C = rng.random((8, 6))
    W, H = (rng.random(shape) * (rng.random(shape) < 0.6) for shape in ((20, 8), (6, 25)))
    V = W @ C @ H
    V = np.maximum(V + 0.1 * V.mean() * rng.standard_normal(V.shape), 0.0)
    return cn.compose(cn.Approx(V, "W @ C @ H"), constants={"C": C}, **terms)


def test_a_constant_between_two_factors_does_not_hold_steps_up():
    gaps = []
    for seed in range(6):
        problem = _between(seed)
        methods = cn.HALS(), cn.ANLS(extrapolate=False)
        found = [problem.solve(s, stop=20, seed=seed).objective for s in methods]
        gaps.append(found[0] / found[1] - 1)
    assert np.mean(gaps) < 0.02  # above 0.1 with three visits of each component


@pytest.mark.parametrize(
    "terms", [{"W": ["nonnegative", cn.Sparseness(min=0.4)]}, {"H": [cn.Box(0, 1)]}, {"W": []}]
)
def test_every_kind_of_block_is_visited_until_it_settles(terms):
    problem = _between(0, **terms)
    result = problem.solve(cn.HALS(), stop=15)
    assert np.all(np.diff(result.history.objective) <= 1e-9)
    assert result.max_violation < 1e-9
    for held, B in problem.subproblems(problem.start(None, np.random.default_rng(0))):
        quadratic = held.quadratic()
        once = cn.HALS()._visit(held.block, quadratic, B)
        settled = cn.HALS().descend(held.block, quadratic, B)
        assert quadratic.value(settled) < quadratic.value(once) < quadratic.value(B)


def test_plain_products_keep_the_number_of_visits():
    problem = cn.factorize(np.random.default_rng(0).random((9, 7)), 3)
    for held, B in problem.subproblems(problem.start(None, np.random.default_rng(0))):
        quadratic = held.quadratic()
        stated = hals_sweeps(quadratic.G, quadratic.C, B, 3)
        assert np.array_equal(cn.HALS().descend(held.block, quadratic, B), stated)


@pytest.mark.parametrize("seed", [1, 6])  # a component dies here while its part of W is alive
def test_the_history_counts_penalties_of_parts_that_are_set_to_zero(seed):
    rng = np.random.default_rng(seed)
    V = rng.random((6, 2)) @ rng.random((2, 6))
    problem = cn.factorize(V, 4, W=["nonnegative", cn.L1(0.5)])
    told = []

    def compare(iteration, factors):
        told.append((iteration.objective, problem.objective(dict(factors))))

    problem.solve("HALS", stop=3, seed=seed, callback=compare)
    assert all(one == pytest.approx(other, rel=1e-9) for one, other in told)


@pytest.mark.parametrize("solver", [cn.HALS(), cn.ANLS()], ids=lambda s: s.name)
def test_every_iteration_falls_although_steps_that_look_ahead_are_undone(solver):
    V = cn.datasets.low_rank(12, 10, 3, noise=0.05, seed=1).V
    result = cn.factorize(V, 3).solve(solver, stop=30)
    values = result.history.objective
    far = values[:-1] - values[-1] > 1e-8  # where more than rounding is left
    assert far.sum() >= 5
    assert (np.diff(values)[far] < 0).all()
