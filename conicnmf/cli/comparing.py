"""`compare`: several solvers on what the options state."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conicnmf import report
from conicnmf.cli import options as o
from conicnmf.cli._app import (
    FAILED,
    INTERRUPTED,
    app,
    complain,
    print_json,
    screen,
    show,
    wants_progress,
)
from conicnmf.cli.data import Reading, Source, read_data
from conicnmf.cli.files import file_names, output_folder, tell_files
from conicnmf.cli.groups import grouped
from conicnmf.cli.statement import Statement
from conicnmf.report.tables import significance_table, skipped_table, summary_tables
from conicnmf.study.certificate import Certificate
from conicnmf.study.compare import Comparison, compare


@app.command(
    "compare",
    epilog="Example: conicnmf compare digits --rank 10 --sparse-w 0.7 --solvers HALS,TangentPlane",
)
@grouped
def compare_command(
    data: o.Data,
    statement: Statement,
    *,
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Names separated by commas; by default all fast solvers.",
            autocompletion=o.complete_solver,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Starts, which all solvers share.")] = 3,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    max_iter: o.MaxIterations = None,
    time_limit: o.Limit = None,
    budget: Annotated[float | None, typer.Option(help="Seconds for all runs together.")] = None,
    store: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Keep finished runs; the same command resumes later."),
    ] = None,
    certificate: o.Certify = True,
    how: Reading,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare solvers on DATA from the same starts; write tables, the best result and a report.

    Exit codes: 0 a run succeeded, 1 no run succeeded, 2 invalid input,
    130 interrupted (finished runs are kept).
    """
    source = read_data(data, how)
    source.tell()
    problem = statement.problem(source)
    named = [] if solvers is None else list(dict.fromkeys(solvers.split(",")))
    chosen = [o.find_solver(name.strip()) for name in named] or o.usual_solvers(problem)
    folder = None if output is None else output_folder(output)
    comparison = compare(
        {source.name: problem},
        chosen,
        range(seeds),
        stop=o.stop_rule(max_iter),
        time_limit=time_limit,
        budget=budget,
        store=store,
        n_jobs=jobs,
        progress=wants_progress(quiet),
    )
    for remark in comparison.remarks:
        complain(remark, "yellow")
    files = [] if folder is None else _save(comparison, source, certificate, folder)
    if json:
        runs = comparison.table.to_dict("records")
        pairs = comparison.significance().to_dict("records")
        print_json({"runs": runs, "significance": pairs, "files": file_names(files)})
    else:
        show_comparison(comparison, title=f"{source.name}, rank {statement.rank}")
        tell_files(files)
    _leave(comparison)


def show_comparison(comparison: Comparison, title: str | None = None) -> None:
    """Print what was reached, whether it may be luck, and what was skipped with the reason."""
    tables = summary_tables(comparison)
    for label, table in tables.items():
        show(table.without("mean objective", "iterations"), label if len(tables) > 1 else title)
        screen().print()
    pairs = significance_table(comparison)
    if pairs.strong:
        show(pairs, title="Objectives of the same problem and start (signed-rank test)")
        screen().print()
    skipped = skipped_table(comparison)
    if skipped.rows:
        show(skipped, title="Pairs that do not fit")


def certificates_of(comparison: Comparison) -> dict[str, Certificate] | None:
    """Return a certificate of the best run of each problem, or None where no run succeeded."""
    fine = {p for (p, _, _), run in comparison.results.items() if run.status.kind != "failed"}
    bests = {
        p: comparison.best(problem=p) for p in comparison.table["problem"].unique() if p in fine
    }
    return {
        f"{problem}: {best.solver}, seed {best.seed}": best.certificate()
        for problem, best in bests.items()
    } or None


def _succeeded(comparison: Comparison) -> bool:
    return any(result.status.kind != "failed" for result in comparison.results.values())


def _leave(comparison: Comparison) -> None:
    """End the program with the code that fits."""
    if comparison.table["reason"].eq("interrupted from the keyboard").any():
        raise typer.Exit(INTERRUPTED)
    if not _succeeded(comparison):
        complain("no run succeeded; the table gives the reasons")
        raise typer.Exit(FAILED)


def _save(comparison: Comparison, source: Source, certify: bool, folder: Path) -> list[Path]:
    files = [folder / name for name in ("runs.csv", "summary.md", "summary.tex")]
    comparison.table.to_csv(files[0], index=False)
    files[1].write_text(report.to_markdown(comparison) + "\n", encoding="utf-8")
    files[2].write_text(report.to_latex(comparison) + "\n", encoding="utf-8")
    if _succeeded(comparison):
        stem = comparison.best().save(folder / "best")
        files += [stem.with_suffix(".npz"), stem.with_suffix(".json")]
    page = report.html_report(
        comparison,
        folder / "report.html",
        title=f"Solvers compared on {source.name}",
        image_shape=source.image_shape,
        certificate=certificates_of(comparison) if certify else None,
    )
    return [*files, page]
