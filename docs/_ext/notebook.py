"""Run the cells of docs/notebook.py and write them with their output as docs/notebook.ipynb.

`python docs/_ext/notebook.py` makes it again. The format is Jupyter's, version 4.5: a JSON file.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "notebook.py"


def cells(source: str) -> list[tuple[str, str]]:
    """Return the kind and the text of each cell of a script in the percent format."""
    parts = re.split(r"^# %%(.*)\n", source, flags=re.MULTILINE)[1:]
    found = []
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        if "markdown" in mark:
            found.append(("markdown", re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)))
        else:
            found.append(("code", text.strip()))
    return found


def executed(source: str) -> dict[str, Any]:
    """Return the notebook: every code cell with what it printed and what its last line is."""
    names: dict[str, Any] = {"__name__": "notebook"}
    written, count = [], 0
    for number, (kind, text) in enumerate(cells(source)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = text
        if kind == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": _outputs(text, names)}
        written.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": written,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _outputs(text: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    printed = io.StringIO()
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, "a cell of the notebook", "exec"), names)
        shown = None if last is None else eval(ast.unparse(last), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if shown is not None:
        outputs.append({"output_type": "display_data", "data": _forms(shown), "metadata": {}})
    return outputs


def _forms(shown: Any) -> dict[str, str]:
    """Return what Jupyter asks of an object, in its own words."""
    forms = {"text/plain": repr(shown)}
    if hasattr(shown, "_repr_html_"):
        forms["text/html"] = shown._repr_html_()
    if hasattr(shown, "_repr_png_"):
        forms["image/png"] = base64.b64encode(shown._repr_png_()).decode()
    return forms


if __name__ == "__main__":
    notebook = executed(SOURCE.read_text(encoding="utf-8"))
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    SOURCE.with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")
