"""`fit`: solve once what the options state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from conicnmf import report
from conicnmf.cli import options as o
from conicnmf.cli._app import (
    FAILED,
    INTERRUPTED,
    app,
    print_json,
    screen,
    show,
    wants_progress,
    working,
)
from conicnmf.cli.data import Reading, Source
from conicnmf.cli.files import file_names, output_folder, tell_files
from conicnmf.cli.groups import grouped
from conicnmf.cli.large import on_cluster, source_of
from conicnmf.cli.statement import Statement
from conicnmf.report.tables import result_table
from conicnmf.results import Result, Status
from conicnmf.solve.engine import solve
from conicnmf.study.certificate import Certificate, certify

_COLORS = {"converged": "green", "stopped": "yellow", "failed": "red"}


@app.command(epilog="Example: conicnmf fit swimmer --rank 16 --sparse-w 0.8 --output swimmer-parts")
@grouped
def fit(
    data: o.Data,
    statement: Statement,
    *,
    solver: Annotated[
        str | None,
        typer.Option(
            help="See `conicnmf solvers`; A+B runs B after A. By default one that fits.",
            autocompletion=o.complete_solver,
        ),
    ] = None,
    effort: o.Effort = "low",
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    max_iter: o.MaxIterations = None,
    time_limit: o.Limit = None,
    certificate: o.Certify = True,
    how: Reading,
    memory_limit: o.MemoryLimit = None,
    cluster: o.Cluster = None,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Factorize DATA once; write factors and a report.

    Exit codes: 0 success, 1 the solve failed, 2 invalid input,
    130 interrupted (the best iterate is kept).
    """
    source = source_of(data, how, memory_limit, cluster)
    with on_cluster(cluster):
        problem = statement.problem(source, memory_limit if cluster is None else None)
        folder = None if output is None else output_folder(output)
        known: Any = effort  # or an error of `solve`
        result = solve(
            problem,
            None if solver is None else o.find_solver(solver),
            stop=o.stop_rule(max_iter),
            seed=seed,
            time_limit=time_limit,
            progress=wants_progress(quiet),
            throw=False,
            effort=known,
        )
        checked = None
        if certificate and _is_usable(result):
            with working(
                "checking the result independently of the solver …", wants_progress(quiet)
            ):
                checked = certify(problem, result)
        files = [] if folder is None else _save(result, source, checked, folder)
        if json:
            print_json(_as_json(result, checked, files))
        else:
            _tell(result, checked, source.name)
            tell_files(files)
        if not _is_usable(result):
            raise typer.Exit(INTERRUPTED if result.status is Status.INTERRUPTED else FAILED)


def _is_usable(result: Result) -> bool:
    return result.status.kind != "failed" and result.status is not Status.INTERRUPTED


def _tell(result: Result, certificate: Certificate | None, name: str) -> None:
    show(result_table(result), title=name)
    for sentence in (result.status.value, *result.remarks):
        screen().print(Text(sentence, style=_COLORS[result.status.kind]))
    if certificate is not None:
        missed = [check.name for check in certificate.checks if not check.ok]
        verdict = f"Not certified; beyond the tolerance: {', '.join(missed)}."
        text = "Certified independently of the solver." if certificate.ok else verdict
        screen().print(Text(text, style="green" if certificate.ok else "yellow"))
    for component, names in _top(result, 5).items():
        listed = ", ".join(name for name, _ in names)
        screen().print(Text(f"{component}: {listed}"), soft_wrap=True)


def _save(
    result: Result, source: Source, certificate: Certificate | None, folder: Path
) -> list[Path]:
    stem = result.save(folder / "result")
    files = [stem.with_suffix(".npz"), stem.with_suffix(".json")]
    if source.is_text:  # who brings a sheet wants one back
        files += _save_sheets(result, folder)
    page = report.html_report(
        result,
        folder / "report.html",
        title=f"{source.name}, rank {result.W.shape[1]}",
        image_shape=source.image_shape,
        certificate=certificate,
    )
    return [*files, page]


def _save_sheets(result: Result, folder: Path) -> list[Path]:
    """Write the factors as text, with the names that the data came with."""
    sheets = {"W.csv": result.W_frame, "H.csv": result.H_frame}
    for name, frame in sheets.items():
        frame.to_csv(folder / name)
    return [folder / name for name in sheets]


def _top(result: Result, count: int = 10) -> dict[str, list[tuple[str, float]]]:
    """Return the largest features of each component, where they have names."""
    return result.top(count).entries if "W" in result.names.rows else {}


def _as_json(result: Result, certificate: Certificate | None, files: list[Path]) -> dict[str, Any]:
    checks = [] if certificate is None else certificate.checks
    return {
        "solver": result.solver,
        "status": result.status.name,
        "kind": result.status.kind,
        "advice": result.status.value,
        "remarks": list(result.remarks),
        "objective": result.objective,
        "relative_error": result.relative_error,
        "violation": result.violation,
        "iterations": result.n_iter,
        "seconds": result.seconds,
        "seed": result.seed,
        "factors": {name: list(X.shape) for name, X in result.factors.items()},
        "certified": None if certificate is None else certificate.ok,
        "certificate": [vars(check) | {"ok": check.ok} for check in checks],
        "top": {name: [entry for entry, _ in own] for name, own in _top(result).items()},
        "files": file_names(files),
    }
