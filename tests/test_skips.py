"""A test that is skipped for a reason nobody named fails the checks of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPING = """
import pytest

def test_without_a_tool():
    pytest.skip("no such tool")

@pytest.mark.skipif(True, reason="it is Monday")
def test_on_other_days(): ...
"""


@pytest.fixture(scope="module", params=["0", "2"], ids=["one process", "two workers"])
def skips(request, tmp_path_factory):
    """Return the file that a run with three skipped tests leaves behind."""
    folder = tmp_path_factory.mktemp("skips")
    shutil.copy(ROOT / "tests" / "conftest.py", folder)
    (folder / "test_skipping.py").write_text(SKIPPING)
    (folder / "test_import.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", request.param, "--rootdir", folder, folder],
        cwd=folder,
        env=os.environ | {"CONICNMF_SKIPS": str(folder / "skips")},
        capture_output=True,
        check=True,
    )
    return folder / "skips"


def check(file, *reasons):
    return subprocess.run(
        ["bash", ROOT / ".ci" / "skipped", file, *reasons],
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_reason_is_written_down(skips):
    text = skips.read_text()
    assert len(text.splitlines()) == 3
    assert "no such tool (test_skipping.py::test_without_a_tool)" in text
    assert "it is Monday" in text
    assert "no_such_module" in text


def test_reasons_that_are_named_pass_and_others_fail(skips):
    named = ["no such tool", "could not import 'no_such_module'", "it is Monday"]
    assert check(skips, *named).returncode == 0
    done = check(skips, *named[:2])
    assert done.returncode == 1
    assert "it is Monday (test_skipping.py::test_on_other_days)" in done.stdout
    assert "no such tool (" not in done.stdout
    assert "name the reason" in done.stderr


def test_nothing_skipped_passes(tmp_path):
    (tmp_path / "skips").write_text("")
    assert check(tmp_path / "skips", "no such tool").returncode == 0
