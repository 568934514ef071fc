"""A folder that keeps the runs of a comparison, so that a killed one goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conicnmf.archive import Format, number, text
from conicnmf.errors import InputError
from conicnmf.model.digest import differences
from conicnmf.study.compare.claim import Claim, claim_of_run
from conicnmf.study.compare.rows import NAMES, NUMBERS, Row, Task
from conicnmf.study.kept import Kept

COMPARISON = Format(
    "comparison", "call compare(..., store=folder) again; runs that are not damaged are kept"
)


@dataclass(frozen=True)
class Index:
    """What the folder's index says: the claim, the settings and a row for each run."""

    claim: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


@dataclass(frozen=True)
class Store:
    """A folder with ``comparison.json`` and a file .npz for each finished run.

    Each run says for itself what it is a run of, so none is taken for another.

    Examples
    --------
    >>> Store(Path("folder")).file(("faces", "HALS", 0)).name
    'faces-HALS-0-c6580e5a.npz'
    """

    folder: Path
    claim: Claim = field(default_factory=dict)

    @property
    def index(self) -> Path:
        """The file that says what the folder holds."""
        return self.folder / "comparison.json"

    def file(self, task: Task) -> Path:
        """Return where a run is kept: readable, and told apart by a digest."""
        words = "-".join(map(str, task))
        readable = "".join(c if c.isalnum() or c in "-." else "_" for c in words)[:80]
        digest = hashlib.sha256(json.dumps(task).encode()).hexdigest()
        return self.folder / "runs" / f"{readable}-{digest[:8]}.npz"

    def run(self, task: Task) -> Kept:
        """Return the place of a run."""
        return Kept(self.file(task), claim_of_run(self.claim, task))

    def write_index(self, index: Index) -> None:
        """Write the index, the old one staying until the new one is whole."""
        COMPARISON.write_text(self.index, vars(index))

    def read_index(self) -> Index:
        """Return the index, or refuse a folder without one."""
        if not self.index.exists():
            raise InputError(
                f"a saved comparison is a folder with a file comparison.json, got {self.folder} "
                "without one; check the path"
            )
        values = COMPARISON.read_text(self.index)
        with COMPARISON.explained(self.index):
            rows = [_row(row) for row in values["rows"]]
            return Index(dict(values["claim"]), dict(values["settings"]), rows)


def _row(row: dict[str, Any]) -> Row:
    """Return a row as it was before it was written."""
    words = {name: text(row[name]) for name in ("problem", "solver", "status", "reason")}
    numbers = {name: number(row[name]) for name in NUMBERS}
    return {**row, **words, **numbers, "seed": int(row["seed"])}


def open_store(folder: str | Path, claim: Claim) -> tuple[Store, Index, list[str]]:
    """Return the store, what it has and remarks, or refuse one that holds another comparison."""
    store = Store(Path(folder), claim)
    if store.folder.exists() and not store.folder.is_dir():
        raise InputError(f"store must be a folder, got the file {folder}; name another")
    if not store.index.exists():
        return store, Index(), []
    try:
        index = store.read_index()
    except InputError as error:  # each run says for itself what it is
        return store, Index(), [f"the list of runs is written again: {error}"]
    told = list(differences(index.claim, claim))
    if not index.claim:
        told = ["it has no list of what was compared"]
    if told:
        listed = "\n".join(f"  - {difference}" for difference in told)
        raise InputError(
            f"{folder} holds another comparison:\n{listed}\nName another folder, or delete this one."
        )
    return store, index, []


def merged(old: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """Return the rows of both, the new ones where both have one."""
    rows = {tuple(row[name] for name in NAMES): row for row in old}
    rows |= {tuple(row[name] for name in NAMES): row for row in new}
    return list(rows.values())
