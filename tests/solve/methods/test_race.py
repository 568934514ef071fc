"""Races of starts and solvers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import load_wine

import conicnmf as cn

V = np.random.default_rng(5).random((12, 15))


def sparse_problem(rank=3, s=0.7):
    return cn.factorize(V, rank, W=[cn.NonNegative(), cn.Sparseness(min=s)])


def test_it_ends_where_the_best_of_its_runs_ends():
    problem = sparse_problem()
    race = cn.Race((cn.HALS(),), starts=5, laps=500)
    result = problem.solve(race, seed=3)
    rng = np.random.default_rng(3)
    starts = [problem.start(None, rng) for _ in range(5)]
    alone = [problem.solve(cn.HALS(), init=X).objective for X in starts]
    assert result.objective == pytest.approx(min(alone), rel=1e-4)


def test_of_many_the_worse_half_is_dropped_and_six_stay_while_they_may_win():
    history = sparse_problem().solve(cn.Race((cn.HALS(),), starts=20, laps=1), stop=2).history
    assert [int(iteration.notes["runners"]) for iteration in history[1:]] == [10, 6]


def test_runners_are_dropped_when_some_times_their_last_fall_does_not_reach_the_leader():
    problem, laps = sparse_problem(s=0.8), 12
    race = cn.Race((cn.HALS(), cn.ProjectedGradient()), starts=(3, 2))
    history = problem.solve(race, seed=3, stop=laps).history
    rng = np.random.default_rng(3)
    starts = [problem.start(None, rng) for _ in range(3)]
    left = [
        np.minimum.accumulate(problem.solve(solver, init=X, stop=laps).history.objective[1:])
        for solver, count in zip(race.solvers, race.starts, strict=True)
        for X in starts[:count]
    ]
    counts = [len(left)]
    for n in range(2, laps + 1):
        lowest, again = min(fall[n - 1] for fall in left), max(3, 36 / n)
        left = [
            fall
            for fall in left
            if (now := fall[n - 1]) == lowest
            or now - again * (fall[(n - 1) // 2] - now) < 0.99 * lowest
        ]
        counts.append(len(left))
    assert 1 < counts[-1] < 5
    assert [int(it.notes["runners"]) for it in history[1:]] == counts


def test_starts_are_one_number_or_one_for_each_solver():
    with pytest.raises(cn.InputError, match="one for each solver"):
        cn.Race((cn.HALS(), cn.TangentPlane()), starts=(1, 2, 3))
    assert "3 starts" in cn.Race((cn.HALS(), cn.TangentPlane()), starts=(3, 1)).name


def test_who_leads_is_what_the_history_shows_and_the_best_is_kept():
    result = sparse_problem(4, 0.8).solve(effort="normal")
    assert result.objective == pytest.approx(min(result.history.objective), rel=1e-12)
    assert result.max_violation <= 1e-6
    assert result.status is cn.Status.CONVERGED
    assert "basins" in repr(result)


def test_the_same_seed_gives_the_same_answer():
    first, second = (sparse_problem().solve(effort="normal", seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.W, second.W)


def test_more_effort_does_not_end_higher_in_the_mean():
    problems = [sparse_problem(rank, s) for rank in (2, 4) for s in (0.5, 0.9)]
    low, high = (
        np.mean([np.log(p.solve(effort=effort).objective) for p in problems])
        for effort in ("low", "high")
    )
    assert high <= low


@pytest.mark.parametrize(("rank", "s"), [(12, 0.95), (8, 0.9)])
def test_the_default_ends_as_low_as_component_steps_on_a_table_of_few_features(rank, s):
    V = load_wine().data.T[:, ::3]
    V = V / V.max(axis=1, keepdims=True)
    problem = cn.factorize(V, rank, W=[cn.NonNegative(), cn.Sparseness(min=s)])
    default, alone = problem.solve(), problem.solve(cn.HALS())
    assert default.objective <= 1.02 * alone.objective
    assert default.history[1].notes["runners"] == 5


def test_low_effort_is_one_run_where_components_are_many():
    assert "runners" not in sparse_problem(30).solve(stop=2).history[-1].notes
    assert "runs a race" in sparse_problem().explain()
    assert "runs a race" not in sparse_problem(30).explain()


@pytest.mark.parametrize("term", [cn.Sparseness(min=0.7), cn.NonZeros(0.05), cn.L1(0.05)])
def test_explain_names_what_solve_runs(term):
    W = [cn.NonNegative(), cn.NormBall()]
    problem = cn.factorize(V, 3, W=W, H=[cn.NonNegative(), term])
    names = problem.solve(stop=1).solver_text
    assert names in problem.explain().splitlines()[-1]


def test_where_entries_have_a_price_codes_take_part_in_the_race():
    rng = np.random.default_rng(820000)
    planted = rng.random((15, 4)) @ (rng.random((4, 40)) * (rng.random((4, 40)) < 0.3))
    terms = {"W": [cn.NonNegative(), cn.UnitNorm()], "H": [cn.NonNegative(), cn.NonZeros(0.05)]}
    problem = cn.factorize(planted + 0.05 * rng.random((15, 40)), 4, **terms)
    alone = problem.solve(cn.KSVD())
    default = problem.solve()
    assert "KSVD" in default.solver_text
    assert default.objective <= alone.objective * (1 + 1e-3)


def test_neither_a_given_start_nor_a_named_solver_nor_a_convex_set_races():
    given = sparse_problem().solve(init="nndsvd", effort="high")
    named = sparse_problem().solve(cn.HALS(), effort="high")
    plain = cn.factorize(V, 3).solve(effort="high")
    assert all("runners" not in r.history[-1].notes for r in (given, named, plain))


def test_a_killed_race_goes_on_where_it_was(tmp_path):
    problem, file = sparse_problem(), tmp_path / "run.npz"
    race = cn.Race((cn.HALS(), cn.ProjectedGradient()), starts=3, laps=4)
    whole = problem.solve(race, stop=12)
    problem.solve(race, stop=5, checkpoint=file)
    resumed = problem.solve(race, stop=12, checkpoint=file)
    assert len(resumed.history) == len(whole.history)
    assert resumed.objective == pytest.approx(whole.objective, rel=1e-6)


def test_a_solver_that_does_not_fit_says_why():
    race = cn.Race((cn.Multiplicative(), cn.HALS()))
    with pytest.raises(cn.IncompatibleError):
        sparse_problem().solve(race)
    with pytest.raises(cn.InputError, match="at least one"):
        cn.Race(())


@dataclass(frozen=True)
class _Breaks(cn.HALS):
    """Component-wise steps that raise in the second iteration of one of the runners."""

    def sweep(self, problem, factors, memo):
        if memo.ahead:
            raise ArithmeticError("no more")
        return super().sweep(problem, factors, memo)


def test_a_solver_that_raises_leaves_the_race_to_the_others():
    problem = sparse_problem()
    result = problem.solve(cn.Race((_Breaks(), cn.HALS()), starts=1), seed=3)
    assert result.status.kind == "converged"
    assert result.objective == pytest.approx(problem.solve(cn.HALS(), seed=3).objective, rel=1e-3)
    alone = problem.solve(cn.Race((_Breaks(),), starts=1), seed=3, throw=False)
    assert alone.status is cn.Status.ERROR
