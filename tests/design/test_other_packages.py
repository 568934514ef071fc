"""A distribution that is really installed adds to every registry, and a broken one breaks nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from their_package import BROKEN, PYPROJECT, SOURCE, install

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    return install(tmp_path_factory.mktemp("theirs"), "their_nmf", PYPROJECT, SOURCE)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    source = "raise RuntimeError('this package is for another version')"
    return install(tmp_path_factory.mktemp("broken"), "broken_nmf", BROKEN, source)


def python(code, *sites, arguments=(), options=()):
    """Run code in a process that sees these packages beside ours."""
    path = os.pathsep.join(map(str, [*sites, ROOT]))
    return subprocess.run(
        [sys.executable, *options, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def program(*arguments, site):
    done = python("from conicnmf.__main__ import main; main()", site, arguments=arguments)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_solvers_terms_losses_starts_and_data_are_found_by_name(theirs):
    code = """if True:
        import json, conicnmf as cn
        V = cn.datasets.load("Their-Waves", n_samples=10).V
        problem = cn.factorize(V, 2, loss="theirloss", H=["TheirBall"])
        result = problem.solve("theirsolver", init="TheirStart", stop=20)
        runs = cn.compare(problem, ["HALS", "TheirSolver", cn.ProjectedGradient()], [0], stop=5)
        print(json.dumps({
            "explained": problem.explain(),
            "loss": repr(problem.loss),
            "solver": result.solver,
            "history": list(result.history.to_frame()["objective"]),
            "violation": result.max_violation,
            "feasible": [c.ok for c in result.certificate().checks if "feasible" in c.name],
            "compared": sorted(set(runs.table["solver"])),
            "statuses": sorted(set(runs.table["status"])),
        }))
    """
    done = python(code, theirs, options=["-W", "error"])
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "yes  TheirSolver" in told["explained"]
    assert "H: TheirBall(each='entry')" in told["explained"]
    assert told["loss"] == "TheirLoss(scale=0.5, cap=inf)"
    assert told["solver"] == "TheirSolver()"
    assert np.all(np.diff(told["history"]) <= 1e-9)  # its steps are safe
    assert told["violation"] == 0
    assert all(told["feasible"])
    assert told["compared"] == ["HALS", "ProjectedGradient", "TheirSolver"]
    assert told["statuses"] == ["MAX_ITER"]


def test_the_program_lists_and_uses_them(theirs):
    shown = program("solvers", site=theirs)
    assert "TheirSolver" in shown
    assert "Plain projected gradient steps." in shown
    rows = {row["name"]: row for row in json.loads(program("datasets", "--json", site=theirs))}
    assert rows["their_waves"] == {
        "name": "their_waves",
        "shape": "20 × 12",
        "from": "the package their_nmf",
    }
    options = ["--rank", "2", "--max-iter", "5", "--no-certificate", "--json"]
    fitted = program("fit", "their_waves", "--solver", "theirsolver", *options, site=theirs)
    assert json.loads(fitted)["solver"] == "TheirSolver()"
    chosen = ["--solvers", "HALS,TheirSolver", "--seeds", "1", *options[:4], "--json"]
    compared = json.loads(program("compare", "their_waves", *chosen, site=theirs))
    assert {row["solver"] for row in compared["runs"]} == {"HALS", "TheirSolver"}


def test_a_package_that_fails_is_told_once_and_everything_else_works(theirs, broken):
    code = """if True:
        import sys, warnings, numpy as np
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            import conicnmf as cn
            assert "broken_nmf" not in sys.modules and not told  # looked at when first needed
            problem = cn.factorize(np.ones((4, 3)), 1)
            problem.explain(), problem.explain()
            assert problem.solve("TheirSolver", stop=2).n_iter == 2
            try:
                problem.solve("Broken")
            except cn.InputError as error:
                assert "no solver is called 'Broken'" in str(error)
        for warning in told:
            print(warning.category.__name__, warning.message)
    """
    done = python(code, broken, theirs)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert line == (
        "RuntimeWarning the solver 'Broken' of 'broken_nmf:Broken' was left out: this package is "
        "for another version; update or uninstall the package that provides it"
    )


def test_importing_survives_a_broken_package_even_where_warnings_are_errors(broken):
    done = python("import conicnmf; print('fine')", broken, options=["-W", "error"])
    assert done.stdout == "fine\n", done.stderr
