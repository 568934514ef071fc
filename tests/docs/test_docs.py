"""What README and documentation show is true: code runs, tables agree, files exist."""

import re
import runpy
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import conicnmf as cn
from experiments.captions import caption

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "fields").glob("*.md")),
]


def code_blocks(page, language="python"):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_fractions_have_braces(page):
    r"""The renderer takes the digits of ``\frac12`` for one number, and what follows for the other."""
    assert not re.findall(r"\\[dt]?frac\s*\d\d", page.read_text(encoding="utf-8"))


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
    assert found == wanted, "print the table again with `python docs/_ext/fits.py`"


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_architecture_page_says_what_each_room_is_for():
    layers = runpy.run_path(str(ROOT / "tests/test_layers.py"))["LAYERS"]
    assert tuple(re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, flags=re.MULTILINE)) == layers


def named_with_files():
    return re.findall(r"`([\w.]+)`\s+in\s+`([\w/]+\.py)`", ARCHITECTURE)


def test_the_walk_has_ten_steps():
    walk = ARCHITECTURE.split("## From V to the report in ten steps")[1].split("##")[0]
    assert re.findall(r"^(\d+)\. ", walk, flags=re.MULTILINE) == [str(k) for k in range(1, 11)]
    assert len(named_with_files()) >= 10


@pytest.mark.parametrize(("name", "file"), named_with_files())
def test_architecture_page_names_what_is_there(name, file):
    source = (ROOT / file).read_text(encoding="utf-8")
    for part in name.split("."):
        assert re.search(rf"^ *(def|class) {part}\b", source, flags=re.MULTILINE), (part, file)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_files_named_on_the_page_exist(page):
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:conicnmf|docs|tests|examples|experiments)/[\w./]*)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_picture_of_the_rooms_shows_the_imports():
    drawn = runpy.run_path(str(ROOT / "docs/_ext/layers.py"))
    picture = drawn["read_imports"]()
    order = picture.layers.index
    assert picture.at_once["solve", "model"] > 10
    assert all(order(user) > order(used) for user, used in picture.at_once)
    assert ("model", "solve") in picture.late
    marks = ElementTree.fromstring(drawn["as_svg"](picture)).iter(
        "{http://www.w3.org/2000/svg}circle"
    )
    assert len(list(marks)) == len(picture.at_once) + len(picture.late)


def public(name):
    thing = getattr(cn, name)
    return not isinstance(thing, (ModuleType, str))


@pytest.mark.parametrize("name", [name for name in cn.__all__ if public(name)])
def test_public_name_has_an_example(name):
    doc = vars(getattr(cn, name)).get("__doc__") or getattr(cn, name).__doc__ or ""
    assert re.search(r"^ *Examples\n *-+\n.*>>> ", doc, flags=re.MULTILINE | re.DOTALL), name


def test_pictures_of_shapes_name_every_variable_in_its_shape():
    drawn = runpy.run_path(str(ROOT / "docs/_ext/shapes.py"))
    page = (ROOT / "docs/modelling.md").read_text()
    for name, problem in drawn["problems"]().items():
        svg = drawn["as_svg"](problem)
        for variable, (rows, columns) in problem.shapes.items():
            assert f"<title>{variable}: {rows} × {columns}</title>" in svg
        assert name == "two" or f"```{{shape}} {name}\n" in page


FIELDS = sorted((ROOT / "docs/fields").glob("*.md"))


@pytest.mark.parametrize(
    "page", [page for page in FIELDS if page.stem != "index"], ids=lambda page: page.stem
)
def test_a_page_of_a_field_shows_what_its_scripts_print(page):
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"^```\{example-output\} (\w+)\n", text, flags=re.MULTILINE)
    linked = re.findall(r"\{doc\}`\.\./gallery/(\w+)`", text)
    assert shown
    assert set(shown) <= set(linked)
    assert [name for name in linked if not (ROOT / f"examples/{name}.py").exists()] == []
    assert page.stem in (ROOT / "docs/fields/index.md").read_text(encoding="utf-8").split()


GALLERY_PAGE = """.. rst-class:: sphx-glr-script-out

 .. code-block:: none

    first line

      second line, indented
    picture: /tmp/picture.png

.. _end:
"""


def test_output_of_an_example_is_read_from_its_gallery_page():
    printed = runpy.run_path(str(ROOT / "docs/_ext/example_output.py"))["printed"]
    assert printed(GALLERY_PAGE) == "first line\n\n  second line, indented"
    assert printed("a page whose script was not run\n") == ""


@pytest.mark.parametrize(
    "picture", sorted((ROOT / "docs/results").glob("*/*.png")), ids=lambda path: path.stem
)
def test_pictures_of_experiments_have_a_caption(picture):
    said = caption(picture.parent.name, picture.stem)
    page = (picture.parent / "table.md").read_text(encoding="utf-8")
    assert said
    assert f"({picture.name})\n\n*{said}*\n" in page


def test_the_gallery_leads_with_examples_that_exist():
    text = (ROOT / "docs/_ext/gallery.py").read_text(encoding="utf-8")
    names = re.findall(r'"(\w+)"', re.findall(r"LEADING = \((.*?)\)", text, flags=re.DOTALL)[0])
    assert len(names) > 5
    assert [name for name in names if not (ROOT / f"examples/{name}.py").exists()] == []
