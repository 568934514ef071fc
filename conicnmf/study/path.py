"""`path`: one model for every value of a parameter, each solve started from the one before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from conicnmf.errors import InputError
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result
from conicnmf.settings import Place, Reads, Whole, door, shown
from conicnmf.solve.methods.base import SolverLike
from conicnmf.study.kept import solve_or_recall
from conicnmf.validate import as_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """The models along a path.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a value: objective, relative error, violation, the mean sparseness of the
        components of each variable, iterations, seconds and status.
    results : list of Result
        In the order of the table.
    missing : tuple of float
        The values that an interruption left out, and the one during which it came.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.study import path
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> path(lambda weight: cn.factorize(V, 2, H=[cn.NonNegative(), cn.L1(weight)]), [0.1, 1.0])
    value  objective  relative_error  ...
    """

    table: pd.DataFrame
    results: list[Result]
    missing: tuple[float, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether an interruption ended the path early."""
        return bool(self.missing)

    def plot(self, name: str = "value") -> Figure:
        """Draw error and sparseness along the path."""
        from conicnmf.report import plot_path

        return plot_path(self, name)

    @property
    def values(self) -> list[float]:
        """The values of the parameter."""
        return [float(value) for value in self.table["value"]]

    def __repr__(self) -> str:
        return self.table.to_string(index=False) + self._told("\n")

    def _repr_html_(self) -> str:
        return self.table.to_html(index=False) + self._told("<p>")

    def _told(self, before: str) -> str:
        listed = ", ".join(f"{value:g}" for value in self.missing)
        return f"{before}partial: interrupted, without {listed}" if self.partial else ""


def _as_values(values: Any, name: str) -> list[float]:
    try:
        listed = as_numbers(list(values), name).astype(float)
    except (TypeError, ValueError, OverflowError):
        listed = np.empty(0)
    if listed.ndim != 1 or not listed.size or np.isnan(listed).any():
        raise InputError(
            f"{name} must be one number or more, got {shown(values)}; try np.linspace(0.1, 0.9, 9)"
        )
    return [float(value) for value in listed]


@door
def path(
    make_problem: Callable[[float], BaseProblem],
    values: Annotated[Iterable[float], Reads(_as_values)],
    solver: SolverLike | None = None,
    *,
    seed: Whole = 0,
    warm: bool = True,
    store: Place | None = None,
    **options: Any,
) -> Path:
    """Solve a problem for each value of a parameter, in the given order.

    Parameters
    ----------
    make_problem : callable
        Returns the problem for a value, for example of a sparseness or of a penalty's weight.
    values : iterable of float
        Neighbors should be close: a solve begins at the last result, brought into the new
        constraints.
    solver : Solver, optional
        By default one that fits is picked for each problem.
    seed : int
    warm : bool
        Begin at the last result; otherwise every value has the start of the seed.
    store : path, optional
        A folder for finished solves and the state of the one under way: the same call goes on
        where a killed one was. One that is damaged or of something else is made again.
    **options
        Passed on to `solve`: `init` (of the first value), `stop`, `time_limit`.

    Returns
    -------
    Path
        An interruption from the keyboard returns what is finished, which then is `partial`.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.study import path
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> def at_least(s):
    ...     return cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=s)])
    >>> errors = path(at_least, [0.2, 0.5, 0.8], cn.HALS()).table["relative_error"]
    >>> bool(errors.is_monotonic_increasing)
    True
    """
    results: list[Result] = []
    stated = list(values)
    begin = options.pop("init", None)
    init = begin
    for place, value in enumerate(stated):
        how = {"seed": seed, "init": init, **options}
        folder = None if store is None else Folder(store) / f"value-{place}"
        try:
            result = solve_or_recall(make_problem(value), solver, folder, **how)
        except KeyboardInterrupt:
            if not results:
                raise
            break
        results.append(result)
        if result.interrupted:
            break
        # A failure is no place to go on from.
        if warm and result.status.kind != "failed":
            init = result.factors
    rows = [_row(value, result) for value, result in zip(stated, results, strict=False)]
    finished = sum(not result.interrupted for result in results)
    return Path(pd.DataFrame(rows), results, tuple(stated[finished:]))


def _row(value: float, result: Result) -> dict[str, Any]:
    return {
        "value": value,
        "objective": result.objective,
        "relative_error": result.relative_error,
        "violation": result.max_violation,
        **{
            f"sparseness_{name}": _mean_sparseness(result, name)
            for name in result.factors
            if result.side(name)
        },
        "iterations": result.n_iter,
        "seconds": result.seconds,
        "status": result.status.name,
    }


def _mean_sparseness(result: Result, name: str) -> float:
    """Return the mean over the components of a factor that are not zero."""
    X = result.factors[name]
    found = hoyer_sparseness(np.ascontiguousarray(X if result.side(name) == "rows" else X.T))
    known = found[~np.isnan(found)]
    return float(known.mean()) if known.size else float("nan")
