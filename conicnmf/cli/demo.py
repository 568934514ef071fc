"""`demo`: a first look, on the digits that come with scikit-learn."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from conicnmf import report
from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json, screen, wants_progress
from conicnmf.cli.comparing import certificates_of, show_comparison
from conicnmf.cli.files import require_pictures
from conicnmf.datasets import Dataset, load
from conicnmf.model.constraints import NonNegative, Sparseness
from conicnmf.model.factorize import factorize
from conicnmf.model.problem import Problem
from conicnmf.study.compare import Comparison, compare

RANK = 10
SPARSENESS = 0.75


@app.command(epilog="Example: conicnmf demo --output digits.html")
def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The report to write.")
    ] = "report.html",
    seeds: Annotated[int, typer.Option(min=1, help="Starts, which all solvers share.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="Few digits, few iterations.")] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare all solvers on handwritten digits, plain and sparse, and write an HTML report."""
    require_pictures()
    digits = load("digits", n_samples=60 if quick else 500)
    progress = wants_progress(quiet)
    if progress and not json:
        screen().print("Compiling the numerical kernels, once after each installation …")
    _compare(load("digits", n_samples=20), [0], stop=2)
    options: dict[str, Any] = {"stop": 20} if quick else {"time_limit": 10.0}
    comparison = _compare(digits, range(seeds), progress=progress, **options)
    page = report.html_report(
        comparison,
        output,
        title="Handwritten digits, plain and sparse",
        image_shape=digits.image_shape,
        certificate=certificates_of(comparison),
    ).resolve()
    if json:
        print_json({"runs": comparison.table.to_dict("records"), "files": [str(page)]})
        return
    show_comparison(comparison, title=f"{digits.V.shape[1]} digits of 8×8 pixels, rank {RANK}")
    screen().print(f"Report: {page}", soft_wrap=True, markup=False)


def _problems(digits: Dataset) -> dict[str, Problem]:
    sparse = [NonNegative(), Sparseness(min=SPARSENESS)]
    return {
        "plain": factorize(digits.V, RANK),
        f"columns of W sparse ≥ {SPARSENESS}": factorize(digits.V, RANK, W=sparse),
    }


def _compare(digits: Dataset, seeds: Any, **options: Any) -> Comparison:
    """Compare in this process: times of runs side by side would disturb each other."""
    problems = _problems(digits)
    return compare(problems, o.usual_solvers(next(iter(problems.values()))), seeds, **options)
