"""`reproduce`: run published experiments again."""

from __future__ import annotations

import sys
from importlib import import_module
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import conicnmf
from conicnmf.cli import options as o
from conicnmf.cli._app import FAILED, app, complain, print_json, screen, show, wants_progress
from conicnmf.cli.files import file_names, output_folder, require_pictures, tell_files
from conicnmf.errors import ConicNMFError, InputError
from conicnmf.report.tables import Table

if TYPE_CHECKING:
    from experiments import Experiment, Outcome

_COLORS = {"agrees": "green", "better": "green", "partly": "yellow", "differs": "yellow"}


def experiments() -> Any:
    """Return the package of experiments, which is no part of the wheel, from the clone."""
    for root in (Path(conicnmf.__file__).parents[1], Path.cwd()):
        if (root / "experiments" / "registry.py").is_file():
            require_pictures()
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return import_module("experiments")
    raise InputError(
        "published experiments run from a clone of the project, and this folder is not one; change to "
        "the clone, then call `conicnmf reproduce` again"
    )


def _ids() -> list[str]:
    try:
        return list(experiments().EXPERIMENTS)
    except ConicNMFError:
        return []


@app.command(
    "reproduce", epilog="Example: conicnmf reproduce heiler-paatero heiler-global --output runs"
)
def reproduce_command(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID…",
            help="Experiments, see --list.",
            autocompletion=lambda incomplete: o.beginning(incomplete, _ids()),
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="As published (minutes), or small (seconds).")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes; times are fair with one only.")] = 1,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Repeat published experiments and compare published with measured figures.

    Exit codes: 0 all were run, whatever the verdict, 1 one of several could
    not be run, 2 invalid input.
    """
    own = experiments()
    if listed:
        _list(own.EXPERIMENTS, json)
        return
    if everything == bool(ids):
        raise InputError("name experiments or give --all, not both; --list shows the experiments")
    # A mistyped id should end the program before the first experiment runs, not after hours.
    chosen = [own.find(name) for name in ids or own.EXPERIMENTS]
    folder = None if output is None else output_folder(output)
    told: list[dict[str, Any]] = []
    for experiment in chosen:
        try:
            outcome = own.reproduce(
                experiment.id, quick=not full, n_jobs=jobs, progress=wants_progress(quiet)
            )
        except (ConicNMFError, OSError) as error:  # data may not be on this machine
            if len(chosen) == 1:
                raise
            complain(f"{experiment.id} was not run: {error}")
            told.append({"id": experiment.id, "verdict": "not run", "reason": str(error)})
            continue
        files = [] if folder is None else own.write(outcome, folder / experiment.id)
        told.append(_as_json(experiment, outcome, files))
        if not json:
            _show(outcome, files)
    if json:
        print_json(told)
    elif len(told) > 1:
        rows = [[line[name] for name in ("id", "verdict", "reason")] for line in told]
        show(Table(["id", "verdict", "reason"], rows))
    if any(line["verdict"] == "not run" for line in told):
        raise typer.Exit(FAILED)


def _list(known: dict[str, Experiment], json: bool) -> None:
    if json:
        names = ("id", "paper", "title", "published", "data")
        print_json([{n: getattr(e, n) for n in names} for e in known.values()])
    else:
        rows = [[e.id, e.title, e.published] for e in known.values()]
        show(Table(["id", "what", "published"], rows))


def _as_json(experiment: Experiment, outcome: Outcome, files: list[Path]) -> dict[str, Any]:
    return {
        "id": experiment.id,
        "verdict": outcome.verdict,
        "reason": outcome.reason,
        "published": experiment.published,
        "notes": list(outcome.notes),
        "seconds": outcome.seconds,
        "table": loads(outcome.table.to_json(orient="records")),
        "files": file_names(files),
    }


def _show(outcome: Outcome, files: list[Path]) -> None:
    about = outcome.experiment
    assert about is not None
    screen().print(Text(f"{about.id}: {about.title}", style="bold"))
    screen().print(f"Published: {about.published}", markup=False)
    show(experiments().as_table(outcome.table))
    for note in outcome.notes:
        screen().print(f"· {note}", markup=False)
    verdict = Text(outcome.verdict, style=_COLORS[outcome.verdict])
    screen().print(verdict.append(f": {outcome.reason} ({outcome.seconds:.0f} s)", style="default"))
    if files:
        tell_files(files)
    screen().print()
