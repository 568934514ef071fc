"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from command_line import run
from typer.testing import CliRunner

import conicnmf as cn
from conicnmf.cli import app
from conicnmf.datasets import names
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.solve.choice import known_solvers

V = np.random.default_rng(0).random((12, 15))

KINDS = [type(solver) for solver in known_solvers(cn.factorize([[1.0]], 1))]


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "V.npy", V)
    return str(tmp_path / "V.npy")


def fitted(*arguments, code=0):
    return json.loads(run("fit", *arguments, "--json", code=code).stdout)


def test_version():
    assert run("--version").stdout.strip() == f"conicnmf {cn.__version__}"


COMMANDS = ["demo", "fit", "compare", "reproduce", "solvers", "datasets", "warm-up"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    assert f"Example: conicnmf {command}" in run(command, "--help").stdout


def test_without_a_command_help_is_shown():
    assert "Commands" in CliRunner().invoke(app, []).output


def test_fit_writes_a_result_that_loads_and_a_report(data, tmp_path):
    folder = tmp_path / "deep" / "folder"
    out = run(
        "fit", data, "--rank", 3, "--sparse-w", 0.6, "--image-shape", "3x4", "--output", folder
    )
    assert "relative error" in out.stdout
    result = cn.load(folder / "result")
    assert result.W.shape == (12, 3)
    assert hoyer_sparseness(result.W.T).min() > 0.6 - 1e-6
    assert "<title>V, rank 3</title>" in (folder / "report.html").read_text(encoding="utf-8")


def test_fit_says_when_nothing_was_kept(data, tmp_path):
    before = set(tmp_path.iterdir())
    assert "add --output" in run("fit", data, "--rank", 2, "--max-iter", 3).stdout
    assert set(tmp_path.iterdir()) == before


def test_fit_gives_what_the_library_gives(data):
    said = fitted(data, "--rank", 3, "--solver", "hals", "--seed", 4, "--l1-h", 0.2)
    short = [cn.NonNegative(), cn.NormBall()]
    problem = cn.factorize(V, 3, W=short, H=[cn.NonNegative(), cn.L1(0.2)])
    assert said["objective"] == problem.solve(cn.HALS(), seed=4).objective
    assert said["seed"] == 4
    assert said["factors"] == {"W": [12, 3], "H": [3, 15]}


def test_fit_takes_a_loss_by_its_name(data):
    said = fitted(data, "--rank", 2, "--loss", "kl", "--solver", "Multiplicative", "--max-iter", 9)
    problem = cn.factorize(V, 2, loss="kl")
    assert said["objective"] == problem.solve("Multiplicative", stop=9).objective
    wrong = run("fit", data, "--rank", 2, "--loss", "kullback", code=2)
    assert "no loss is called 'kullback'" in wrong.output


def test_fit_states_the_constraints_that_were_asked_for(data):
    options = ["--sparse-w", 0.3, "--sparse-w-max", 0.5, "--sparse-h", 0.2]
    said = fitted(data, "--rank", 2, *options, "--max-iter", 5)
    assert set(said["violation"]) == {
        "W: NonNegative()",
        "W: Sparseness(min=0.3, max=0.5, each='component')",
        "H: NonNegative()",
        "H: Sparseness(min=0.2, max=1.0, each='component')",
    }
    assert max(said["violation"].values()) < 1e-6


def test_limits_are_kept(data):
    said = fitted(data, "--rank", 3, "--solver", "Multiplicative", "--max-iter", 7)
    assert (said["iterations"], said["status"]) == (7, "MAX_ITER")
    assert fitted(data, "--rank", 3, "--time-limit", 0)["status"] == "TIME_LIMIT"


def test_a_data_set_by_name_brings_its_image_shape(tmp_path):
    run("fit", "bars", "--rank", 4, "--samples", 40, "--max-iter", 5, "-o", tmp_path / "o")
    assert "as images" in (tmp_path / "o" / "report.html").read_text(encoding="utf-8")


def _npz(path):
    np.savez(path, V=V, other=np.eye(3))


def _npz_single(path):
    np.savez(path, anything=V, label=np.arange(3))


def _npz_sparse(path):
    sp.save_npz(path, sp.csr_array(V))


def _csv(path):
    np.savetxt(path, V, delimiter=",")


def _csv_header(path):
    pd.DataFrame(V, columns=[f"s{i}" for i in range(V.shape[1])]).to_csv(path, index=False)


def _mtx(path):
    scipy.io.mmwrite(path, sp.coo_array(V), precision=17)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (_npz, "a.npz"),
        (_npz_single, "b.npz"),
        (_npz_sparse, "c.npz"),
        (_csv, "d.csv"),
        (_csv_header, "e.CSV"),
        (_mtx, "f.mtx"),
    ],
)
def test_every_kind_of_file_gives_the_same_answer(write, name, data, tmp_path):
    path = tmp_path / name
    write(path)
    options = ("--rank", 2, "--solver", "HALS", "--max-iter", 5)
    expected = fitted(data, *options)["objective"]
    assert fitted(path, *options)["objective"] == pytest.approx(expected, rel=1e-9)


def test_samples_as_rows_are_transposed(tmp_path):
    np.save(tmp_path / "T.npy", V.T)
    said = fitted(tmp_path / "T.npy", "--rank", 2, "--samples-are-rows", "--max-iter", 3)
    assert said["factors"]["W"] == [12, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.npy", "--rank", 2], "no file"),
        (["digitz", "--rank", 2], "digits"),
        (["bars", "--rank", 0], "whole number >= 1"),
        (["bars", "--rank", 2, "--sparse-w", 1.5], "0 <= min <= max <= 1"),
        (["bars", "--rank", 2, "--sparse-w", 0.8, "--sparse-w-max", 0.2], "min=0.8"),
        (["bars", "--rank", 2, "--solver", "HALZ"], "did you mean HALS"),
        (["bars", "--rank", 2, "--solver", "Multiplicative", "--sparse-w", 0.5], "These fit: "),
        (["bars", "--rank", 2, "--image-shape", "4x4"], "one pixel for each entry"),
        (["bars", "--rank", 2, "--image-shape", "four"], "ROWSxCOLUMNS"),
        (["bars", "--rank", 2, "--samples", 0], "--samples"),
        (["bars", "--rank", 2, "--max-iter", -1], "MaxIter"),
        (["bars", "--rank", 2, "--l1-h", -1], "weight"),
    ],
)
def test_bad_input_is_one_message_and_code_2(arguments, message):
    outcome = run("fit", *arguments, code=2)
    assert message in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not outcome.stdout


def test_bad_files_are_one_message_and_code_2(tmp_path):
    files = {
        "text.csv": "a,b\n1,two\n",
        "empty.csv": "",
        "broken.npz": "no archive",
        "broken.npy": "no array",
        "broken.mtx": "no matrix",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        assert str(tmp_path / name) in run("fit", tmp_path / name, "--rank", 1, code=2).stderr
    np.savez(tmp_path / "two.npz", a=V, b=V)
    assert "a, b" in run("fit", tmp_path / "two.npz", "--rank", 1, code=2).stderr
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    assert "numbers" in run("fit", tmp_path / "objects.npy", "--rank", 1, code=2).stderr
    np.save(tmp_path / "nan.npy", np.array([[np.nan, 1.0]]))
    assert "--missing" in run("fit", tmp_path / "nan.npy", "--rank", 1, code=2).stderr


def test_output_must_not_be_a_file(data):
    assert "folder" in run("fit", data, "--rank", 1, "-o", data, code=2).stderr


def test_a_failed_solve_is_code_1(data, monkeypatch):
    real = cn.solve(cn.factorize(V, 2), stop=1)

    def failing(*arguments, **options):
        assert options["throw"] is False
        return cn.Result(**{**vars(real), "status": cn.Status.COLLAPSED})

    monkeypatch.setattr("conicnmf.cli.fit.solve", failing)
    said = fitted(data, "--rank", 2, code=1)
    assert said["kind"] == "failed"
    assert said["advice"] == cn.Status.COLLAPSED.value


def test_compare_writes_tables_best_result_and_report(data, tmp_path):
    folder = tmp_path / "out"
    options = ["--rank", 3, "--sparse-w", 0.5, "--seeds", 2, "--max-iter", 5]
    shown = run(
        "compare", data, *options, "--solvers", "HALS, Multiplicative", "--output", folder
    ).stdout
    assert "Pairs that do not fit" in shown
    table = pd.read_csv(folder / "runs.csv")
    assert sorted(table["status"]) == ["MAX_ITER", "MAX_ITER", "SKIPPED", "SKIPPED"]
    assert cn.load(folder / "best").objective == pytest.approx(table["objective"].min())
    assert "HALS" in (folder / "summary.md").read_text(encoding="utf-8")
    assert "Solvers compared on V" in (folder / "report.html").read_text(encoding="utf-8")


def test_compare_gives_json_with_nulls_for_skipped_runs(data):
    options = ["--rank", 2, "--sparse-w", 0.5, "--seeds", 1, "--max-iter", 3]
    out = run("compare", data, *options, "--solvers", "HALS,Multiplicative", "--json").stdout
    assert "NaN" not in out
    ran, skipped = json.loads(out)["runs"]
    assert ran["solver"] == "HALS"
    assert skipped["objective"] is None
    assert "NonNegative alone" in skipped["reason"]


def test_compare_takes_all_but_the_slow_baseline_by_default(data):
    options = ["--rank", 2, "--seeds", 1, "--max-iter", 1, "--json"]
    runs = json.loads(run("compare", data, *options).stdout)["runs"]
    expected = [kind.__name__ for kind in KINDS if kind is not cn.JointNLP]
    assert [line["solver"] for line in runs] == expected


def test_a_plus_makes_a_chain(data):
    said = fitted(data, "--rank", 2, "--solver", "TangentPlane+HALS", "--max-iter", 4)
    assert said["solver"] == str(cn.Chain((cn.TangentPlane(), cn.HALS())))


def test_compare_without_a_success_is_code_1(data):
    options = ["--rank", 2, "--sparse-w", 0.5, "--solvers", "Multiplicative", "--seeds", 1]
    assert "no run succeeded" in run("compare", data, *options, code=1).stderr


def test_solvers_are_listed_with_what_they_fit():
    lines = run("solvers").stdout.splitlines()
    fits = {line.split()[0]: line for line in lines if "✓" in line}
    # The joint baseline fits nothing unless a non-linear solver is installed.
    assert set(fits) | {"JointNLP"} == {kind.__name__ for kind in KINDS}
    assert "✓" not in fits["Multiplicative"].split()[7]  # no sparseness bands
    assert "✓" in fits["HALS"].split()[7]
    for kind in KINDS:
        first = kind.__doc__.strip().splitlines()[0]
        assert any(first in line for line in lines)


def test_datasets_are_listed():
    shown = run("datasets").stdout
    assert all(name in shown for name in names())


def test_warm_up_says_how_long_it_took():
    assert json.loads(run("warm-up", "--jobs", 1, "--json").stdout)["seconds"] > 0
    assert "kernels are compiled" in run("warm-up", "--jobs", 1).stdout


def test_demo_is_quick_and_prints_the_path_of_its_report(tmp_path):
    page = tmp_path / "demo.html"
    shown = run("demo", "--quick", "--seeds", 1, "--output", page).stdout
    assert str(page) in shown
    assert "HALS" in shown
    assert "KSVD" not in shown  # nor any other solver that can run on neither problem
    assert page.read_text(encoding="utf-8").count("<img ") > 4
