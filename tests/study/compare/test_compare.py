from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import conicnmf as cn
from conicnmf.study.compare.inputs import common_stop


@pytest.fixture(scope="module")
def problems():
    V = cn.datasets.low_rank(15, 12, 3, seed=0).V
    sparse = [cn.NonNegative(), cn.Sparseness(min=0.6)]
    return {"plain": cn.factorize(V, 3), "sparse": cn.factorize(V, 3, W=sparse)}


SOLVERS = [cn.HALS(), cn.Multiplicative()]


def test_every_run_is_a_row_and_misfits_say_why(problems):
    runs = cn.compare(problems, SOLVERS, seeds=range(2), stop=10)
    assert len(runs.table) == 8
    skipped = runs.table[runs.table["status"] == "SKIPPED"]
    assert set(skipped["solver"]) == {"Multiplicative"}
    assert skipped["reason"].str.contains("NonNegative alone").all()
    assert runs.table.loc[runs.table["status"] != "SKIPPED", "violation"].max() < 1e-6


def test_solvers_share_their_starts(problems):
    runs = cn.compare(problems["plain"], SOLVERS, seeds=[3], stop=0)
    values = runs.table["objective"].to_numpy()
    assert values[0] == values[1]


def test_the_numbers_do_not_depend_on_the_number_of_workers(problems):
    one, two = (
        cn.compare(problems, SOLVERS, seeds=range(2), stop=10, n_jobs=jobs) for jobs in (1, 2)
    )
    pd.testing.assert_frame_equal(
        one.table.drop(columns="seconds"), two.table.drop(columns="seconds"), check_exact=True
    )


def test_summary_and_best(problems):
    runs = cn.compare(problems["plain"], SOLVERS, seeds=range(3), stop=10)
    summary = runs.summary()
    hals = runs.table[runs.table["solver"] == "HALS"]["objective"]
    row = summary.loc[("problem", "HALS")]
    assert row["objective"] == pytest.approx(hals.mean())
    assert row["best"] == hals.min() == runs.best("HALS").objective
    assert "MAX_ITER ×3" in row["status"]


def test_two_settings_of_one_solver_keep_their_own_names(problems):
    runs = cn.compare(problems["plain"], [cn.HALS(sweeps=1), cn.HALS(sweeps=5)], seeds=[0], stop=2)
    assert runs.table["solver"].nunique() == 2


def test_an_infeasible_problem_is_a_row_not_a_crash():
    problem = cn.factorize(
        np.ones((4, 3)), 2, H=[cn.NonNegative(), cn.Convex(lambda H: H[0, 0] <= -1, name="below")]
    )
    runs = cn.compare(problem, [cn.TangentPlane()], seeds=[0])
    assert runs.table.loc[0, "status"] == "ERROR"
    assert "contradict" in runs.table.loc[0, "reason"]


def test_nothing_to_compare_is_refused(problems):
    with pytest.raises(cn.InputError, match="at least one problem and one solver"):
        cn.compare(problems["plain"], [])


def test_every_bit_is_the_same_for_any_number_of_workers():
    # Data above a megabyte reach the workers as files, and a cone solver takes part.
    rng = np.random.default_rng(0)
    sparse = [cn.NonNegative(), cn.Sparseness(min=0.6)]
    large = cn.factorize(rng.random((400, 400)), 3, W=sparse)
    small = cn.factorize(rng.random((12, 10)), 2, W=sparse)
    for problem, solvers in (
        (large, [cn.HALS(), cn.ProjectedGradient()]),
        (small, [cn.TangentPlane(engine="conic")]),
    ):
        one, two = (
            cn.compare(problem, solvers, seeds=range(2), stop=3, n_jobs=jobs) for jobs in (1, 2)
        )
        assert one.results.keys() == two.results.keys()
        for task, result in one.results.items():
            for name, X in result.factors.items():
                np.testing.assert_array_equal(X, two.results[task].factors[name])
            np.testing.assert_array_equal(
                result.history.objective, two.results[task].history.objective
            )


@dataclass(frozen=True)
class Raising(cn.HALS):
    """A solver whose first iteration raises."""

    error: type[BaseException] = MemoryError

    def sweep(self, blocks, factors, memo):
        raise self.error("no room")


@pytest.mark.parametrize("error", [MemoryError, np.linalg.LinAlgError, ZeroDivisionError])
def test_whatever_a_run_raises_is_a_row(problems, error):
    runs = cn.compare(problems["plain"], {"bad": Raising(error=error), "HALS": cn.HALS()}, stop=3)
    bad = runs.table[runs.table["solver"] == "bad"]
    assert set(bad["status"]) == {"ERROR"}
    assert set(bad["reason"]) == {f"the solver raised {error.__name__}: no room"}
    assert set(runs.table[runs.table["solver"] == "HALS"]["status"]) == {"MAX_ITER"}
    assert runs.best().solver.startswith("HALS")


def test_a_constraint_that_raises_is_a_row():
    stated = []

    def mine(H):
        if stated:
            raise RuntimeError("my own mistake")
        return H <= 1

    problem = cn.factorize(np.ones((4, 3)), 2, H=[cn.NonNegative(), cn.Convex(mine)])
    stated.append(True)
    runs = cn.compare(problem, [cn.TangentPlane()], seeds=[0])
    assert runs.table.loc[0, "status"] == "ERROR"
    assert "RuntimeError: my own mistake" in runs.table.loc[0, "reason"]


def test_solvers_with_rules_of_their_own_are_stopped_by_one_rule(problems):
    runs = cn.compare(problems["sparse"], [cn.HALS(), cn.TangentPlane()], seeds=[0])
    assert runs.settings["stop, the same for all"] == repr(cn.MaxIter(500) | cn.RelDecrease(1e-5))
    alone = cn.compare(problems["sparse"], [cn.TangentPlane()], seeds=[0])
    assert alone.settings["stop, the same for all"] == repr(cn.TangentPlane.default_stop)


def test_a_budget_ends_the_comparison_and_is_shared_fairly(problems):
    endless = {"stop": cn.MaxIter(10**9), "time_limit": 0.3}
    cn.compare(problems, SOLVERS, seeds=[0], stop=2)  # nothing is left to compile
    runs = cn.compare(problems["plain"], SOLVERS, seeds=range(50), budget=1.5, **endless)
    made = runs.table[runs.table["status"] != "NOT_RUN"].groupby("solver")["seed"].max()
    assert 0 <= made["HALS"] - made["Multiplicative"] <= 1
    left = runs.table[runs.table["status"] == "NOT_RUN"]
    assert len(left) > 80
    assert left["reason"].str.contains("budget").all()
    assert runs.table.loc[runs.table["status"] == "TIME_LIMIT", "seconds"].min() > 0.29


def test_an_interruption_returns_what_is_finished(problems):
    solvers = {"HALS": cn.HALS(), "stopped": Raising(error=KeyboardInterrupt)}
    runs = cn.compare(problems["plain"], solvers, seeds=range(3), stop=2)
    assert runs.table["status"].tolist() == ["MAX_ITER", "INTERRUPTED", *["NOT_RUN"] * 4]
    assert runs.table["reason"].iloc[-1] == "interrupted from the keyboard"


def test_results_hold_their_problem(problems):
    runs = cn.compare(problems, SOLVERS, seeds=[0], stop=50, n_jobs=2)
    assert runs.best(problem="sparse").problem is problems["sparse"]
    assert runs.best(problem="sparse").certificate().checks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": 3}, "try range"),
        ({"seeds": [0, 0]}, "different whole numbers"),
        ({"seeds": []}, "at least one"),
        ({"solvers": cn.HALS()}, "brackets"),
        ({"solvers": [cn.HALS]}, "such as HALS"),
        ({"solvers": [cn.HALS(), cn.HALS()]}, "got one twice; give a dict"),
        ({"stop": "soon"}, "stop must be"),
        ({"budget": -1}, "budget to be a number >= 0 or None, got budget=-1"),
        ({"time_limit": "1"}, "got time_limit=.1.; use inf for none"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(problems, arguments, message):
    with pytest.raises(cn.InputError, match=message):
        cn.compare(problems["plain"], **{"solvers": SOLVERS, **arguments})


@dataclass(frozen=True)
class Dying(cn.HALS):
    """A solver that ends its process, as the system does when memory runs out."""

    parent: int = 0

    def sweep(self, blocks, factors, memo):
        if os.getpid() != self.parent:
            os._exit(1)
        return super().sweep(blocks, factors, memo)


def test_a_process_that_dies_leaves_rows_that_say_so(problems):
    solvers = {"dying": Dying(parent=os.getpid())}
    runs = cn.compare(problems["plain"], solvers, seeds=range(3), stop=2, n_jobs=2)
    assert set(runs.table["status"]) == {"NOT_RUN"}
    assert runs.table["reason"].str.contains("a process died").all()


def test_an_interruption_in_a_process_ends_them_all(problems):
    solvers = {"stopped": Raising(error=KeyboardInterrupt)}
    runs = cn.compare(problems["plain"], solvers, seeds=range(8), stop=2, n_jobs=2)
    assert runs.table["status"].iloc[0] == "INTERRUPTED"
    assert runs.table["status"].iloc[-1] == "NOT_RUN"


def test_a_time_limit_leaves_out_iteration_limits_of_the_solvers(problems):
    named = {"HALS": cn.HALS(), "TangentPlane": cn.TangentPlane()}
    assert common_stop(None, named) == cn.MaxIter(500) | cn.RelDecrease(1e-5)
    assert common_stop(None, named, 60.0) == cn.RelDecrease(1e-5)
    assert common_stop(None, {"JointNLP": cn.JointNLP()}, 60.0) == cn.TimeLimit(60.0)
    assert common_stop(7, named, 60.0) == cn.MaxIter(7)  # a limit that was asked for holds
    runs = cn.compare(problems["plain"], [cn.Multiplicative()], seeds=[0], time_limit=60.0)
    assert "MaxIter" not in runs.settings["stop, the same for all"]
    assert runs.table["iterations"].item() > 500
