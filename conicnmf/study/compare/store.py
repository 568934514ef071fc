"""A folder that keeps the runs of a comparison, so that a killed one goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conicnmf.errors import InputError
from conicnmf.results import Result, load
from conicnmf.study.compare.rows import NAMES, Row, Task

Claim = Mapping[str, str]
"""What is compared and how, as words by name; see `claim_of`."""


@dataclass(frozen=True)
class Index:
    """What the folder's index says: the claim, the settings and a row for each run."""

    claim: dict[str, str]
    settings: dict[str, str]
    rows: list[Row]


@dataclass(frozen=True)
class Store:
    """A folder with ``comparison.json`` and a pair .npz and .json for each finished run.

    Examples
    --------
    >>> Store(Path("folder")).stem(("faces", "HALS", 0)).name
    'faces-HALS-0-c6580e5a'
    """

    folder: Path

    @property
    def index(self) -> Path:
        """The file that says what the folder holds."""
        return self.folder / "comparison.json"

    def stem(self, task: Task) -> Path:
        """Return where a run is kept, without ending: readable, and told apart by a digest."""
        words = "-".join(map(str, task))
        readable = "".join(c if c.isalnum() or c in "-." else "_" for c in words)[:80]
        digest = hashlib.sha256(json.dumps(task).encode()).hexdigest()
        return self.folder / "runs" / f"{readable}-{digest[:8]}"

    def write(self, task: Task, result: Result) -> None:
        """Keep a run; a crash in between leaves nothing that looks finished."""
        stem = self.stem(task)
        new = result.save(stem.with_name(f"{stem.name}.{os.getpid()}.new"))
        for ending in (".npz", ".json"):  # the run counts as finished when its text is there
            os.replace(new.with_name(new.name + ending), stem.with_name(stem.name + ending))

    def read(self, task: Task) -> Result | None:
        """Return a run that was kept, or None."""
        stem = self.stem(task)
        return load(stem) if stem.with_name(stem.name + ".json").exists() else None

    def write_index(self, index: Index) -> None:
        """Write the index, the old one staying until the new one is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.index.with_suffix(f".{os.getpid()}.new")
        text: dict[str, Any] = {"format": 1, **vars(index)}
        new.write_text(json.dumps(text, indent=1), encoding="utf-8")
        os.replace(new, self.index)

    def read_index(self) -> Index:
        """Return the index, or refuse a folder without one."""
        try:
            text = json.loads(self.index.read_text(encoding="utf-8"))
            return Index(text["claim"], text["settings"], text["rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"a saved comparison is a folder with a file comparison.json, got {self.folder} "
                f"({error}); check the path"
            ) from error


def open_store(folder: str | Path, claim: Claim) -> tuple[Store, Index]:
    """Return the store and what it has, or refuse one that holds another comparison."""
    store = Store(Path(folder))
    if store.folder.exists() and not store.folder.is_dir():
        raise InputError(f"store must be a folder, got the file {folder}; name another")
    if not store.index.exists():
        return store, Index({}, {}, [])
    index = store.read_index()
    differences = [
        f"its {name} is {index.claim[name]}, not {own}"
        for name, own in claim.items()
        if index.claim.get(name, own) != own
    ]
    if not index.claim:
        differences = ["it does not say what was compared"]
    if differences:
        listed = "\n".join(f"  - {difference}" for difference in differences)
        raise InputError(
            f"{folder} holds another comparison:\n{listed}\nName another folder, or delete this one."
        )
    return store, index


def merged(old: Iterable[Row], new: Iterable[Row]) -> list[Row]:
    """Return the rows of both, the new ones where both have one."""
    rows = {tuple(row[name] for name in NAMES): row for row in old}
    rows |= {tuple(row[name] for name in NAMES): row for row in new}
    return list(rows.values())
