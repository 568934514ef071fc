"""What happened in a solve: one line an iteration, one record a call of a cone solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.archive import number, text
from conicnmf.types import Array, Mask

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class InnerSolve:
    """One call of a backend: what it was, how it ended, how long it took."""

    backend: str
    status: str
    iterations: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the backend returned a usable point."""
        return self.status in ("optimal", "optimal_inaccurate")

    @property
    def limited(self) -> bool:
        """Whether a limit of time or iterations ended it."""
        return self.status == "user_limit"

    @property
    def infeasible(self) -> bool:
        """Whether the backend proved that there is no feasible point."""
        return self.status == "infeasible"


@dataclass(frozen=True)
class Iteration:
    """One line of the history, as callbacks and monitors see it.

    `feasible` says whether every constraint holds to the requested accuracy.
    """

    iteration: int
    objective: float
    violation: float
    seconds: float
    change: float
    inner: tuple[InnerSolve, ...] = ()
    notes: dict[str, float] = field(default_factory=dict)
    feasible: bool = True


@dataclass(eq=False)
class History:
    """The iterations of a solve; the start is number zero.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> history = cn.factorize(np.eye(4), 2).solve(cn.HALS(), stop=3).history
    >>> history.to_frame()["iteration"].tolist()
    [0, 1, 2, 3]
    """

    iterations: list[Iteration] = field(default_factory=list)
    unit: float = 0.0
    """The size of the data as the objective sees it: its rounding is relative to this."""

    def __post_init__(self) -> None:
        self.lowest: list[float] = []
        """The lowest feasible objective up to each iteration, infinite while there is none."""
        for iteration in self.iterations:
            self._note(iteration)

    def append(self, iteration: Iteration) -> None:
        """Add one iteration."""
        self.iterations.append(iteration)
        self._note(iteration)

    def _note(self, iteration: Iteration) -> None:
        before = self.lowest[-1] if self.lowest else np.inf
        better = iteration.feasible and iteration.objective < before
        self.lowest.append(iteration.objective if better else before)

    def __len__(self) -> int:
        return len(self.iterations)

    def __getitem__(self, index: int) -> Iteration:
        return self.iterations[index]

    @property
    def objective(self) -> Array:
        """The objective of each iteration."""
        return np.array([it.objective for it in self.iterations])

    @property
    def violation(self) -> Array:
        """The largest violation of each iteration."""
        return np.array([it.violation for it in self.iterations])

    @property
    def feasible(self) -> Mask:
        """Whether each iteration is feasible."""
        return np.array([it.feasible for it in self.iterations])

    @property
    def seconds(self) -> Array:
        """The time since the start at the end of each iteration."""
        return np.array([it.seconds for it in self.iterations])

    def to_frame(self) -> pd.DataFrame:
        """Return one row an iteration."""
        import pandas as pd

        return pd.DataFrame(
            {
                "iteration": [it.iteration for it in self.iterations],
                "objective": self.objective,
                "violation": self.violation,
                "feasible": self.feasible,
                "seconds": self.seconds,
                "change": [it.change for it in self.iterations],
                "inner_solves": [len(it.inner) for it in self.iterations],
                "backends": [_summary(it.inner) for it in self.iterations],
            }
            | {
                name: [it.notes.get(name, np.nan) for it in self.iterations]
                for name in self.iterations[-1].notes
            }
        )

    def to_list(self) -> list[dict[str, Any]]:
        """Return the iterations as plain values; `from_list` reads them back."""
        return [asdict(it) for it in self.iterations]

    @classmethod
    def from_list(cls, lines: Sequence[dict[str, Any]], unit: float = 0.0) -> History:
        """Return the history that `to_list` wrote."""
        return cls([_iteration(line) for line in lines], unit)

    def inner_frame(self) -> pd.DataFrame:
        """Return one row a call of a cone solver."""
        import pandas as pd

        rows = [
            {"iteration": it.iteration, **asdict(record)}
            for it in self.iterations
            for record in it.inner
        ]
        columns = ["iteration", "backend", "status", "iterations", "seconds"]
        return pd.DataFrame(rows, columns=columns)


def _iteration(line: dict[str, Any]) -> Iteration:
    measured = {
        name: number(line[name]) for name in ("objective", "violation", "seconds", "change")
    }
    notes = {name: number(value) for name, value in line["notes"].items()}
    inner = tuple(_inner_solve(call) for call in line["inner"])
    place, feasible = index(line["iteration"]), bool(line["feasible"])
    return Iteration(iteration=place, inner=inner, notes=notes, feasible=feasible, **measured)


def _inner_solve(call: dict[str, Any]) -> InnerSolve:
    iterations, seconds = index(call["iterations"]), number(call["seconds"])
    return InnerSolve(text(call["backend"]), text(call["status"]), iterations, seconds)


def _summary(inner: Sequence[InnerSolve]) -> str:
    counts = Counter(f"{record.backend} {record.status}" for record in inner)
    return ", ".join(f"{name} ×{count}" for name, count in counts.most_common())
