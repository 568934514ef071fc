"""Exit codes, JSON of every command, continuing, and completion in a shell."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from command_line import run
from typer.testing import CliRunner

import conicnmf as cn
from conicnmf.cli import app
from conicnmf.datasets import names
from conicnmf.solve.choice import known_solvers
from experiments import EXPERIMENTS, Experiment, Outcome

PROGRAM = [sys.executable, "-c", "from conicnmf.cli import app; app(prog_name='conicnmf')"]
V = np.random.default_rng(0).random((12, 15))


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "V.npy", V)
    return str(tmp_path / "V.npy")


def told(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def test_the_codes_are_told_where_help_is():
    assert "Exit codes: 0 success, 1 a solve failed" in run("--help").stdout


@pytest.mark.parametrize("arguments", [["fitt"], ["fit", "bars"], ["fit", "bars", "--rank", "two"]])
def test_wrong_usage_is_code_2(arguments):
    run(*arguments, code=2)


@pytest.mark.parametrize(
    "words", [[], ["--version"], ["--nope"], ["fitt"], ["fit"], ["fit", "bars", "--nope"]]
)
def test_wrong_usage_is_json_where_that_is_asked_for(words):
    said = told(*words, code=2)
    assert said["error"]
    assert said["exit_code"] == 2


def test_an_error_that_nobody_foresaw_is_json_and_a_traceback(data, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("conicnmf.cli.fit.solve", broken)
    done = CliRunner().invoke(app, ["fit", data, "--rank", "2", "--json"])
    assert isinstance(done.exception, ZeroDivisionError)
    assert json.loads(done.stdout) == {"error": "ZeroDivisionError: by nothing", "exit_code": 1}


def test_want_of_memory_is_code_1(data, monkeypatch):
    def greedy(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("conicnmf.cli.fit.solve", greedy)
    assert "--samples" in run("fit", data, "--rank", 2, code=1).stderr


def test_an_interrupted_fit_keeps_the_best_and_is_code_130(data, tmp_path, monkeypatch):
    def interrupted(problem, *arguments, **options):
        return cn.solve(problem, callback=raise_interrupt, throw=False)

    def raise_interrupt(iteration, factors):
        raise KeyboardInterrupt

    monkeypatch.setattr("conicnmf.cli.fit.solve", interrupted)
    said = told("fit", data, "--rank", 2, "-o", tmp_path / "out", code=130)
    assert said["status"] == "INTERRUPTED"
    assert cn.load(tmp_path / "out" / "result").n_iter == 1


def test_an_interrupted_comparison_goes_on_from_its_store(data, tmp_path):
    store = tmp_path / "store"
    options = ["--rank", "3", "--solvers", "Multiplicative", "--max-iter", "10000", "--quiet"]
    command = ["compare", data, *options, "--seeds", "500", "--store", str(store)]
    child = subprocess.Popen([*PROGRAM, *command], stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        begun = len(list(store.glob("runs/*.npz"))) > 3
        if begun:
            break
        time.sleep(0.1)
    assert begun
    child.send_signal(signal.SIGINT)
    shown, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "NOT_RUN" in shown
    kept = pd.DataFrame(cn.Comparison.load(store).table)
    finished = kept[kept["status"] == "CONVERGED"]["seed"].tolist()
    assert 3 < len(finished) < 500
    again = told("compare", data, *options, "--seeds", 3, "--store", store)["runs"]
    assert [row["objective"] for row in again] == kept["objective"][:3].tolist()
    assert [row["seconds"] for row in again] == kept["seconds"][:3].tolist()  # not run again


def test_a_store_of_other_data_is_code_2(data, tmp_path):
    options = ["--rank", 2, "--solvers", "HALS", "--seeds", 1, "--store", tmp_path / "s"]
    run("compare", data, *options)
    np.save(data, V + 1)
    assert "holds another comparison" in run("compare", data, *options, code=2).stderr


def test_a_budget_leaves_rows_that_were_not_run(data):
    options = ["--rank", 2, "--solvers", "HALS", "--seeds", 3, "--budget", 0]
    runs = told("compare", data, *options, code=1)["runs"]
    assert {row["status"] for row in runs} == {"NOT_RUN"}


def test_compare_writes_latex_and_certificates(data, tmp_path):
    options = ["--rank", 2, "--solvers", "HALS,ANLS", "--seeds", 1, "-o", tmp_path / "o"]
    said = told("compare", data, *options)
    assert (tmp_path / "o" / "summary.tex").read_text().startswith(r"\begin{tabular}")
    assert said["significance"][0]["finding"].startswith("too few pairs")
    assert "CERTIFIED" in (tmp_path / "o" / "report.html").read_text()
    run("compare", data, *options, "--no-certificate")
    assert "CERTIFIED" not in (tmp_path / "o" / "report.html").read_text()


def test_fit_tells_its_certificate(data):
    said = told("fit", data, "--rank", 2)
    assert said["certified"] is True
    assert {"objective as reported", "stationary, W"} <= {c["name"] for c in said["certificate"]}
    assert told("fit", data, "--rank", 2, "--no-certificate")["certified"] is None
    assert "Certified" in run("fit", data, "--rank", 2).stdout
    assert "Not certified" in run("fit", data, "--rank", 2, "--max-iter", 1).stdout


def test_lists_as_json():
    assert [row["name"] for row in told("datasets")] == list(names())
    solvers = {row["solver"]: row for row in told("solvers")}
    assert list(solvers) == [s.name for s in known_solvers(cn.factorize([[1.0]], 1))]
    assert "sparse" in solvers["HALS"]["fits"]
    assert "sparse" not in solvers["Multiplicative"]["fits"]
    assert solvers["Multiplicative"]["reasons"]["sparse"]
    assert [row["id"] for row in told("reproduce", "--list")] == list(EXPERIMENTS)


def test_demo_as_json(tmp_path, monkeypatch):
    monkeypatch.setattr("conicnmf.cli.options.usual_solvers", lambda problem: [cn.HALS()])
    said = told("demo", "--quick", "--seeds", 1, "-o", tmp_path / "d.html")
    assert said["files"] == [str(tmp_path / "d.html")]
    assert {row["problem"] for row in said["runs"]} == {"plain", "columns of W sparse ≥ 0.75"}


@pytest.fixture
def experiments(monkeypatch):
    """One experiment that works and one whose data is not there."""

    def measure(setup):
        table = pd.DataFrame({"s": [0.5], "published": [float("nan")]})
        return Outcome(table, {}, "agrees", "it is so.", ("a note",))

    def missing(setup):
        raise cn.InputError("the data are not on this machine; fetch them")

    for name in list(EXPERIMENTS):
        monkeypatch.delitem(EXPERIMENTS, name)
    for name, work in (("missing", missing), ("works", measure)):
        experiment = Experiment(name, "A paper", "A title", "A claim.", "Some data.", work)
        monkeypatch.setitem(EXPERIMENTS, name, experiment)


def test_reproduce_all_goes_on_when_one_cannot_be_run(experiments, tmp_path):
    outcome = run("reproduce", "--all", code=1)
    assert "missing was not run: the data are not on this machine" in outcome.stderr
    assert "agrees" in outcome.stdout
    first, second = told("reproduce", "--all", "--output", tmp_path, code=1)
    assert first["verdict"] == "not run"
    assert second["verdict"] == "agrees"
    assert second["table"] == [{"s": 0.5, "published": None}]
    assert second["files"][0] == str(tmp_path / "works" / "table.md")


def test_reproduce_of_one_without_its_data_is_code_2(experiments):
    assert "fetch them" in run("reproduce", "missing", code=2).stderr
    assert told("reproduce", "works")[0]["notes"] == ["a note"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("conicnmf da", "datasets"),
        ("conicnmf fit dig", "digits"),
        ("conicnmf fit digits --solver Tan", "TangentPlane"),
        ("conicnmf compare digits --solvers HALS,Mul", "HALS,Multiplicative"),
        ("conicnmf reproduce heiler-t", "heiler-table3"),
    ],
)
def test_the_shell_completes(typed, expected):
    words = typed.split()
    asked = {
        "_CONICNMF_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(app, prog_name="conicnmf", env=asked)
    assert done.stdout.split() == [expected]


def test_output_may_be_cut_off_by_a_reader():
    reader = subprocess.run(
        f"{sys.executable} -c '{PROGRAM[2].replace(chr(39), chr(34))}' datasets | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert reader.stdout.startswith("name")
    assert "Traceback" not in reader.stderr
    assert "pipe" not in reader.stderr.lower()
