"""Outcomes as text and files."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from platform import python_version

import pandas as pd

from conicnmf.report.style import figure_bytes
from conicnmf.report.tables import Table, number
from experiments.captions import caption
from experiments.experiment import Outcome


def as_table(frame: pd.DataFrame) -> Table:
    """Return a frame as a table of short text.

    Examples
    --------
    >>> import pandas as pd
    >>> as_table(pd.DataFrame({"s": [0.1], "samples": 60000, "published": float("nan")})).rows
    [['0.1', '60000', '–']]
    """
    numeric = frozenset(name for name in frame if frame[name].dtype.kind in "fiu")
    columns = [
        [number(value) if frame[name].dtype.kind == "f" else str(value) for value in frame[name]]
        for name in frame
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return Table([str(name) for name in frame], rows, frozenset(map(str, numeric)))


def markdown(outcome: Outcome) -> str:
    """Return what an experiment claimed and what came out, as a page of Markdown.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown(Outcome(pd.DataFrame({"measured": [1.0]}), reason="it is not.")))
    **Verdict: differs.** It is not.
    <BLANKLINE>
    | measured |
    | ---: |
    | 1 |
    <BLANKLINE>
    - Run: 0 s, Python ..., conicnmf ..., numpy ..., numba ....
    <BLANKLINE>
    """
    table, about = as_table(outcome.table), outcome.experiment
    rule = ["---:" if header in table.numeric else "---" for header in table.headers]
    lines: list[str] = []
    if about is not None:
        lines += [f"# {about.id}: {about.title}", "", f"*{about.paper}*", ""]
        lines += [f"Published: {about.published}", "", f"Data: {about.data}", ""]
    lines += [
        f"**Verdict: {outcome.verdict}.** {outcome.reason[:1].upper()}{outcome.reason[1:]}",
        "",
    ]
    for name in outcome.figures:
        lines += [f"![{name.replace('_', ' ')}]({name}.png)", ""]
        said = caption(about.id, name) if about is not None else ""
        lines += [f"*{said}*", ""] if said else []
    lines += ["| " + " | ".join(cells) + " |" for cells in (table.headers, rule, *table.rows)]
    lines.append("")
    lines += [f"- {note}" for note in outcome.notes]
    return "\n".join([*lines, f"- {_circumstances(outcome)}", ""])


def _circumstances(outcome: Outcome) -> str:
    """Return how much was run, how long it took and on what."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("conicnmf", "numpy", "numba"))
    how = f"{outcome.setup or 'Run'}: {outcome.seconds:.0f} s"
    return f"{how}, Python {python_version()}, {packages}."


def write(outcome: Outcome, folder: str | Path) -> list[Path]:
    """Write ``table.md`` (with verdict and notes), ``table.csv`` and one PNG a figure.

    Returns
    -------
    list of Path
        The files, in a folder that is made where there is none.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from experiments import Outcome, write
    >>> outcome = Outcome(pd.DataFrame({"measured": [1.0]}))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(outcome, folder)]
    ['table.md', 'table.csv']
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = [place / "table.md", place / "table.csv"]
    files[0].write_text(markdown(outcome), encoding="utf-8")
    outcome.table.to_csv(files[1], index=False)
    for name, figure in outcome.figures.items():
        files.append(place / f"{name}.png")
        files[-1].write_bytes(figure_bytes(figure))
    return files
