"""Studies that are interrupted return what is finished, and say that it is not all."""

from __future__ import annotations

import importlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.problem import Problem
from conicnmf.solve.methods.base import Sweep
from conicnmf.study import cross_validate_rank, path, stability
from conicnmf.study.compare.single import _WARM
from conicnmf.types import Factors

paths = importlib.import_module("conicnmf.study.path")  # the package gives the function this name
V = np.random.default_rng(0).random((9, 8)) + 0.1
PROBLEM = cn.factorize(V, 2)


@dataclass(frozen=True)
class Pressed(cn.ANLS):
    """Somebody presses Ctrl-C in the n-th iteration that any of them makes."""

    after: int = 1
    made: ClassVar[list[int]] = []

    def sweep(self, problem: Problem, factors: Factors, memo: Any) -> Sweep:
        self.made.append(1)
        if len(self.made) == self.after:
            signal.raise_signal(signal.SIGINT)
        return super().sweep(problem, factors, memo)


@pytest.fixture
def pressed() -> Callable[[int], Pressed]:
    def make(after: int) -> Pressed:
        Pressed.made.clear()
        _WARM.clear()
        return Pressed(after=after)

    return make


def penalized(weight: float) -> Problem:
    return cn.factorize(V, 2, H=[cn.NonNegative(), cn.L1(weight)])


def test_a_path_ends_at_an_interruption(pressed: Any) -> None:
    values = [0.1, 0.2, 0.3, 0.4]
    found = path(penalized, values, pressed(7), stop=3)  # in the first iteration of the third
    assert found.partial
    assert found.missing == (0.3, 0.4)
    assert found.table["status"].tolist() == ["MAX_ITER", "MAX_ITER", "INTERRUPTED"]
    assert len(Pressed.made) == 7
    assert "partial: interrupted, without 0.3, 0.4" in repr(found)
    assert "partial: interrupted, without 0.3, 0.4" in found._repr_html_()
    whole = path(penalized, values, cn.ANLS(), stop=3)
    assert not whole.partial
    assert "partial" not in repr(whole)


def test_an_interrupted_value_is_not_kept_as_finished(pressed: Any, tmp_path: Any) -> None:
    values = [0.1, 0.2, 0.3]
    path(penalized, values, pressed(5), stop=3, store=tmp_path)
    Pressed.made.clear()
    again = path(penalized, values, Pressed(after=5), stop=3, store=tmp_path)
    assert again.table["status"].tolist() == ["MAX_ITER"] * 2 + ["INTERRUPTED"]


def test_a_path_that_is_interrupted_before_anything_is_found_raises() -> None:
    def problem(_: float) -> Problem:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        path(problem, [0.1, 0.2])


def test_many_starts_end_at_an_interruption(pressed: Any) -> None:
    # One iteration warms up, then three a start.
    runs = cn.multistart(PROBLEM, pressed(9), n_starts=6, stop=3)
    assert runs.partial
    assert runs.table["status"].tolist() == ["MAX_ITER"] * 2 + ["INTERRUPTED"] + ["NOT_RUN"] * 3
    assert len(Pressed.made) == 9
    assert "partial: 4 of 6 runs were not finished" in repr(runs)
    assert not cn.multistart(PROBLEM, cn.ANLS(), n_starts=2, stop=3).partial


def test_a_comparison_says_that_it_is_partial(pressed: Any) -> None:
    runs = cn.compare(PROBLEM, {"a": pressed(6), "b": cn.HALS()}, seeds=range(3), stop=3)
    assert runs.partial
    assert runs.interrupted
    told = "partial: 4 of 6 runs were not finished"
    assert told in repr(runs)
    assert told in runs._repr_html_()
    whole = cn.compare(PROBLEM, [cn.HALS()], seeds=[0], stop=3)
    assert not whole.partial
    assert "partial" not in repr(whole)


def test_stability_of_the_runs_that_were_finished(pressed: Any) -> None:
    found = stability(PROBLEM, pressed(9), n_starts=40, stop=3)
    assert len(found.results) == 2
    assert found.partial
    assert found.missing == 38
    assert "2 runs (partial: 38 more were not finished)" in repr(found)


def test_stability_of_fewer_than_two_runs_is_no_answer(pressed: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        stability(PROBLEM, pressed(6), n_starts=40, stop=3)


def test_no_rank_is_chosen_from_some_of_its_folds(pressed: Any) -> None:
    X = cn.datasets.low_rank(12, 10, 2, seed=0).V
    with pytest.raises(KeyboardInterrupt):
        cross_validate_rank(X, [1, 2, 3], folds=5, solver=weighted(pressed(6)), stop=2)
    # Each rank and fold is another problem, which is warmed up with one iteration.
    solver = weighted(pressed(0))
    found = cross_validate_rank(X, [1, 2], folds=2, solver=solver, stop=2)
    each = len(Pressed.made) // 4
    again = weighted(pressed(3 * each + 1))
    partial = cross_validate_rank(X, [1, 2, 3], folds=2, solver=again, stop=2)
    assert not found.partial
    assert partial.partial
    assert partial.missing
    assert set(partial.table.index) == {1, 2, 3} - set(partial.missing)
    assert "partial: not all folds of rank" in repr(partial)


def weighted(solver: Pressed) -> cn.Multiplicative:
    """Return the same for weighted losses."""

    @dataclass(frozen=True)
    class Weighted(cn.Multiplicative):
        def sweep(self, problem: Problem, factors: Factors, memo: Any) -> Sweep:
            Pressed.made.append(1)
            if len(Pressed.made) == solver.after:
                signal.raise_signal(signal.SIGINT)
            return super().sweep(problem, factors, memo)

    return Weighted()


def test_a_path_of_several_processes_keeps_what_is_finished(monkeypatch: Any) -> None:
    solved = paths.solve_or_recall

    def third(*given: Any, **options: Any) -> Any:
        if given[0].H[1].weight == 0.3:
            raise KeyboardInterrupt
        return solved(*given, **options)

    monkeypatch.setattr(paths, "solve_or_recall", third)
    found = path(penalized, [0.1, 0.2, 0.3, 0.4], stop=2, warm=False, backend="threading")
    assert found.missing == (0.3, 0.4)
    assert [result.status.name for result in found.results] == ["MAX_ITER", "MAX_ITER"]


@pytest.mark.parametrize(
    ("part", "study"),
    [
        ("path._row", lambda: path(penalized, [0.1, 0.2], "HALS", stop=2).results),
        (
            "compare.plan.merged",
            lambda: cn.compare(PROBLEM, ["HALS"], [0, 1], stop=2, store="s").results,
        ),
        ("multistart.Multistart", lambda: cn.multistart(PROBLEM, "HALS", 2, stop=2).objectives),
        ("stability.match_columns", lambda: stability(PROBLEM, "HALS", 2, stop=2).results),
        ("rank._errors", lambda: cross_validate_rank(V, [1], 2, stop=2).folds),
    ],
)
def test_ctrl_c_while_a_study_is_put_together_loses_nothing(
    part: str, study: Callable[[], Any], monkeypatch: Any, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(study()) == 2
    module, name = f"conicnmf.study.{part}".rsplit(".", 1)
    owner = importlib.import_module(module)
    real, asked = getattr(owner, name), []

    def pressing(*args: Any, **options: Any) -> Any:
        asked.append(1)
        if len(asked) == 2 or name != "merged":  # the list of runs is written first, and last
            signal.raise_signal(signal.SIGINT)
        return real(*args, **options)

    monkeypatch.setattr(owner, name, pressing)
    assert len(study()) == 2
    assert asked
