"""The page of the documentation, written from stored rows: every figure on it is one of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import GROUPS, NAMES
from benchmarks.harness import Row
from benchmarks.limits import LIMITS
from benchmarks.pictures import PICTURES, draw
from benchmarks.store import Measured, Results
from benchmarks.table import HEADS, cells, number

_INTRO = """# Benchmarks

How fast is conicnmf compared with other programs, how good are its answers, and where does it miss
its targets? Each section below is one task. Both programs run in turns on the same machine, from
the same start and with one thread each. A figure is the median of the repeats; what takes more than
15 seconds is run once. First calls compile code; they are not counted, and are measured separately
in the sections on the first answer and on compiling.

*ours*, *theirs*
: time, memory or objective of conicnmf and of the program it is compared with.

*ratio*
: how many times faster or better conicnmf is, if the target is a lower limit (≥). If the target is
  an upper limit (≤), how many times more it needs than the least possible, or another figure that
  the section names.

*spread*
: the range of the ratios of all repeats, divided by their median.

Rows without a target are for information. If the other program does not reach the goal in its time,
it is stopped, and the true ratio is larger. The *cone path* is a plain alternation of CVXPY
programs, one for each factor. *r* is the rank, and *s_w* a lower bound on the sparseness of the
columns of W. {doc}`comparison` shows which package can solve which model at all.

*Where the time goes* was profiled with one thread on a slower machine, where matrix products reach
43 GF/s and products with sparse data 2.1 GF/s. Shares carry over better than times.
"""

_REPEAT = """## Run it yourself

The benchmarks are in a clone of the repository, not in the wheel. Each section starts with the name
to use:

```bash
python -m benchmarks --cpu             # everything: takes hours, and writes docs/benchmarks.json
python -m benchmarks --cpu --resume    # continue after an interruption
python -m benchmarks kl masks --quick  # two of them, in minutes; nothing is stored
python -m benchmarks --page            # write this page again from the stored rows
```

Set `CONICNMF_DATA` to the folder with the data sets (`conicnmf datasets` lists them). Rows whose data
or rival is missing say so. `--cpu` measures processor time, which is less disturbed by other programs.
"""


def write_page(results: Results, path: Path) -> None:
    """Write the page and its pictures."""
    drawn = draw(results.rows, path.parent / "_static" / "benchmarks")
    path.write_text("\n".join(_lines(results, drawn)), encoding="utf-8")


def _lines(results: Results, drawn: Mapping[str, str]) -> Iterator[str]:
    yield _INTRO
    yield from _conditions(results)
    yield from _summary(results)
    yield from _picture("speed", drawn)
    several = len(_runs(results)) > 1
    for group, ids in GROUPS.items():
        parts = {name: results.measured[name] for name in ids if name in results.measured}
        if parts:
            yield f"## {group}\n"
        for name, part in parts.items():
            yield from _section(name, part, named=several)
            yield from _picture(name, drawn)
    yield _REPEAT


def _conditions(results: Results) -> Iterator[str]:
    how = results.conditions
    short = "one repeat and shorter budgets, " if how.quick else ""
    yield f"Measured in {how.clock}, {short}on {how.machine}, {how.packages}.\n"
    runs = _runs(results)
    if len(runs) == 1:
        yield f"All rows are from the run of {runs[0]}.\n"
    else:
        yield (
            f"The rows are from {len(runs)} runs, the first of {runs[0]} and the last of {runs[-1]}; "
            "each section names its run.\n"
        )


def _runs(results: Results) -> list[str]:
    return sorted({part.run for part in results.measured.values()})


def _summary(results: Results) -> Iterator[str]:
    judged = [row for row in results.rows if row.ok is not None]
    missed = [row for row in judged if not row.ok]
    yield f"**{len(judged) - len(missed)} of {len(judged)} targets are met.**\n"
    yield "| benchmark | met | ratios with a target | target |"
    yield "|---|---|---|---|"
    for name, part in results.measured.items():
        yield f"| [{NAMES[name]}](#benchmark-{name}) | {_overview(part.rows)} |"
    yield ""
    left = [title for name, title in NAMES.items() if name not in results.measured]
    if left:
        yield f"Not measured: {', '.join(left)}.\n"
    if missed:
        yield "Missed, and where the time goes:\n"
        for name in dict.fromkeys(row.id for row in missed):
            cases = "; ".join(_missed(row) for row in missed if row.id == name)
            yield f"- [{NAMES[name]}](#benchmark-{name}): {cases}. {LIMITS[name]}"
        yield ""


def _overview(rows: Sequence[Row]) -> str:
    """Return how many targets are met, the range of their ratios, and the targets."""
    judged = [row for row in rows if row.ok is not None]
    if not judged:
        return "for information | | "
    met = f"{sum(bool(row.ok) for row in judged)} of {len(judged)}"
    ratios = sorted(row.ratio for row in judged if row.ratio > 0)
    ends = list(dict.fromkeys(map(number, (ratios[0], ratios[-1])))) if ratios else []
    targets = ", ".join(dict.fromkeys(row.target for row in judged if row.target))
    return f"{met} | {' – '.join(ends)} | {targets}".replace("≥ ", "≥\u00a0").replace(
        "≤ ", "≤\u00a0"
    )


def _missed(row: Row) -> str:
    ratio = number(row.ratio) if row.ratio > 0 else row.ours
    return (
        f"{row.case} ({ratio}, target {row.target})"
        if ratio
        else f"{row.case} ({row.note.rstrip('; ')})"
    )


def _section(name: str, part: Measured, named: bool) -> Iterator[str]:
    yield f"(benchmark-{name})=\n\n### {NAMES[name]}\n"
    measured = f" Run of {part.run}." if named else ""
    yield f"`{name}`. {part.title}{measured}\n"
    yield f"| {' | '.join(HEADS[1:])} |"
    yield f"|{'---|' * (len(HEADS) - 1)}"
    yield from (f"| {' | '.join(_page_cells(row))} |" for row in part.rows)
    yield ""
    yield f"*Where the time goes.* {LIMITS.get(name, 'Not profiled.')}\n"


def _page_cells(row: Row) -> Iterator[str]:
    """Yield the cells of a row; times and targets stay on one line."""
    for head, cell in list(zip(HEADS, cells(row), strict=True))[1:]:
        whole = cell.replace(" ", "\u00a0") if head in ("ours", "theirs", "target") else cell
        yield whole.replace("|", "\\|").replace("\n", " ")


def _picture(name: str, drawn: Mapping[str, str]) -> Iterator[str]:
    if name in drawn:
        caption = PICTURES[name].caption
        yield f"```{{figure}} _static/benchmarks/{drawn[name]}\n:alt: {caption}\n\n{caption}\n```\n"
