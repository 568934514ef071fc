"""The state of a running solve on disk, so that a killed one goes on where it was."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.types import Array

Arrays = dict[str, Array]
EVERY = 30.0
"""Seconds between two writes, and at least this many times as long as a write takes."""


@dataclass(frozen=True, eq=False)
class State:
    """Groups of arrays (the iterate, the best one, the solver's memo) and plain values."""

    arrays: dict[str, Arrays]
    values: dict[str, Any]


@dataclass(eq=False)
class Checkpoint:
    """One file that holds the last `State` of one solve.

    Parameters
    ----------
    path : str or Path
    claim : dict of str to str
        What is being solved and how; a file with another claim is refused.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Checkpoint(folder + "/run", {"solver": "HALS"})
    ...     file.write(State({"best": {"W": np.ones(2)}}, {"iterations": 3}))
    ...     file.read().values["iterations"]
    3
    """

    path: str | Path
    claim: dict[str, str]
    due: float = 0.0

    def __post_init__(self) -> None:
        path = Path(self.path)
        self.file = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
        self.due = time.perf_counter() + EVERY

    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return time.perf_counter() >= self.due

    def write(self, state: State) -> None:
        """Replace the file; a crash in between leaves the old one."""
        begin = time.perf_counter()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"claim": self.claim, "values": state.values})
        flat: Arrays = {
            f"{group}/{name}": X for group, own in state.arrays.items() for name, X in own.items()
        }
        flat["text"] = np.frombuffer(text.encode(), dtype=np.uint8)
        new = self.file.with_suffix(".new.npz")
        with new.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **flat)
        os.replace(new, self.file)
        now = time.perf_counter()
        self.due = now + EVERY * max(1.0, now - begin)

    def read(self) -> State | None:
        """Return the state, or None when nothing has been written yet."""
        if not self.file.exists():
            return None
        with np.load(self.file, allow_pickle=False) as arrays:
            text = json.loads(bytes(arrays["text"]).decode())
            groups: dict[str, Arrays] = {}
            for key in arrays.files:
                group, _, name = key.partition("/")
                if name:
                    groups.setdefault(group, {})[name] = arrays[key]
        for key, own in self.claim.items():
            if text["claim"].get(key) != own:
                raise InputError(
                    f"{self.file} is the checkpoint of another solve: its {key} is "
                    f"{text['claim'].get(key)}, not {own}; name another file or delete this one"
                )
        return State(groups, text["values"])
