"""Workers of a cluster that go, hang or raise: nothing is lost, or the status says so."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.strips.cluster import DaskCrew, DaskReader
from conicnmf.strips.cluster import crew as crew_module
from conicnmf.strips.cluster.holder import Holder

V = np.random.default_rng(6).random((12, 45))
LAZY = da.from_array(V, chunks=(12, 7))


def take_away(cluster, at, count=1):
    """Return a callback that closes workers after an iteration."""

    def callback(iteration, factors):
        if iteration.iteration == at:
            for worker in list(cluster.workers.values())[:count]:
                cluster.sync(worker.close)
                cluster.workers.pop(worker.name)

    return callback


ROWS = {"H": ["nonnegative", cn.Sparseness(min=0.4)]}


@pytest.mark.parametrize(("longest", "stated"), [(2, {}), (100, {}), (100, ROWS), (2, ROWS)])
def test_strips_of_a_worker_that_goes_are_made_again_exactly(longest, stated, three, monkeypatch):
    monkeypatch.setattr(crew_module, "_LONGEST", longest)
    cluster, _ = three
    problem = cn.factorize(LAZY, 4, **stated)
    wanted = problem.solve("HALS", stop=9)
    found = problem.solve("HALS", stop=9, callback=take_away(cluster, 4, 2))
    assert len(cluster.workers) == 1
    np.testing.assert_array_equal(found.W, wanted.W)
    np.testing.assert_array_equal(found.H, wanted.H)


def test_nobody_left_is_said_and_the_best_iterate_comes_back(three):
    cluster, _ = three
    problem = cn.factorize(LAZY, 4)
    wanted = problem.solve("HALS", stop=3)
    with dask.config.set({"conicnmf.patience": "100ms"}):
        found = problem.solve("HALS", stop=9, callback=take_away(cluster, 3, 3), throw=False)
    assert found.status is cn.Status.ERROR
    assert any("workers of the Dask cluster are gone" in said for said in found.remarks)
    np.testing.assert_array_equal(found.H, wanted.H)


STUCK, GO_ON = threading.Event(), threading.Event()


def sleepy(k, strip):
    """Wait at one strip until the test is over, the first time."""
    if k == 2 and not STUCK.is_set():
        STUCK.set()
        GO_ON.wait(30)
    return None, (float(strip.sum()),)


def test_a_stuck_worker_is_left_behind(three):
    with dask.config.set({"conicnmf.patience": "300ms"}):
        crew = DaskCrew(DaskReader.of(LAZY))
        try:
            (total,) = crew.run(sleepy, crew.data)
            assert STUCK.is_set()
            assert total == pytest.approx(V.sum())
        finally:
            GO_ON.set()
            crew.close()


def test_where_all_workers_are_stuck_the_status_says_so(three, monkeypatch):
    problem, hang, go_on = cn.factorize(LAZY, 4), threading.Event(), threading.Event()
    wanted = problem.solve("HALS", stop=3)
    own = Holder.run

    def stuck(holder, *args):
        if hang.is_set() and threading.current_thread() is not threading.main_thread():
            go_on.wait(30)
        return own(holder, *args)

    monkeypatch.setattr(Holder, "run", stuck)

    def callback(iteration, factors):
        if iteration.iteration == 3:
            hang.set()

    try:
        with dask.config.set({"conicnmf.patience": "300ms"}):
            found = problem.solve("HALS", stop=9, callback=callback, throw=False)
    finally:
        go_on.set()
    assert found.status is cn.Status.ERROR
    assert any("have not answered" in said for said in found.remarks)
    np.testing.assert_array_equal(found.W, wanted.W)
    assert found.n_iter == 3


def test_what_work_raises_there_is_raised_here(three):
    crew = DaskCrew(DaskReader.of(LAZY))
    with pytest.raises(ZeroDivisionError):
        crew.data.total(lambda strip: 1 / 0)
    crew.close()


def test_a_lost_client_goes_on_from_the_checkpoint(three, tmp_path):
    stated = {"checkpoint": tmp_path / "c"}
    first = cn.factorize(LAZY, 4).solve("ANLS", stop=5, **stated)
    again = cn.factorize(da.from_array(V, chunks=(12, 7)), 4).solve("ANLS", stop=10, **stated)
    assert again.n_iter == 10
    assert again.history.objective[5] == pytest.approx(first.objective, rel=1e-12)


@pytest.mark.long
def test_killed_processes_change_nothing():
    done = subprocess.run(
        [sys.executable, "-m", "tests.kills.workers", "3", "5"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith('"wrong": []}')
