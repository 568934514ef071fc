"""Run benchmarks, print one table, and exit with 1 when a target is missed."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from importlib import import_module

from benchmarks import IDS
from benchmarks.harness import Row, Setup, clock, pinned
from benchmarks.table import PAGE, cells, show, write


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="id", help=f"which ones: {', '.join(IDS)}")
    parser.add_argument(
        "--quick", action="store_true", help="fewer cases, one repeat, shorter budgets"
    )
    parser.add_argument("--cpu", action="store_true", help="processor time, for a busy machine")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} for any choice")
    wanted = parser.parse_args()
    ids = wanted.ids or list(IDS)
    unknown = sorted(set(ids) - set(IDS))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(IDS)}")
    # All are imported before threads are pinned, which reaches loaded libraries only.
    modules = {name: import_module(f"benchmarks.{name}") for name in ids}
    setup = Setup(wanted.quick, time.process_time if wanted.cpu else time.perf_counter)
    rows: list[Row] = []
    with pinned():
        for name, module in modules.items():
            begin = time.perf_counter()
            for row in module.run(setup):
                rows.append(replace(row, id=name))
                print(" | ".join(cells(rows[-1])), file=sys.stderr, flush=True)
            print(f"{name}: {clock(time.perf_counter() - begin)}", file=sys.stderr)
    show(rows)
    if wanted.write or (set(ids) == set(IDS) and not wanted.quick):
        titles = {name: (module.__doc__ or "").splitlines()[0] for name, module in modules.items()}
        how = "processor time" if wanted.cpu else "wall time"
        write(rows, titles, how + (", one repeat, shorter budgets" if wanted.quick else ""))
    return int(any(row.ok is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
