"""Experiments by their id, outcomes as files, and the command."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

from conicnmf.cli import app
from conicnmf.cli import reproduce as _command  # noqa: F401  registers the command
from conicnmf.errors import InputError
from conicnmf.report import plot_basis
from experiments import EXPERIMENTS, Experiment, Outcome, Setup, reproduce, write
from experiments.experiment import judged_by


def run(*arguments, code=0):
    outcome = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == code, outcome.output
    return outcome


@pytest.fixture
def tiny(monkeypatch):
    """An experiment that takes no time and shows what it was given."""

    def measure(setup):
        table = pd.DataFrame({"s": [0.5], "published": [float("nan")], "runs": [setup.runs(2, 9)]})
        figure = plot_basis([[1.0, 0.0], [0.0, 1.0]])
        return Outcome(table, {"basis": figure}, "agrees", "it is so.", ("a [note]",))

    experiment = Experiment("tiny", "A paper", "A title", "A claim.", "Some data.", measure)
    monkeypatch.setitem(EXPERIMENTS, "tiny", experiment)
    return experiment


def test_every_experiment_is_told_in_full():
    for name, experiment in EXPERIMENTS.items():
        assert experiment.id == name
        assert experiment.published.endswith(".")
        assert experiment.data.endswith(".")
        assert "20" in experiment.paper


def test_reproduce_passes_the_setup_on_and_times_the_run(tiny):
    outcome = reproduce("tiny")
    assert outcome.table["runs"].item() == [0, 1]
    assert reproduce("tiny", quick=False).table["runs"].item() == list(range(9))
    assert reproduce("tiny", seeds=[4]).table["runs"].item() == [4]
    assert outcome.seconds > 0
    assert outcome.experiment is tiny
    assert "agrees: it is so." in repr(outcome)


def test_verdicts_name_the_sentences_that_fail():
    assert judged_by({"a": True, "b": True}) == ("agrees", "2 of 2 published sentences hold.")
    verdict, said = judged_by({"a": False, "b": True, "c": False})
    assert (verdict, said) == ("partly", "1 of 3 published sentences hold; these do not: a; c.")
    assert judged_by({"a": False})[0] == "differs"
    assert judged_by({"a": False, "b": True}, {"a": True})[0] == "better"
    assert judged_by({"a": False, "b": False}, {"a": True})[0] == "differs"
    assert judged_by({"a": True}, {"a": True})[0] == "agrees"


def test_unknown_experiment_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean heiler-table3"):
        reproduce("heiler-table")


def test_no_seeds_are_refused():
    with pytest.raises(InputError, match="at least one seed"):
        Setup(seeds=[])


def test_write_makes_a_page_a_table_and_the_figures(tiny, tmp_path):
    files = write(reproduce("tiny"), tmp_path / "deep" / "folder")
    assert [file.name for file in files] == ["table.md", "table.csv", "basis.png"]
    page = files[0].read_text(encoding="utf-8")
    for part in ("# tiny: A title", "Published: A claim.", "| 0.5 | – | [0, 1] |", "- a [note]"):
        assert part in page
    assert "**Verdict: agrees.** It is so." in page
    assert pd.read_csv(files[1])["s"].tolist() == [0.5]
    assert files[2].read_bytes()[1:4] == b"PNG"


def test_command_lists_the_experiments():
    text = run("--list").stdout
    assert all(name in text for name in EXPERIMENTS)


def test_command_shows_and_writes(tiny, tmp_path):
    text = run("tiny", "--full", "--output", tmp_path).stdout
    for part in ("tiny: A title", "A claim.", "a [note]", "agrees: it is so."):
        assert part in text
    assert (tmp_path / "tiny" / "table.md").is_file()


def test_command_runs_all(tiny, monkeypatch):
    for name in [name for name in EXPERIMENTS if name != "tiny"]:
        monkeypatch.delitem(EXPERIMENTS, name)
    assert "A claim." in run("--all").stdout


@pytest.mark.parametrize("arguments", [[], ["tiny", "--all"], ["tiny", "nonsense"]])
def test_command_refuses_before_anything_runs(tiny, arguments):
    outcome = run(*arguments, code=2)
    assert "A claim." not in outcome.output
    assert "--all" in outcome.output or "nonsense" in outcome.output


def test_the_page_names_the_seeds(tiny, tmp_path):
    for options, named in (({}, "seeds 0, 1"), ({"seeds": [3, 1]}, "seeds 1, 3")):
        page = write(reproduce("tiny", **options), tmp_path)[0]
        assert f"- Quick version, {named}: " in page.read_text(encoding="utf-8")
