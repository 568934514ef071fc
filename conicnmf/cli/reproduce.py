"""`reproduce`: run published experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from conicnmf.cli import options as o
from conicnmf.cli._app import app, screen, show, wants_progress
from conicnmf.errors import InputError
from conicnmf.report.tables import Table
from conicnmf.reproduce import EXPERIMENTS, Outcome, reproduce, write
from conicnmf.reproduce.registry import find
from conicnmf.reproduce.write import as_table

_COLORS = {"agrees": "green", "better": "green", "differs": "yellow"}


@app.command(
    "reproduce", epilog="Example: conicnmf reproduce heiler-paatero heiler-global --output runs"
)
def reproduce_command(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID…", help="Experiments, see --list.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As published (minutes), or small (seconds).")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes; times are fair with one only.")] = 1,
    output: o.Output = None,
    quiet: o.Quiet = False,
) -> None:
    """Run published experiments again: the published figures beside the measured ones."""
    if listed:
        rows = [[e.id, e.title, e.published] for e in EXPERIMENTS.values()]
        show(Table(["id", "what", "published"], rows))
        return
    if everything == bool(ids):
        raise InputError("name experiments or give --all, not both; --list shows what there is")
    # A mistyped id should end the program before the first experiment runs, not after hours.
    for experiment in [find(name) for name in ids or EXPERIMENTS]:
        outcome = reproduce(
            experiment.id, quick=not full, n_jobs=jobs, progress=wants_progress(quiet)
        )
        _show(outcome)
        if output is not None:
            files = write(outcome, Path(output) / experiment.id)
            names = ", ".join(map(str, files))
            screen().print(f"Written: {names}", soft_wrap=True, markup=False)


def _show(outcome: Outcome) -> None:
    about = outcome.experiment
    assert about is not None
    screen().print(Text(f"{about.id}: {about.title}", style="bold"))
    screen().print(f"Published: {about.published}", markup=False)
    show(as_table(outcome.table))
    for note in outcome.notes:
        screen().print(f"· {note}", markup=False)
    verdict = Text(outcome.verdict, style=_COLORS[outcome.verdict])
    screen().print(verdict.append(f": {outcome.reason} ({outcome.seconds:.0f} s)", style="default"))
    screen().print()
