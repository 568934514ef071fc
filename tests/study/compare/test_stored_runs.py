"""Comparisons on disk: killed ones go on, others are refused, saved ones come back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import conicnmf as cn
from conicnmf.study.compare.store import Store

V = np.random.default_rng(0).random((9, 7))
MADE = []


@dataclass(frozen=True)
class Counted(cn.HALS):
    """A solver that tells which starts it was given."""

    def start(self, problem, context):
        MADE.append(problem.rank)
        return super().start(problem, context)


@pytest.fixture(autouse=True)
def nothing_made():
    MADE.clear()


def runs_of(folder, seeds=range(3), problem=None, stop=4, **options):
    problem = cn.factorize(V, 2) if problem is None else problem
    return cn.compare(problem, [Counted()], seeds, stop=stop, store=folder, **options)


def test_finished_runs_are_not_made_again(tmp_path):
    first = runs_of(tmp_path / "runs")
    MADE.clear()
    second = runs_of(tmp_path / "runs")
    assert not MADE
    pd.testing.assert_frame_equal(first.table, second.table)
    for task, result in first.results.items():
        np.testing.assert_array_equal(result.W, second.results[task].W)
    assert second.best().certificate().checks  # the problem is known again


def test_seeds_and_solvers_may_be_added(tmp_path):
    runs_of(tmp_path, seeds=[0])
    MADE.clear()
    assert len(runs_of(tmp_path, seeds=[0, 1]).results) == 2
    assert len(MADE) == 1
    both = cn.compare(cn.factorize(V, 2), [Counted(), cn.ANLS()], [0], stop=4, store=tmp_path)
    assert len(MADE) == 1
    assert both.table["solver"].tolist() == ["Counted", "ANLS"]
    assert len(cn.Comparison.load(tmp_path).table) == 3
    runs_of(tmp_path, seeds=[0])
    with pytest.raises(cn.InputError, match="solver ANLS"):  # what others stated is remembered
        cn.compare(cn.factorize(V, 2), {"ANLS": cn.HALS()}, [0], stop=4, store=tmp_path)


_KILLED = """
import os, signal, sys
import numpy as np, conicnmf as cn
from dataclasses import dataclass

@dataclass(frozen=True)
class Counted(cn.HALS):
    def sweep(self, blocks, factors, memo):
        if os.path.exists(sys.argv[1] + "/runs/problem-Counted-1-" + sys.argv[2] + ".npz"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().sweep(blocks, factors, memo)

V = np.random.default_rng(0).random((9, 7))
cn.compare(cn.factorize(V, 2), [Counted()], range(4), stop=4, store=sys.argv[1])
"""


def test_a_killed_comparison_goes_on(tmp_path):
    folder = tmp_path / "runs"
    digest = Store(folder).file(("problem", "Counted", 1)).stem[-8:]
    done = subprocess.run([sys.executable, "-c", _KILLED, folder, digest], check=False)
    assert done.returncode == -9
    partial = cn.Comparison.load(folder)
    assert partial.table["status"].tolist() == ["MAX_ITER", "MAX_ITER", "NOT_RUN", "NOT_RUN"]
    whole = runs_of(folder, seeds=range(4))
    assert set(whole.table["status"]) == {"MAX_ITER"}
    afresh = runs_of(tmp_path / "other", seeds=range(4))
    assert whole.table["objective"].tolist() == afresh.table["objective"].tolist()


def test_a_run_that_was_half_written_is_made_again(tmp_path):
    runs_of(tmp_path, seeds=[0])
    (file,) = (tmp_path / "runs").glob("*.npz")
    file.write_bytes(file.read_bytes()[:-20])
    MADE.clear()
    assert runs_of(tmp_path, seeds=[0]).table["status"].tolist() == ["MAX_ITER"]
    assert MADE


def test_errors_are_tried_again(tmp_path):
    fails = [True]

    def mine(H):
        if fails[-1]:
            raise RuntimeError("not yet")
        return H <= 5

    fails.append(False)
    problem = cn.factorize(V, 2, H=[cn.NonNegative(), cn.Convex(mine)])
    fails.append(True)
    solvers = [cn.TangentPlane()]
    before = cn.compare(problem, solvers, [0], stop=1, store=tmp_path)
    assert before.table["status"].tolist() == ["ERROR"]
    fails.append(False)
    after = cn.compare(problem, solvers, [0], stop=1, store=tmp_path)
    assert after.table["status"].tolist() == ["MAX_ITER"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"stop": 5}, "its stop is MaxIter(limit=4), not MaxIter(limit=5)"),
        ({"time_limit": 9}, "its time limit is none, not 9 s"),
        ({"init": cn.NNDSVD()}, "its init is the default"),
        ({"problem": cn.factorize(V + 1, 2)}, "its data V of problem is another one"),
        ({"problem": cn.factorize(V, 3)}, "its variables of problem is W 9 × 2"),
        (
            {"problem": cn.factorize(V, 2, loss=cn.WeightedFrobenius(V > 0.1))},
            "its loss of V of problem is Frobenius",
        ),
    ],
)
def test_a_store_of_another_comparison_is_refused_with_the_reason(tmp_path, change, reason):
    runs_of(tmp_path, seeds=[0])
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    MADE.clear()
    with pytest.raises(cn.InputError, match="holds another comparison") as caught:
        runs_of(tmp_path, seeds=[0], **change)
    assert reason in str(caught.value)
    assert not MADE
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def test_functions_that_print_alike_are_told_apart(tmp_path):
    def stated(limit):
        return cn.factorize(
            V, 2, H=[cn.NonNegative(), cn.Convex(lambda H: cp.max(H) <= limit, name="limit")]
        )

    runs_of(tmp_path, seeds=[0], problem=stated(0.5))
    with pytest.raises(cn.InputError, match="holds another comparison"):
        runs_of(tmp_path, seeds=[0], problem=stated(0.25))


def test_a_store_must_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(cn.InputError, match="must be a folder"):
        runs_of(tmp_path / "file")


def test_two_processes_fill_one_store(tmp_path):
    solvers = [cn.HALS(), cn.Multiplicative()]
    runs = cn.compare(cn.factorize(V, 2), solvers, stop=4, store=tmp_path, n_jobs=2)
    assert len(list((tmp_path / "runs").glob("*.npz"))) == 6
    pd.testing.assert_frame_equal(cn.Comparison.load(tmp_path).table, runs.table)


def test_saved_comparisons_come_back_and_can_be_extended(tmp_path):
    sparse = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])
    problems = {"a/b c": cn.factorize(V, 2), "sparse": sparse}
    solvers = [cn.HALS(), cn.Multiplicative()]
    runs = cn.compare(problems, solvers, [0, 1], stop=4)
    again = cn.Comparison.load(runs.save(tmp_path / "deep" / "folder"))
    pd.testing.assert_frame_equal(again.table, runs.table)
    assert again.settings == runs.settings
    assert again.results.keys() == runs.results.keys()
    pd.testing.assert_frame_equal(again.summary(), runs.summary())
    more = cn.compare(problems, solvers, range(3), stop=4, store=tmp_path / "deep" / "folder")
    assert len(more.table) == 12
    assert not [path for path in tmp_path.rglob("*") if ".new" in path.name]


def test_what_is_no_saved_comparison_is_refused(tmp_path):
    with pytest.raises(cn.InputError, match=r"comparison\.json"):
        cn.Comparison.load(tmp_path)
    (tmp_path / "comparison.json").write_text("{}")
    with pytest.raises(cn.InputError, match="runs that are not damaged are kept"):
        cn.Comparison.load(tmp_path)
