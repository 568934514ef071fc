"""What an extra brings may be missing: the answer is one sentence with the pip command."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from conicnmf.errors import MissingExtraError, require

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
PLOTS = "plots need matplotlib; pip install 'conicnmf[plot]'"


def without(names, code, *arguments):
    """Run code in a process of its own in which these modules cannot be imported."""
    block = "import sys\n" + "".join(f"sys.modules[{name!r}] = None\n" for name in names)
    return subprocess.run(
        [sys.executable, "-c", block + textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def program(names, *arguments):
    """Run the program `conicnmf` where these modules cannot be imported."""
    return without(names, "from conicnmf.__main__ import main; main()", *arguments)


def test_pictures_without_matplotlib_say_how_to_get_it():
    code = """
        import numpy as np, conicnmf as cn
        problem = cn.factorize(np.ones((4, 3)), 1)
        result = problem.solve("HALS", stop=2)
        uses = [
            lambda: __import__("conicnmf.report", fromlist=["html_report"]).html_report,
            lambda: cn.report.plot_basis,
            lambda: result.plot(),
            lambda: cn.stability(problem).plot(),
        ]
        for use in uses:
            try:
                use()
            except cn.MissingExtraError as error:
                print(error)
    """
    done = without(["matplotlib"], code)
    assert done.stdout.splitlines() == 4 * [PLOTS], done.stderr


def test_everything_but_pictures_works_without_matplotlib():
    code = """
        import numpy as np, conicnmf as cn
        problem = cn.factorize(np.ones((4, 3)), 1)
        runs = cn.compare(problem, ["HALS"], [0], stop=2)
        print(runs.to_markdown(), problem.solve("HALS").certificate().ok)
    """
    done = without(["matplotlib", "PIL", "typer"], code)
    assert done.stdout.strip().endswith("True"), done.stderr


def test_a_backend_that_an_extra_brings_says_which():
    code = """
        import conicnmf as cn
        try:
            cn.TangentPlane(engine="conic", backend="PIQP")
        except cn.MissingExtraError as error:
            print(error)
    """
    done = without(["piqp"], code)
    said = "the backend PIQP needs piqp; pip install 'conicnmf[fast]'"
    assert done.stdout.strip() == said, done.stderr


def test_the_program_without_typer_ends_with_one_line_and_code_2():
    done = program(["typer"], "demo")
    assert done.returncode == 2
    assert done.stderr == "the command line needs typer; pip install 'conicnmf[cli]'\n"
    assert not done.stdout


@pytest.mark.parametrize(
    "arguments",
    [["demo"], ["fit", "bars", "--rank", "2", "-o", "out"], ["reproduce", "--list"]],
    ids=lambda arguments: arguments[0],
)
def test_the_program_refuses_reports_without_matplotlib_before_any_work(arguments):
    done = program(["matplotlib"], *arguments)
    assert done.returncode == 2
    assert done.stderr == (
        "the pictures of reports need matplotlib; pip install 'conicnmf[plot]'\n"
    )


def test_the_program_solves_without_matplotlib_and_pillow():
    done = program(["matplotlib", "PIL"], "fit", "bars", "--rank", "2", "--max-iter", "3")
    assert done.returncode == 0, done.stderr
    assert "relative error" in done.stdout


def test_a_folder_of_pictures_without_pillow_says_how_to_get_it(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    done = program(["PIL", "matplotlib"], "fit", str(tmp_path), "--rank", "2")
    assert done.returncode == 2
    assert "folders of pictures need pillow; pip install 'conicnmf[cli]'" in done.stderr


def test_python_m_is_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "conicnmf", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("conicnmf ")


def test_a_package_that_is_broken_itself_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import what_it_needs_itself\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="what_it_needs_itself") as caught:
        require("half_installed", "plot", "plots need")
    assert not isinstance(caught.value, MissingExtraError)


def test_the_core_depends_on_no_extra_and_the_tests_on_all_that_run():
    core = " ".join(PROJECT["dependencies"])
    assert not any(name in core for name in ("matplotlib", "pillow", "typer"))
    assert "rich" in core
    extras = PROJECT["optional-dependencies"]
    needed = set(extras) - {"test", "docs", "dev"}
    assert set(extras["test"][0].removeprefix("conicnmf[").rstrip("]").split(",")) == needed
    assert PROJECT["scripts"] == {"conicnmf": "conicnmf.__main__:main"}
