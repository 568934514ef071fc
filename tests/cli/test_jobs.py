"""Jobs for scripts: a file of options, terms as text, JSON whatever happens, pages of saved results."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import conicnmf as cn
from conicnmf.cli import app
from conicnmf.cli.stated import read_term

V = np.random.default_rng(0).random((6, 8))


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.csv"
    index, columns = list("abcdef"), [f"s{i}" for i in range(8)]
    pd.DataFrame(V, index=index, columns=columns).to_csv(path)
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_job_from_a_file_with_names_in_and_out(sheet, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(
        f'data = "{sheet}"\nrank = 5\n[fit]\nterm-w = ["Sparseness(min=0.5)"]\nmax-iter = 5\n'
        f'output = "{tmp_path / "out"}"\ncertificate = false\n[compare]\nseeds = 1\n'
    )
    done = run("fit", "--config", job, "--set", "rank=2", "--json", "--seed", "3")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["seed"] == 3
    assert told["factors"]["W"] == [6, 2]
    result = cn.load(tmp_path / "out" / "result")
    assert cn.sparseness(result.W, axis=0).min() > 0.5 - 1e-6
    assert told["top"]["component 1"] == [name for name, _ in result.top(10).entries["component 1"]]
    again = pd.read_csv(tmp_path / "out" / "W.csv", index_col=0)
    assert list(again.index) == list("abcdef")
    page = run("report", tmp_path / "out" / "result.npz", "-o", tmp_path / "page.html", "--json")
    assert json.loads(page.stdout)["files"] == [str(tmp_path / "page.html")]
    assert "largest entries in H" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "colour=1"], "no option 'colour'; its options are"),
        (["--set", "rank"], "takes name=value, got 'rank'"),
        (["--log-level", "loud"], "one of info, warning, error, got 'loud'"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--term-w", "__import__('os')"], "constraint or penalty"),
        (["--term-w", "L1(open('x'))"], "plain values"),
        (["--term-h", "L1(weight=-1)"], "weight"),
        (["--loss", "Huber(width=1)"], "Huber"),
        (["--rank", "many"], "--rank"),
    ],
)
def test_what_is_wrong_is_json_too(sheet, words, says):
    done = run("fit", sheet, "--rank", 2, *words, "--json")
    assert done.exit_code == 2
    told = json.loads(done.stdout)
    assert says in told["error"]
    assert told["exit_code"] == 2


def test_progress_is_written_as_lines_where_there_is_no_terminal(sheet):
    words = ("fit", sheet, "--rank", 2, "--max-iter", 3, "--no-certificate")
    assert "iteration 2, objective" in run(*words, "--log-level", "info").stderr
    assert run(*words, "--log-level=error").stderr == ""
    assert "iteration" not in run(*words).stderr


def test_weights_and_explanations(sheet, tmp_path):
    np.save(tmp_path / "weights.npy", np.full(V.shape, 4.0))
    words = ("fit", sheet, "--rank", 2, "--no-certificate", "--json", "--max-iter", 50)
    plain, heavy = (
        json.loads(run(*words, *more).stdout)["objective"]
        for more in ((), ("--weights", tmp_path / "weights.npy"))
    )
    assert heavy == pytest.approx(4 * plain, rel=0.05)
    told = json.loads(run("explain", sheet, "--rank", 2, "--sparse-w", 0.6, "--json").stdout)
    assert told["solver"]
    assert told["reasons"]["HALS"] == []
    assert told["reasons"]["Multiplicative"]


def test_terms_as_text_are_those_of_python():
    assert read_term("simplex(each='sample')") == cn.Simplex(each="sample")


@pytest.mark.parametrize(
    ("theirs", "ours"), [("--n-components", "--rank"), ("--random-state", "--seed")]
)
def test_an_option_of_another_package_is_answered_with_ours(sheet, theirs, ours):
    said = run("fit", sheet, theirs, 3)
    assert said.exit_code == 2
    assert ours in said.output


def test_the_largest_features_are_listed_on_the_screen(sheet):
    said = run("fit", sheet, "--rank", 2, "--no-certificate")
    named = [line for line in said.output.splitlines() if line.startswith("component ")]
    assert len(named) == 2
