"""Run benchmarks, print one table, and exit with 1 when a target is missed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType

from benchmarks import IDS
from benchmarks.harness import Row, Setup, clock, pinned
from benchmarks.page import write_page
from benchmarks.store import RESULTS, Conditions, Measured, Results, load, save
from benchmarks.table import cells, show
from conicnmf import warm_up


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = _parser()
    wanted = parser.parse_args(arguments)
    ids = wanted.ids or list(IDS)
    unknown = sorted(set(ids) - set(IDS))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(IDS)}")
    try:
        results = _stored(wanted)
    except ValueError as error:
        parser.error(str(error))
    if not wanted.page:
        results = _run(results, ids, wanted)
        show(results.rows)
    if wanted.page or _stores(wanted, ids):
        write_page(results, wanted.results.with_suffix(".md"))
    return int(any(row.ok is False for row in results.rows if row.id in ids))


def _stored(wanted: argparse.Namespace) -> Results:
    """Return the stored rows that are to be kept, under the conditions of this run."""
    stored = load(wanted.results) if wanted.page or wanted.write or wanted.resume else None
    if wanted.page:
        if stored is None:
            raise ValueError(f"{wanted.results} does not exist; run python -m benchmarks first")
        return stored
    now = Conditions.of_this_run("processor time" if wanted.cpu else "wall time", wanted.quick)
    if stored is not None and stored.conditions != now:
        raise ValueError(
            f"{wanted.results} was measured under other conditions,\n  {stored.conditions}\nnot under"
            f"\n  {now}\nleave out --write and --resume to start again, or name another --results"
        )
    return stored or Results(now)


def _stores(wanted: argparse.Namespace, ids: Sequence[str]) -> bool:
    whole = set(ids) == set(IDS) and not wanted.quick
    return whole or wanted.write or wanted.resume


def _run(results: Results, ids: Sequence[str], wanted: argparse.Namespace) -> Results:
    """Measure what is wanted, and store the rows after each benchmark."""
    going_on = wanted.resume and results.measured
    begun = results.latest if going_on else f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    left = [name for name in ids if not (wanted.resume and results.finished(name))]
    setup = Setup(wanted.quick, time.process_time if wanted.cpu else time.perf_counter)
    # All are imported before threads are pinned, which reaches loaded libraries only.
    modules = {name: import_module(f"benchmarks.{name}") for name in left}
    # In a new environment a solver that comes late in a chain would compile while it is timed.
    warm_up()
    with pinned():
        for name, module in modules.items():
            results = results.having(name, _measure(module, setup, begun), IDS)
            if _stores(wanted, ids):
                save(results, wanted.results)
    return results


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("ids", nargs="*", metavar="id", help=f"which ones: {', '.join(IDS)}")
    add("--quick", action="store_true", help="fewer cases, one repeat, shorter budgets")
    add("--cpu", action="store_true", help="processor time, for a busy machine")
    add("--write", action="store_true", help="store the rows of a choice, and write the page")
    add("--resume", action="store_true", help="go on with the stored run, leaving out what it has")
    add("--page", action="store_true", help="only write the page from the stored rows")
    add("--results", type=Path, default=RESULTS, help=f"the file with rows ({RESULTS.name})")
    return parser


def _measure(module: ModuleType, setup: Setup, begun: str) -> Measured:
    """Run one benchmark; an error becomes a row, so that the others still have their turn."""
    name, start = module.__name__.rpartition(".")[2], time.perf_counter()
    rows: list[Row] = []
    failed = False
    try:
        for row in module.run(setup):
            rows.append(replace(row, id=name))
            print(" | ".join(cells(rows[-1])), file=sys.stderr, flush=True)
    except Exception as error:  # an hour of other rows must not be lost
        failed = True
        said = str(error).splitlines()[0] if str(error) else ""
        rows.append(Row("ended with an error", ok=False, note=f"{type(error).__name__}: {said}"))
        print(f"{name}: {rows[-1].note}", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - start
    print(f"{name}: {clock(seconds)}", file=sys.stderr, flush=True)
    title = (module.__doc__ or "").splitlines()[0]
    return Measured(title, begun, seconds, tuple(rows), failed)


if __name__ == "__main__":
    sys.exit(main())
