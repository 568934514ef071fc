"""The state of a running solve on disk, so that a killed one goes on where it was."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conicnmf.archive import Format
from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.model.digest import Digest, differences, part
from conicnmf.types import Array

Arrays = dict[str, Array]
EVERY = 30.0
"""Seconds between two writes, and at least this many times as long as a write takes."""

CHECKPOINT = Format("checkpoint", "delete it to start again")


def claim_of(problem: BaseProblem, solver: Any, seed: int, init: Any) -> Digest:
    """Return what a solve must agree on with a checkpoint to go on from there.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> list(claim_of(cn.factorize(np.ones((2, 2)), 1), cn.HALS(), 0, None))[-3:]
    ['solver', 'seed', 'start']
    """
    start = part(init, "the default" if init is None else f"a {type(init).__name__}")
    return {**problem.digest, "solver": part(solver), "seed": str(seed), "start": start}


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
        What is being solved and how, see `claim_of`; a file with another claim is refused.

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
        self.file = path if path.suffix == ".npz" else path.parent / f"{path.name}.npz"
        self.due = time.perf_counter() + EVERY

    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return time.perf_counter() >= self.due

    def reserve(self) -> None:
        """Refuse a place that cannot be written to, before there is anything to write."""
        CHECKPOINT.reserve(self.file)

    def write(self, state: State) -> None:
        """Replace the file; a crash in between leaves the old one."""
        begin = time.perf_counter()
        values = {"claim": self.claim, "state": state.values}
        arrays = {
            f"{group}/{name}": X for group, own in state.arrays.items() for name, X in own.items()
        }
        CHECKPOINT.write(self.file, values, arrays, compress=False)
        now = time.perf_counter()
        self.due = now + EVERY * max(1.0, now - begin)

    def read(self) -> State | None:
        """Return the state, or None when nothing has been written yet."""
        if not self.file.exists():
            return None
        record = CHECKPOINT.read(self.file)
        with CHECKPOINT.explained(self.file):
            claim, values = dict(record.values["claim"]), dict(record.values["state"])
            groups: dict[str, Arrays] = {}
            for key, X in record.arrays.items():
                group, _, name = key.partition("/")
                groups.setdefault(group, {})[name] = X
        for difference in differences(claim, self.claim):
            raise InputError(
                f"{self.file} is the checkpoint of another solve: {difference}; name another file "
                "or delete this one"
            )
        return State(groups, values)
