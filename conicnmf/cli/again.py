"""`report` and `explain`: a page of a saved result, and which solvers fit what options state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conicnmf import report as pages
from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json
from conicnmf.cli.data import Reading, parse_shape, read_data, read_weights
from conicnmf.cli.files import file_names, require_pictures, tell_files
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
def explain(
    data: o.Data,
    rank: o.Rank,
    sparse_w: o.SparseW = None,
    sparse_w_max: o.SparseWMax = None,
    sparse_h: o.SparseH = None,
    l1_h: o.L1H = None,
    loss: o.LossName = None,
    term_w: o.TermsOfW = None,
    term_h: o.TermsOfH = None,
    weights: o.Weights = None,
    samples_are_rows: o.SamplesAreRows = False,
    missing: o.Missing = False,
    json: o.Json = False,
) -> None:
    """Say what the options state, which solver is picked and why others do not fit; solve nothing."""
    source = read_data(data, Reading(samples_are_rows, missing=missing))
    source.tell()
    problem = o.state_problem(
        source.V,
        rank,
        sparse_w,
        sparse_w_max,
        sparse_h,
        l1_h,
        source.known,
        loss,
        terms=(term_w, term_h),
        weights=read_weights(weights),
    )
    if not json:
        typer.echo(in_words(problem))
        return
    solver, why = choose(problem)
    fits = {one.name: list(one.mismatches(problem)) for one in known_solvers(problem)}
    print_json({"problem": repr(problem), "solver": solver.name, "why": why, "reasons": fits})
