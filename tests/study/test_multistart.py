from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn


@pytest.fixture(scope="module")
def paatero():
    V = cn.datasets.paatero(seed=0).V
    return cn.factorize(V, 4, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])


def test_the_best_of_many_starts_comes_back_with_the_spread():
    problem = cn.factorize(cn.datasets.low_rank(15, 12, 3, seed=0).V, 3)
    runs = cn.multistart(problem, cn.HALS(), 4, stop=20)
    single = [problem.solve(cn.HALS(), seed=k, stop=20).objective for k in range(4)]
    np.testing.assert_allclose(runs.objectives, np.sort(single), rtol=1e-12)
    assert runs.best.objective == min(single)
    assert runs.spread == pytest.approx((max(single) - min(single)) / min(single))
    assert "4 starts" in repr(runs)


def test_a_killed_multistart_goes_on_from_its_store(tmp_path):
    problem = cn.factorize(cn.datasets.low_rank(15, 12, 3, seed=0).V, 3)
    few = cn.multistart(problem, cn.HALS(), 2, stop=5, store=tmp_path)
    more = cn.multistart(problem, cn.HALS(), 4, stop=5, store=tmp_path)
    assert more.table["seconds"][:2].tolist() == few.table["seconds"].tolist()
    assert len(more.objectives) == 4
    spent = cn.multistart(problem, cn.HALS(), 6, stop=5, store=tmp_path, budget=0)
    assert len(spent.objectives) == 4
    assert "6 starts, 4 finished" in repr(spent)


def test_a_start_count_below_one_is_refused():
    with pytest.raises(cn.InputError, match=">= 1, got n_starts=0"):
        cn.multistart(cn.factorize(np.ones((3, 3)), 1), n_starts=0)


@pytest.mark.parametrize(
    "options", [{"method": "enumerate", "samples": 4}, {"samples": 50, "budget": 300}]
)
def test_cone_search_starts_below_a_random_start(paatero, options):
    searched = paatero.solve(cn.HALS(), init=cn.ConeSearch(**options), stop=0)
    drawn = paatero.solve(cn.HALS(), stop=0)
    assert searched.objective < drawn.objective
    assert searched.max_violation < 1e-6


def test_the_local_method_is_as_good_as_the_sampled_search(paatero):
    local = cn.multistart(paatero, cn.SparsityMaximization(), 4).best.objective
    start = cn.ConeSearch(samples=200, budget=2000)
    sampled = paatero.solve(cn.SparsityMaximization(), init=start).objective
    assert local <= 1.02 * sampled


def test_enumeration_beyond_its_budget_is_refused_before_work(paatero):
    with pytest.raises(cn.InputError, match="10000 combinations, more than budget=100"):
        paatero.solve(cn.HALS(), init=cn.ConeSearch(samples=10, method="enumerate", budget=100))


def test_cone_search_without_a_bound_is_refused():
    with pytest.raises(cn.InputError, match="needs a lower bound"):
        cn.factorize(np.ones((3, 3)), 1).solve(cn.HALS(), init=cn.ConeSearch())


def test_cone_search_refuses_other_losses_and_leaves_rewards_aside(paatero):
    W = [cn.NonNegative(), cn.Sparseness(min=0.6)]
    V = paatero.V[:10, :12]
    start = cn.ConeSearch(samples=4, budget=20)
    with pytest.raises(cn.InputError, match="of a squared loss; start from Random"):
        cn.factorize(V, 2, W=W, loss="kullback-leibler").solve(init=start)
    rewarded = cn.factorize(V, 2, W=W, H=[cn.NonNegative(), cn.SparsenessReward(0.1)])
    assert rewarded.solve(init=start, stop=1).max_violation < 1e-6
