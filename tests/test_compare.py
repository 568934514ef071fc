from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import conicnmf as cn


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
