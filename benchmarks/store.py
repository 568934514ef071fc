"""Rows in a file, one benchmark after the other: an interrupted run is taken up where it ended."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.json"
_PACKAGES = ("conicnmf", "numpy", "scipy", "numba", "cvxpy", "clarabel", "scikit-learn")


@dataclass(frozen=True)
class Conditions:
    """How rows were measured: rows of different conditions are never in one table."""

    clock: str
    quick: bool
    machine: str
    packages: str

    @classmethod
    def of_this_run(cls, clock: str, quick: bool) -> Conditions:
        """Return the conditions in this process."""
        machine = (
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
        return cls(clock, quick, machine, packages)


@dataclass(frozen=True)
class Measured:
    """The rows of one benchmark, the run that they are from and the seconds they took."""

    title: str
    run: str
    seconds: float
    rows: tuple[Row, ...]
    failed: bool = False
    """Whether it ended with an error, so that a run that goes on tries it again."""


@dataclass(frozen=True)
class Results:
    """All benchmarks that were measured under the same conditions, by their ids."""

    conditions: Conditions
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """Every row, with the id of its benchmark."""
        return [replace(row, id=name) for name, part in self.measured.items() for row in part.rows]

    @property
    def latest(self) -> str:
        """The time at which the last run began."""
        return max((part.run for part in self.measured.values()), default="")

    def finished(self, name: str) -> bool:
        """Return whether a benchmark is there and ended without an error."""
        return name in self.measured and not self.measured[name].failed

    def having(self, name: str, part: Measured, order: Sequence[str]) -> Results:
        """Return the results with the rows of one more benchmark, or with new ones for it."""
        together = {**self.measured, name: part}
        return replace(self, measured={key: together[key] for key in order if key in together})


def save(results: Results, path: Path) -> None:
    """Write the results; what was there stays whole until all is written."""
    unfinished = path.with_suffix(".tmp")
    text = json.dumps(_without_nan(asdict(results)), indent=1, ensure_ascii=False)
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def load(path: Path) -> Results | None:
    """Return the results of a file, or None if there is none."""
    if not path.exists():
        return None
    read = json.loads(path.read_text(encoding="utf-8"))
    measured = {
        name: Measured(**{**part, "rows": tuple(_row(row) for row in part["rows"])})
        for name, part in read["measured"].items()
    }
    return Results(Conditions(**read["conditions"]), measured)


def _row(read: dict[str, Any]) -> Row:
    numbers = ("ratio", "spread")
    return Row(**{**read, **{name: math.nan for name in numbers if read[name] is None}})


def _without_nan(value: Any) -> Any:
    """Return the value with Python's numbers, and None in place of what JSON has no number for."""
    if isinstance(value, Mapping):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(part) for part in value]
    if isinstance(value, np.generic):
        return _without_nan(value.item())
    return None if isinstance(value, float) and math.isnan(value) else value
