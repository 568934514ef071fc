"""Progress bars: monitors that the engine reports to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conicnmf.results import Iteration

if TYPE_CHECKING:
    from rich.console import Console


class ProgressBar:
    """A line with iteration, objective, violation and time, on standard error."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("iteration {task.fields[iteration]:>4}"),
            TextColumn("objective {task.fields[objective]:.6g}"),
            TextColumn("violation {task.fields[violation]:.1e}"),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(
            title, total=None, iteration=0, objective=float("nan"), violation=float("nan")
        )
        self._progress.start()

    def update(self, iteration: Iteration) -> None:
        """Show one iteration."""
        self._progress.update(
            self._task,
            iteration=iteration.iteration,
            objective=iteration.objective,
            violation=iteration.violation,
        )

    def close(self) -> None:
        """Take the line away."""
        self._progress.stop()


class CountBar:
    """A bar over a known number of runs, on standard error."""

    def __init__(self, title: str, total: int, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._progress = Progress(
            TextColumn(title),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(title, total=total)
        self._progress.start()

    def step(self) -> None:
        """Count one run."""
        self._progress.advance(self._task)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
