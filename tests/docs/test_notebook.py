"""The notebook of the documentation is its script, run: same cells, same output."""

import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
STORED = json.loads((DOCS / "notebook.ipynb").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def anew():
    executed = runpy.run_path(str(DOCS / "_ext/notebook.py"))["executed"]
    return executed((DOCS / "notebook.py").read_text(encoding="utf-8"))


def text_of(cell):
    return "".join(output.get("text", "") for output in cell.get("outputs", []))


def forms_of(cell):
    """Return the kinds of what is shown; times are different each time."""
    return [sorted(output.get("data", ())) for output in cell.get("outputs", [])]


def test_cells_and_what_they_print_are_those_of_the_script(anew):
    remedy = "make it anew with `python docs/_ext/notebook.py`"
    for stored, run in zip(STORED["cells"], anew["cells"], strict=True):
        assert stored["source"] == run["source"], remedy
        assert text_of(stored) == text_of(run), remedy
        assert forms_of(stored) == forms_of(run), remedy


def test_the_notebook_has_output_and_a_picture():
    outputs = [o for cell in STORED["cells"] for o in cell.get("outputs", [])]
    assert sum(output["output_type"] == "stream" for output in outputs) >= 3
    shown = [form for output in outputs for form in output.get("data", {})]
    assert shown.count("image/png") >= 2
    assert shown.count("text/html") >= 5  # a problem, a result, a certificate, a comparison, a list


def test_the_notebook_has_the_fields_that_jupyter_asks_for():
    assert (STORED["nbformat"], STORED["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in STORED["cells"]}) == len(STORED["cells"])
    for cell in STORED["cells"]:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | code
