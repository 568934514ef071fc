"""`progress=True` shows something wherever it is asked for."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import conicnmf as cn
from conicnmf.solve.monitor import CountBar, ProgressBar

PROBLEM = cn.factorize(np.random.default_rng(0).random((6, 5)), 2)


def test_off_a_terminal_iterations_are_lines_that_get_rarer(capfd: pytest.CaptureFixture) -> None:
    result = PROBLEM.solve(cn.HALS(), stop=11, progress=True)
    out, err = capfd.readouterr()
    assert not out
    lines = err.splitlines()
    assert [int(line.split("iteration ")[1].split(",")[0]) for line in lines] == [0, 1, 2, 4, 8, 11]
    assert lines[0].startswith("HALS: iteration 0, objective ")
    assert f"objective {result.history.objective[-1]:.6g}, violation" in lines[-1]


def test_off_a_terminal_runs_are_counted(capfd: pytest.CaptureFixture) -> None:
    cn.compare(PROBLEM, ["HALS"], range(3), stop=2, progress=True)
    assert capfd.readouterr().err.splitlines() == [f"comparing: {k} of 3" for k in (1, 2, 3)]


def test_on_a_terminal_bars_move_and_leave_nothing_behind() -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    bar, count = ProgressBar("HALS", screen), CountBar("comparing", 2, screen)
    bar.close(), count.step(), count.close()
    PROBLEM.solve(cn.HALS(), stop=2, progress=ProgressBar("HALS", screen))
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "iteration" in shown
    assert "HALS: iteration" not in shown  # bars, no lines


def test_in_a_notebook_without_widgets_progress_is_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    notebook = SimpleNamespace(display=lambda mark: shown.append(mark.text))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=notebook))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr(sys.modules["conicnmf.solve.monitor"], "find_spec", lambda name: None)
    bar = ProgressBar("HALS", Console(force_jupyter=True))
    PROBLEM.solve(cn.HALS(), stop=2, progress=bar)
    assert [line.split(",")[0] for line in shown] == [f"HALS: iteration {k}" for k in (0, 1, 2)]
