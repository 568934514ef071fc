"""`report` and `explain`: a page of a saved result, and which solvers fit what options state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conicnmf import report as pages
from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json
from conicnmf.cli.data import Reading, parse_shape
from conicnmf.cli.files import file_names, require_pictures, tell_files
from conicnmf.cli.groups import grouped
from conicnmf.cli.large import source_of
from conicnmf.cli.statement import Statement
from conicnmf.results import load
from conicnmf.solve.choice import choose, known_solvers
from conicnmf.solve.choice import explain as in_words


@app.command(epilog="Example: conicnmf report parts/result.npz --output parts.html")
def report(
    result: Annotated[
        str, typer.Argument(metavar="RESULT", help="A result that was saved (.npz).")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = None,
    image_shape: o.ImageShape = None,
    json: o.Json = False,
) -> None:
    """Write the HTML report of a saved result, by default next to it."""
    require_pictures()
    found = load(result)
    place = Path(result).with_suffix(".html") if output is None else Path(output)
    shape = None if image_shape is None else parse_shape(image_shape)
    page = pages.html_report(found, place, title=Path(result).stem, image_shape=shape)
    if json:
        print_json({"files": file_names([page]), "status": found.status.name})
    else:
        tell_files([page])


@app.command(epilog="Example: conicnmf explain digits --rank 8 --term-w 'Sparseness(min=0.6)'")
@grouped
def explain(
    data: o.Data,
    statement: Statement,
    how: Reading,
    *,
    memory_limit: o.MemoryLimit = None,
    json: o.Json = False,
) -> None:
    """Show the model that the options state, which solver is picked, and why others do not fit."""
    problem = statement.problem(source_of(data, how, memory_limit), memory_limit)
    if not json:
        typer.echo(in_words(problem))
        return
    solver, why = choose(problem)
    fits = {one.name: list(one.mismatches(problem)) for one in known_solvers(problem)}
    print_json({"problem": repr(problem), "solver": solver.name, "why": why, "reasons": fits})
