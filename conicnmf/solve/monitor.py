"""Progress on standard error: bars on a terminal and in a notebook, lines where there is neither."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from conicnmf.results import Iteration

if TYPE_CHECKING:
    from rich.console import Console


class _Display:
    """A bar that moves where one can be shown, else lines that get rarer: at 0, 1, 2, 4 and so on."""

    def __init__(self, console: Console | None, columns: list[Any], title: str, **fields: Any):
        from rich.console import Console
        from rich.progress import Progress

        self._console = console or Console(stderr=True)
        self._moves = self._console.is_terminal or _has_widgets(self._console)
        self._waiting = ""
        if self._moves:
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task(title, **fields)
            self._bar.start()

    def show(self, count: int, line: str, **fields: Any) -> None:
        """Show where the work is."""
        if self._moves:
            self._bar.update(self._task, **fields)
        elif count & (count - 1) == 0:
            self._say(line)
            self._waiting = ""
        else:
            self._waiting = line

    def close(self) -> None:
        """Take the bar away, or say where the work ended."""
        if self._moves:
            self._bar.stop()
        elif self._waiting:
            self._say(self._waiting)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _has_widgets(console: Console) -> bool:
    """Whether this is a notebook in which a bar can move; without ipywidgets it would only warn."""
    return console.is_jupyter and find_spec("ipywidgets") is not None


class ProgressBar(_Display):
    """Iteration, objective, violation and time of a solve."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = [
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("iteration {task.fields[iteration]:>4}"),
            TextColumn("objective {task.fields[objective]:.6g}"),
            TextColumn("violation {task.fields[violation]:.1e}"),
            TimeElapsedColumn(),
        ]
        unknown = float("nan")
        fields = {"total": None, "iteration": 0, "objective": unknown, "violation": unknown}
        super().__init__(console, columns, title, **fields)
        self._title = title

    def update(self, iteration: Iteration) -> None:
        """Show one iteration."""
        at, objective, violation = iteration.iteration, iteration.objective, iteration.violation
        line = (
            f"{self._title}: iteration {at}, objective {objective:.6g}, violation {violation:.1e}, "
            f"{iteration.seconds:.1f} s"
        )
        self.show(at, line, iteration=at, objective=objective, violation=violation)


class CountBar(_Display):
    """A bar over a known number of runs."""

    def __init__(self, title: str, total: int, console: Console | None = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

        columns = [TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        super().__init__(console, columns, title, total=total)
        self._title, self._total, self._done = title, total, 0

    def step(self) -> None:
        """Count one run."""
        self._done += 1
        self.show(self._done, f"{self._title}: {self._done} of {self._total}", advance=1)
