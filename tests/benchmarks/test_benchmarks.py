"""The benchmarks' own machinery: the page that is written, the exit code, judging by a goal."""

import math

import numpy as np
import pytest

from benchmarks import IDS
from benchmarks.__main__ import main
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
from benchmarks.page import write_page
from benchmarks.store import RESULTS, Conditions, Measured, Results, load, save

ROWS = [
    Row("fast", "1 ms", "10 ms", 10.0, 0.1, "≥ 5", True, id="proj"),
    Row("slow", "9 ms", "10 ms", 1.1, 0.1, "≥ 5", False, id="nnls"),
    Row("without a target", "9 ms", "10 ms", 1.1, 0.1, id="nnls"),
]


HOW = Conditions.of_this_run("wall time", quick=False)


@pytest.fixture(autouse=True)
def _nothing_is_compiled(monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.warm_up", lambda: 0.0)


def results_of(rows, run="2026-01-01 08:00 UTC"):
    ids = dict.fromkeys(row.id for row in rows)
    parts = {
        name: Measured(f"Title of {name}.", run, 1.0, tuple(r for r in rows if r.id == name))
        for name in ids
    }
    return Results(HOW, parts)


def page_of(results, folder):
    write_page(results, folder / "benchmarks.md")
    return (folder / "benchmarks.md").read_text(encoding="utf-8")


def test_the_page_names_what_was_missed_and_where_time_goes(tmp_path):
    text = page_of(results_of(ROWS), tmp_path)
    assert "| slow | 9 ms | 10 ms | 1.1 | 10% | ≥ 5 | **no** |" in text.replace("\u00a0", " ")
    assert "1 of 2 targets are met" in text
    link = "[Non-negative least squares](#benchmark-nnls)"
    assert f"- {link}: slow (1.1, target ≥ 5). {LIMITS['nnls']}" in text
    assert "| [Non-negative least squares](#benchmark-nnls) | 0 of 1 | 1.1 | ≥\u00a05 |" in text
    assert "Not measured: An iteration and its matrix products, " in text
    assert LIMITS["nnls"] in text
    assert "_static/benchmarks/speed.png" in text
    assert (tmp_path / "_static/benchmarks/speed.png").stat().st_size > 1000


def test_the_page_tells_rows_of_another_run_apart(tmp_path):
    late = Measured("Title.", "2026-02-02 08:00 UTC", 1.0, (Row("case"),))
    text = page_of(results_of(ROWS).having("kl", late, IDS), tmp_path)
    assert "from 2 runs, the first of 2026-01-01 08:00 UTC and the last of 2026-02-02" in text
    assert "`proj`. Title of proj. Run of 2026-01-01 08:00 UTC." in text
    assert "`kl`. Title. Run of 2026-02-02 08:00 UTC." in text


def test_the_page_says_when_nothing_was_missed(tmp_path):
    text = page_of(results_of(ROWS[:1]), tmp_path)
    assert "1 of 1 targets are met" in text
    assert "Missed" not in text


def test_iterations_are_drawn_above_their_products(tmp_path):
    rows = [
        Row("this machine: copy", "9 GB/s", id="floor"),
        Row("HALS", "3 ms", "2 ms", 1.5, id="floor"),
    ]
    assert "_static/benchmarks/floor.png" in page_of(results_of(rows), tmp_path)
    assert "floor.png" not in page_of(results_of(rows[:1]), tmp_path)


def test_stored_rows_come_back_as_they_were(tmp_path):
    results = results_of(ROWS)
    save(results, tmp_path / "rows.json")
    again = load(tmp_path / "rows.json")
    assert again.conditions == HOW
    assert repr(again.rows) == repr(results.rows)  # NaN is not equal to itself
    assert load(tmp_path / "nothing.json") is None


def test_numbers_of_numpy_are_stored_as_numbers(tmp_path):
    row = Row("case", ratio=np.float32(0.5), spread=np.float64("nan"), ok=np.True_, id="proj")
    save(results_of([row]), tmp_path / "rows.json")
    (again,) = load(tmp_path / "rows.json").rows
    assert (again.ratio, again.ok) == (0.5, True)
    assert math.isnan(again.spread)


def test_every_benchmark_has_a_profile():
    assert set(LIMITS) == set(IDS)


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1), (None, 0)])
def test_a_missed_target_is_the_exit_code(monkeypatch, tmp_path, capsys, ok, code):
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("case", ok=ok)]))
    stored = tmp_path / "benchmarks.json"
    assert main(["proj", "--write", "--results", str(stored)]) == code
    assert "| case |" in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert "proj" in capsys.readouterr().out
    assert main(["proj", "--page", "--results", str(stored)]) == code


def test_an_interrupted_run_goes_on_where_it_ended(monkeypatch, tmp_path, capsys):
    def stopped(setup):
        yield Row("half")
        raise KeyboardInterrupt

    options = ["proj", "nnls", "l0", "--resume", "--results", str(tmp_path / "benchmarks.json")]
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("first")]))
    monkeypatch.setattr("benchmarks.nnls.run", stopped)
    monkeypatch.setattr("benchmarks.l0.run", lambda setup: [][1])
    with pytest.raises(KeyboardInterrupt):
        main(options)
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: pytest.fail("is stored already"))
    monkeypatch.setattr("benchmarks.nnls.run", lambda setup: iter([Row("second")]))
    assert main(options) == 1  # the last one ended with an error, and says so
    rows = load(tmp_path / "benchmarks.json").rows
    assert [row.case for row in rows] == ["first", "second", "ended with an error"]
    assert "IndexError" in rows[-1].note
    monkeypatch.setattr("benchmarks.nnls.run", lambda setup: pytest.fail("is stored already"))
    monkeypatch.setattr("benchmarks.l0.run", lambda setup: iter([Row("third")]))
    assert main(options) == 0


def test_rows_of_other_conditions_are_not_mixed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("case")]))
    options = ["proj", "--write", "--results", str(tmp_path / "benchmarks.json")]
    assert main(options) == 0
    with pytest.raises(SystemExit):
        main([*options, "--quick"])
    assert "other conditions" in capsys.readouterr().err


def test_a_part_of_them_writes_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.proj.run", lambda setup: iter([Row("case")]))
    assert main(["proj", "--results", str(tmp_path / "benchmarks.json")]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_page_needs_stored_rows(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--page", "--results", str(tmp_path / "benchmarks.json")])
    assert "run python -m benchmarks first" in capsys.readouterr().err


def test_the_page_in_the_documentation_shows_the_stored_rows(tmp_path):
    stored = load(RESULTS)
    shown = RESULTS.with_suffix(".md").read_text(encoding="utf-8")
    assert page_of(stored, tmp_path) == shown


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["nonsense"])
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


def test_long_work_is_timed_once_and_short_work_in_every_turn():
    now, calls = [0.0], {"short": 0, "long": 0}

    def work(name, seconds):
        def made(_):
            calls[name] += 1
            now[0] += seconds

        return made

    setup = Setup(timer=lambda: now[0])
    runs = setup.race({"short": work("short", 1.0), "long": work("long", 20.0)}, 3)
    assert calls == {"short": 3, "long": 1}
    assert runs["short"].seconds == [1.0] * 3
    assert runs["long"].seconds == [20.0] * 3


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
