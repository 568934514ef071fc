"""`demo`: a first look, on the digits that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json, screen, wants_progress
from conicnmf.cli.comparing import certificates_of, show_comparison
from conicnmf.cli.files import require_pictures
from conicnmf.datasets import Dataset, load
from conicnmf.model.constraints import NonNegative, Sparseness
from conicnmf.model.factorize import factorize
from conicnmf.model.problem import Problem
from conicnmf.solve.choice import choose
from conicnmf.solve.methods import HALS, ProjectedGradient
from conicnmf.study.compare import Comparison, compare

RANK = 10
SPARSENESS = 0.75
_SAME = {"Coded", "Splitting", "SparsityMaximization"}
"""They make the steps of another solver where the problem is plain."""
LEVELS = (0.7, 0.8, 0.9)
"""Above what parts have without being asked, about 0.6, so that each level changes the picture."""
FEW, STARTS = 4, 8
"""Chosen on seeds 100 to 103; the page shows seeds from 0."""
LINES = f"""import conicnmf as cn
V = cn.datasets.load("digits", n_samples=500).V
parts = [cn.NonNegative(), cn.Sparseness(min={LEVELS[1]})]
result = cn.factorize(V, rank={RANK}, W=parts).solve(seed=0)
print(result, result.certificate(), sep="\\n")"""


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
    """Take handwritten digits apart, compare solvers on them, and write an HTML page."""
    require_pictures()
    digits = load("digits", n_samples=60 if quick else 500)
    progress = wants_progress(quiet)
    if progress and not json:
        screen().print("Compiling the numerical kernels, once after each installation …")
    _compare(load("digits", n_samples=20), [0], stop=2)
    options: dict[str, Any] = {"stop": 20} if quick else {"time_limit": 10.0}
    comparison = _compare(digits, range(seeds), progress=progress, **options)
    page = _front_page(digits, comparison, Path(output), quick).resolve()
    if json:
        print_json({"runs": comparison.table.to_dict("records"), "files": [str(page)]})
        return
    show_comparison(comparison, title=f"{digits.V.shape[1]} digits of 8×8 pixels, rank {RANK}")
    screen().print(f"Report: {page}", soft_wrap=True, markup=False)


def _front_page(digits: Dataset, comparison: Comparison, path: Path, quick: bool) -> Path:
    """Solve what the page opens with, and write it."""
    from conicnmf.report.front_page import Level, front_page  # draws pictures

    stop: dict[str, Any] = {"stop": 20} if quick else {}
    plain = factorize(digits.V, RANK).solve(seed=0, throw=False, **stop)
    levels = []
    for bound in LEVELS:
        result = factorize(digits.V, RANK, W=_sparse(bound)).solve(seed=0, throw=False, **stop)
        levels.append(Level(bound, result, result.certificate()))
    few = factorize(digits.V, FEW, W=_sparse(SPARSENESS))
    race = compare(
        few, [choose(few)[0], HALS(), ProjectedGradient()], range(2 if quick else STARTS), **stop
    )
    return front_page(
        path,
        digits.V[:, :RANK],
        digits.image_shape or (8, 8),
        plain,
        levels,
        LINES,
        race,
        comparison,
        certificates_of(comparison),
    )


def _sparse(bound: float) -> list[Any]:
    return [NonNegative(), Sparseness(min=bound)]


def _problems(digits: Dataset) -> dict[str, Problem]:
    return {
        "plain": factorize(digits.V, RANK),
        f"columns of W sparse ≥ {SPARSENESS}": factorize(digits.V, RANK, W=_sparse(SPARSENESS)),
    }


def _compare(digits: Dataset, seeds: Any, **options: Any) -> Comparison:
    """Compare in this process: times of runs side by side would disturb each other."""
    problems = _problems(digits)
    solvers = [
        solver
        for solver in o.usual_solvers(next(iter(problems.values())))
        if solver.name not in _SAME and not all(map(solver.mismatches, problems.values()))
    ]
    return compare(problems, solvers, seeds, **options)
