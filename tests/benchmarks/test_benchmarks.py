"""The benchmarks' own machinery: the page that is written, the exit code, judging by a goal."""

import math
import sys

import numpy as np
import pytest

from benchmarks import IDS, __main__, table
from benchmarks.goals import Reference, iterations_to, race_to
from benchmarks.harness import (
    Row,
    Runs,
    Setup,
    SkippedError,
    fresh_process,
    guarded,
    peak_memory,
    speedup,
)
from benchmarks.limits import LIMITS

ROWS = [
    Row("fast", "1 ms", "10 ms", 10.0, 0.1, "≥ 5", True, id="proj"),
    Row("slow", "9 ms", "10 ms", 1.1, 0.1, "≥ 5", False, id="nnls"),
    Row("beside", "9 ms", "10 ms", 1.1, 0.1, id="nnls"),
]


def test_the_page_names_what_was_missed_and_why(tmp_path):
    page = tmp_path / "benchmarks.md"
    table.write(ROWS, {"proj": "Projections.", "nnls": "Least squares."}, "wall time", page)
    text = page.read_text(encoding="utf-8")
    assert "| nnls | slow | 9 ms | 10 ms | 1.1 | 10% | ≥ 5 | **no** |" in text
    missed = text[text.index("## Where a target is missed") :]
    assert f"- **nnls** (slow). {LIMITS['nnls']}" in missed
    assert "proj" not in missed


def test_the_page_says_when_nothing_was_missed(tmp_path):
    page = tmp_path / "benchmarks.md"
    table.write(ROWS[:1], {"proj": "Projections."}, "wall time", page)
    assert "All targets are met." in page.read_text(encoding="utf-8")


def test_every_benchmark_has_a_profile():
    assert set(LIMITS) == set(IDS)


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1), (None, 0)])
def test_a_missed_target_is_the_exit_code(monkeypatch, tmp_path, capsys, ok, code):
    page = tmp_path / "benchmarks.md"
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("case", ok=ok)]))
    monkeypatch.setattr(__main__, "write", lambda *arguments: table.write(*arguments, page))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "proj", "--write"])
    assert __main__.main() == code
    assert "| proj | case |" in page.read_text(encoding="utf-8")
    assert "proj" in capsys.readouterr().out


def test_a_part_of_them_writes_nothing(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("case")]))
    monkeypatch.setattr(__main__, "write", lambda *_: pytest.fail("a part is no full table"))
    monkeypatch.setattr(sys, "argv", ["benchmarks", "proj"])
    assert __main__.main() == 0


def test_unknown_names_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nonsense"])
    with pytest.raises(SystemExit):
        __main__.main()
    assert "no benchmark is called nonsense" in capsys.readouterr().err


def test_the_ratio_is_the_median_of_paired_ratios():
    row = speedup("case", Runs([1.0, 2.0, 1.0]), Runs([4.0, 6.0, 9.0]), at_least=4)
    assert (row.ratio, row.ok) == (4.0, True)
    assert row.spread == pytest.approx(6 / 4)
    assert speedup("case", Runs([1.0]), Runs([9.0]), 4, also=False).ok is False


def falling(rate):
    """A method that lowers an objective by a constant factor, an iteration at a time."""
    return Reference(lambda: ((None, None, rate**k) for k in range(1, 60)))


def test_a_race_needs_the_goal():
    quick = Setup(quick=True)
    fast, slow = falling(0.5), falling(0.95)
    paths = [method.path(lambda: False) for method in (fast, slow)]
    assert iterations_to(paths[0], 0.1) == 4
    row = race_to(0.1, "case", (fast, paths[0]), (slow, paths[1]), quick, 1e-9)
    assert row.ok
    assert "iterations 4 to 45" in row.note
    lost = race_to(1e-9, "case", (slow, paths[1]), (fast, paths[0]), quick, 1.0)
    assert (lost.ratio, lost.ok) == (0.0, False)
    ahead = race_to(1e-9, "case", (fast, paths[0]), (slow, paths[1]), quick)
    assert "still" in ahead.note


def test_a_case_without_data_is_a_row_without_a_verdict():
    def rows():
        yield Row("first", ok=True)
        raise SkippedError("no data")

    first, second = guarded("case", rows())
    assert first.ok
    assert second.ok is None
    assert math.isnan(second.ratio)
    assert "no data" in second.note


def test_peak_memory_is_that_of_the_process_itself():
    code = (
        "import json; from benchmarks.harness import peak_memory; print(json.dumps(peak_memory()))"
    )
    large = np.ones(100_000_000)
    inside = fresh_process(code)
    assert peak_memory() > large.nbytes
    assert inside < large.nbytes
