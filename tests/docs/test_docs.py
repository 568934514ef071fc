"""What README and documentation show is true: code runs, tables agree, files exist."""

import re
import runpy
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import conicnmf as cn

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def code_blocks(page, language="python"):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.stem
)
def test_code_on_the_page_runs_as_written(page, tmp_path, monkeypatch):
    mpl.use("Agg")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)  # pages save files where they are
    names = {"__name__": page.stem}
    for number, block in enumerate(code_blocks(page), start=1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    plt.close("all")


def test_readme_commands_stand_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:30])
    commands = re.findall(r"^python3 -m venv .*$", first_screen, flags=re.MULTILINE)
    demo, test = commands
    assert demo.endswith("conicnmf demo")
    assert test.endswith("pytest")


def test_ci_runs_the_readme_test_command():
    (pattern,) = re.findall(r"grep -m1 -E '(.*?)' README.md", (ROOT / ".ci/run").read_text())
    (command,) = re.findall(pattern, README, flags=re.MULTILINE)
    assert "'.[test]'" in command


def test_readme_links_point_at_files():
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_readme_picture_is_small():
    assert (ROOT / "docs/_static/sparse_digits.png").stat().st_size < 100_000


def test_readme_solver_table_agrees_with_the_solvers():
    headers, rows = runpy.run_path(str(ROOT / "docs/_ext/fits.py"))["fit_table"]()
    lines = re.findall(r"^\| (.*) \|$", README, flags=re.MULTILINE)
    table = [line.split(" | ") for line in lines]
    begin = next(i for i, row in enumerate(table) if row[0] == "solver")
    shown = table[begin]
    wanted = [[row[headers.index(name)] for name in shown] for row in rows]
    found = table[begin + 2 : begin + 2 + len(wanted)]
    assert found == wanted, "print the table anew with `python docs/_ext/fits.py`"


def public(name):
    thing = getattr(cn, name)
    return not isinstance(thing, (ModuleType, str))


@pytest.mark.parametrize("name", [name for name in cn.__all__ if public(name)])
def test_public_name_has_an_example(name):
    doc = vars(getattr(cn, name)).get("__doc__") or getattr(cn, name).__doc__ or ""
    assert re.search(r"^ *Examples\n *-+\n.*>>> ", doc, flags=re.MULTILINE | re.DOTALL), name
