"""What a solve returns: factors, status, history, all of it savable without pickle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from conicnmf._types import Array
from conicnmf.conic.backends import InnerSolve
from conicnmf.errors import InputError

if TYPE_CHECKING:
    from conicnmf.certify import Certificate
    from conicnmf.problem import Problem
    from conicnmf.statement import Statement

Kind = Literal["converged", "stopped", "failed"]


class Status(Enum):
    """How a solve ended; the value is advice, `kind` is converged, stopped or failed.

    Examples
    --------
    >>> Status.MAX_ITER.kind
    'stopped'
    """

    CONVERGED = "The objective no longer falls; try other seeds to see whether it can be lower."
    OSCILLATING = (
        "The objective went up and down and no longer improves; the best feasible iterate was kept. "
        "SparsityMaximization or HALS never rise."
    )
    MAX_ITER = "The iteration limit was reached; raise it if the history is still falling."
    TIME_LIMIT = "The time limit was reached; the best feasible iterate so far was kept."
    INTERRUPTED = "Interrupted from the keyboard; the best feasible iterate so far was kept."
    CALLBACK = "The callback asked to stop; the best feasible iterate so far was kept."
    COLLAPSED = (
        "A component became zero, where its constraint is undefined; lower the sparseness or the "
        "rank, or start elsewhere."
    )
    INFEASIBLE = "No iterate satisfies every constraint; relax the one with the largest violation."
    CONDITION_FAILED = (
        "The condition that the update rule rests on fails here; the best iterate so far was kept. "
        "Another solver may go on, see explain()."
    )
    BACKEND_FAILED = (
        "Every cone solver failed on a block; rescale the data or name another backend."
    )
    NOT_FINITE = "The iterates left the range of numbers; rescale the data or shorten the steps."

    @property
    def kind(self) -> Kind:
        """Whether this is a convergence, an early stop with a usable result, or a failure."""
        if self is Status.CONVERGED:
            return "converged"
        failures = (Status.COLLAPSED, Status.INFEASIBLE, Status.BACKEND_FAILED, Status.NOT_FINITE)
        return "failed" if self in failures else "stopped"


@dataclass(frozen=True)
class Iteration:
    """One line of the history, as callbacks and monitors see it."""

    iteration: int
    objective: float
    violation: float
    seconds: float
    change: float
    inner: tuple[InnerSolve, ...] = ()
    notes: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class History:
    """The iterations of a solve, the start being number zero.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> history = cn.factorize(np.eye(4), 2).solve(cn.HALS(), stop=3).history
    >>> history.to_frame()["iteration"].tolist()
    [0, 1, 2, 3]
    """

    iterations: list[Iteration] = field(default_factory=list)

    def append(self, iteration: Iteration) -> None:
        """Add one iteration."""
        self.iterations.append(iteration)

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
    def seconds(self) -> Array:
        """The time since the start at the end of each iteration."""
        return np.array([it.seconds for it in self.iterations])

    def to_frame(self) -> pd.DataFrame:
        """Return one row an iteration."""
        return pd.DataFrame(
            {
                "iteration": [it.iteration for it in self.iterations],
                "objective": self.objective,
                "violation": self.violation,
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
    def from_list(cls, lines: Sequence[dict[str, Any]]) -> History:
        """Return the history that `to_list` wrote."""
        return cls(
            [
                Iteration(**{**line, "inner": tuple(InnerSolve(**call) for call in line["inner"])})
                for line in lines
            ]
        )

    def inner_frame(self) -> pd.DataFrame:
        """Return one row a call of a cone solver."""
        rows = [
            {"iteration": it.iteration, **asdict(record)}
            for it in self.iterations
            for record in it.inner
        ]
        columns = ["iteration", "backend", "status", "iterations", "seconds"]
        return pd.DataFrame(rows, columns=columns)


def _summary(inner: Sequence[InnerSolve]) -> str:
    counts = pd.Series([f"{r.backend} {r.status}" for r in inner], dtype=object).value_counts()
    return ", ".join(f"{name} ×{count}" for name, count in counts.items())


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of a solve.

    Attributes
    ----------
    factors : dict of str to array
        Every factor by name; `W` and `H` are short for two of them.
    objective : float
        The stated objective, exactly.
    relative_error : float
        ‖V − W H‖²/‖V‖², over the weighted entries where the loss has weights.
    violation : dict of str to float
        The largest violation of each constraint.
    status : Status
    history : History
    seed : int or None
    solver : str
    problem : str
        What was solved, as text.
    versions : dict of str to str
    statement : Problem, Statement or None
        The problem itself; not saved.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    >>> result.W.shape, result.H.shape, result.status.name
    ((4, 1), (1, 3), 'CONVERGED')
    """

    factors: dict[str, Array]
    objective: float
    relative_error: float
    violation: dict[str, float]
    status: Status
    history: History
    seed: int | None
    solver: str
    problem: str
    versions: dict[str, str]
    statement: Problem | Statement | None = None

    if TYPE_CHECKING:  # bound in conicnmf.facade, the last layer

        def certificate(
            self, problem: Problem | Statement | None = None, **tolerances: float
        ) -> Certificate:
            """Check the result by other routes than the solver's."""

    @property
    def W(self) -> Array:
        """The basis, features × rank."""
        return self.factors["W"]

    @property
    def H(self) -> Array:
        """The coefficients, rank × samples."""
        return self.factors["H"]

    @property
    def max_violation(self) -> float:
        """The largest violation of any constraint."""
        return max(self.violation.values(), default=0.0)

    @property
    def seconds(self) -> float:
        """The time of the solve."""
        return self.history[-1].seconds

    @property
    def n_iter(self) -> int:
        """The number of iterations made."""
        return self.history[-1].iteration

    def _rows(self) -> list[tuple[str, str]]:
        shapes = ", ".join(
            f"{name} {X.shape[0]} × {X.shape[1]}" for name, X in self.factors.items()
        )
        return [
            ("solver", self.solver),
            ("status", f"{self.status.name} ({self.status.kind})"),
            ("objective", f"{self.objective:.6g}"),
            ("relative error", f"{self.relative_error:.6g}"),
            ("violation", f"{self.max_violation:.2g}"),
            ("iterations", f"{self.n_iter} in {self.seconds:.3g} s, seed {self.seed}"),
            ("factors", shapes),
        ]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        lines = [f"  {name:<{width}}  {text}" for name, text in self._rows()]
        return "\n".join(["Result", *lines, f"  {self.status.value}"])

    def _repr_html_(self) -> str:
        body = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in self._rows())
        return f"<table>{body}</table><p>{self.status.value}</p>"

    def save(self, path: str | Path) -> Path:
        """Write the result as ``path.npz`` and ``path.json``; `load` reads them back.

        Returns
        -------
        Path
            The path without ending.
        """
        stem = _stem(path)
        stem.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {f"factor_{name}": X for name, X in self.factors.items()}
        np.savez_compressed(stem.with_name(stem.name + ".npz"), **arrays)
        text = {
            "objective": self.objective,
            "relative_error": self.relative_error,
            "violation": self.violation,
            "status": self.status.name,
            "seed": self.seed,
            "solver": self.solver,
            "problem": self.problem,
            "versions": self.versions,
            "history": self.history.to_list(),
        }
        stem.with_name(stem.name + ".json").write_text(json.dumps(text, indent=1))
        return stem


def load(path: str | Path) -> Result:
    """Read a result that `Result.save` wrote.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn, tempfile
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = cn.load(result.save(folder + "/ones"))
    >>> bool((again.W == result.W).all())
    True
    """
    stem = _stem(path)
    files = [stem.with_name(stem.name + ending) for ending in (".npz", ".json")]
    for file in files:
        if not file.exists():
            raise InputError(f"a saved result is a pair .npz and .json, but {file} is missing")
    with np.load(files[0], allow_pickle=False) as arrays:
        factors = {name.removeprefix("factor_"): arrays[name] for name in arrays.files}
    text = json.loads(files[1].read_text())
    history = History.from_list(text.pop("history"))
    status = Status[text.pop("status")]
    return Result(factors=factors, history=history, status=status, **text)


def _stem(path: str | Path) -> Path:
    path = Path(path)
    return path.with_suffix("") if path.suffix in (".npz", ".json") else path
