"""What is shipped: the package alone, and a program that says where the experiments run."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel of the project, without fetching anything."""
    folder = tmp_path_factory.mktemp("wheel")
    command = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    (built,) = folder.glob("conicnmf-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel):
    """Return a folder with the wheel unpacked, as an installation has it."""
    folder = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder)
    return folder


def program(installed, cwd, *arguments):
    """Run the program from the wheel in another folder, where no clone is in reach."""
    code = "from conicnmf.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"conicnmf"}
    assert "conicnmf/py.typed" in names
    assert not [name for name in names if "test_" in name]


@pytest.mark.parametrize("arguments", [["--list"], ["heiler-paatero"], ["--all"]])
def test_experiments_run_from_a_clone_and_elsewhere_this_is_said(installed, tmp_path, arguments):
    done = program(installed, tmp_path, "reproduce", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("published experiments run from a clone of the project")
    assert "change to the clone" in done.stderr
    assert not done.stdout


def test_an_installed_program_in_the_clone_runs_its_experiments(installed):
    done = program(installed, ROOT, "reproduce", "--list")
    assert done.returncode == 0, done.stderr
    assert "heiler-paatero" in done.stdout


def test_what_is_installed_is_what_was_run(installed, tmp_path):
    code = "import conicnmf; print(conicnmf.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(installed)
