"""`fit` and `compare`: solve what the options state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from conicnmf.cli import options as o
from conicnmf.cli._app import (
    FAILED,
    app,
    complain,
    print_json,
    screen,
    show,
    wants_progress,
)
from conicnmf.cli.data import Source, read_data
from conicnmf.compare import Comparison, compare
from conicnmf.engine import solve
from conicnmf.errors import InputError
from conicnmf.report import html_report, to_markdown
from conicnmf.report.tables import result_table, skipped_table, summary_tables
from conicnmf.result import Result

_COLORS = {"converged": "green", "stopped": "yellow", "failed": "red"}


@app.command(epilog="Example: conicnmf fit swimmer --rank 16 --sparse-w 0.8 --output swimmer-parts")
def fit(
    data: o.Data,
    rank: o.Rank,
    sparse_w: o.SparseW = None,
    sparse_w_max: o.SparseWMax = None,
    sparse_h: o.SparseH = None,
    l1_h: o.L1H = None,
    solver: Annotated[
        str | None,
        typer.Option(help="See `conicnmf solvers`; A+B runs B after A. By default one that fits."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    max_iter: o.MaxIterations = None,
    time_limit: o.Limit = None,
    image_shape: o.ImageShape = None,
    samples_are_rows: o.SamplesAreRows = False,
    samples: o.Samples = None,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Factorize DATA once; write factors and a report.

    Ends with 0 when it went well, 1 when the solve failed, 2 when the input is at fault.
    """
    source = _source(data, samples_are_rows, samples, image_shape)
    problem = o.state_problem(source.V, rank, sparse_w, sparse_w_max, sparse_h, l1_h)
    result = solve(
        problem,
        None if solver is None else o.find_solver(solver),
        stop=o.stop_rule(max_iter),
        seed=seed,
        time_limit=time_limit,
        progress=wants_progress(quiet),
        throw=False,
    )
    files = [] if output is None else _save_result(result, source, Path(output))
    if json:
        print_json(_result_json(result, files))
    else:
        show(result_table(result), title=source.name)
        screen().print(Text(result.status.value, style=_COLORS[result.status.kind]))
        _tell_files(files)
    if result.status.kind == "failed":
        raise typer.Exit(FAILED)


@app.command(
    "compare",
    epilog="Example: conicnmf compare digits --rank 10 --sparse-w 0.7 --solvers HALS,TangentPlane",
)
def compare_command(
    data: o.Data,
    rank: o.Rank,
    sparse_w: o.SparseW = None,
    sparse_w_max: o.SparseWMax = None,
    sparse_h: o.SparseH = None,
    l1_h: o.L1H = None,
    solvers: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Names with commas; by default all that are quick."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Starts, which all solvers share.")] = 3,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    max_iter: o.MaxIterations = None,
    time_limit: o.Limit = None,
    image_shape: o.ImageShape = None,
    samples_are_rows: o.SamplesAreRows = False,
    samples: o.Samples = None,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare solvers on DATA from the same starts; write tables, the best result and a report.

    Ends with 1 when no run succeeds, with 2 when the input is at fault.
    """
    source = _source(data, samples_are_rows, samples, image_shape)
    problem = o.state_problem(source.V, rank, sparse_w, sparse_w_max, sparse_h, l1_h)
    listed = [kind.__name__ for kind in o.USUAL] if solvers is None else solvers.split(",")
    comparison = compare(
        {source.name: problem},
        [o.find_solver(name.strip()) for name in dict.fromkeys(listed)],
        range(seeds),
        n_jobs=jobs,
        progress=wants_progress(quiet),
        stop=o.stop_rule(max_iter),
        time_limit=time_limit,
    )
    files = [] if output is None else _save_comparison(comparison, source, Path(output))
    if json:
        print_json({"runs": comparison.table.to_dict("records"), "files": _names(files)})
    else:
        show_comparison(comparison, title=f"{source.name}, rank {rank}")
        _tell_files(files)
    if not _succeeded(comparison):
        complain("no run succeeded; the table says why")
        raise typer.Exit(FAILED)


def show_comparison(comparison: Comparison, title: str | None = None) -> None:
    """Print what was reached, and what was skipped with the reason."""
    tables = summary_tables(comparison)
    for label, table in tables.items():
        show(table.without("mean objective", "iterations"), label if len(tables) > 1 else title)
        screen().print()
    skipped = skipped_table(comparison)
    if skipped.rows:
        show(skipped, title="Pairs that do not fit")


def _source(data: str, rows: bool, samples: int | None, image_shape: str | None) -> Source:
    return read_data(data, samples_are_rows=rows, n_samples=samples, image_shape=image_shape)


def _succeeded(comparison: Comparison) -> bool:
    return any(result.status.kind != "failed" for result in comparison.results.values())


def _folder(folder: Path) -> Path:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output must be a folder, got the file {folder}; name another")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _save_result(result: Result, source: Source, folder: Path) -> list[Path]:
    stem = result.save(_folder(folder) / "result")
    title = f"{source.name}, rank {result.W.shape[1]}"
    page = html_report(result, folder / "report.html", title=title, image_shape=source.image_shape)
    return [stem.with_suffix(".npz"), stem.with_suffix(".json"), page]


def _save_comparison(comparison: Comparison, source: Source, folder: Path) -> list[Path]:
    files = [_folder(folder) / "runs.csv", folder / "summary.md"]
    comparison.table.to_csv(files[0], index=False)
    files[1].write_text(to_markdown(comparison) + "\n", encoding="utf-8")
    if _succeeded(comparison):
        stem = comparison.best().save(folder / "best")
        files += [stem.with_suffix(".npz"), stem.with_suffix(".json")]
    title = f"Solvers compared on {source.name}"
    shape = source.image_shape
    return [*files, html_report(comparison, folder / "report.html", title=title, image_shape=shape)]


def _result_json(result: Result, files: list[Path]) -> dict[str, Any]:
    return {
        "solver": result.solver,
        "status": result.status.name,
        "kind": result.status.kind,
        "advice": result.status.value,
        "objective": result.objective,
        "relative_error": result.relative_error,
        "violation": result.violation,
        "iterations": result.n_iter,
        "seconds": result.seconds,
        "seed": result.seed,
        "factors": {name: list(X.shape) for name, X in result.factors.items()},
        "files": _names(files),
    }


def _names(files: list[Path]) -> list[str]:
    return [str(file) for file in files]


def _tell_files(files: list[Path]) -> None:
    if files:
        screen().print("Written: " + ", ".join(_names(files)), soft_wrap=True, markup=False)
    else:
        screen().print("Nothing was written; add --output FOLDER to keep factors and a report.")
