"""`path`: one model for every value of a parameter, each solve started from the one before."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as Folder
from typing import TYPE_CHECKING, Annotated, Any

import cvxpy as cp
import numpy as np
from joblib import Parallel

from conicnmf.errors import InputError
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.model.base import BaseProblem
from conicnmf.results import Result
from conicnmf.results.saved import RESULT
from conicnmf.settings import Jobs, Place, Reads, Whole, checks_arguments, is_mapping, listed, shown
from conicnmf.solve.guard import interruptions_held, interruptions_noted
from conicnmf.solve.methods.base import SolverLike
from conicnmf.study.kept import solve_or_recall
from conicnmf.study.workers import Backend, in_parallel, job, on_one_thread
from conicnmf.validate import as_numbers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """The models along a path.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per value: objective, relative error, violation, the mean sparseness of the
        components of each variable, iterations, seconds and status.
    results : list of Result
        In the order of the table.
    missing : tuple of float
        The values that were not solved because of an interruption.

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
        numbers = as_numbers(listed(values) or [], name).astype(float)
    except (InputError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or not numbers.size or np.isnan(numbers).any():
        raise InputError(
            f"{name} must be one number or more, got {shown(values)}; try np.linspace(0.1, 0.9, 9)"
        )
    return [float(value) for value in numbers]


def _as_steps(values: Any, name: str) -> list[float] | dict[cp.Parameter, list[float]]:
    """Return values as numbers; for parameters, the values of each."""
    if not is_mapping(values):
        return _as_values(values, name)
    for parameter in values:
        if not isinstance(parameter, cp.Parameter) or not parameter.is_scalar():
            raise InputError(
                f"{name} must name scalar cp.Parameters, got {shown(parameter)}; write "
                "{alpha: [0.1, 0.2]}"
            )
    steps = {parameter: _as_values(own, name) for parameter, own in values.items()}
    counts = {len(own) for own in steps.values()}
    if len(counts) != 1:
        raise InputError(
            f"{name} must have as many values for each parameter, got {sorted(counts)}; give each one "
            "for every step"
        )
    return steps


@checks_arguments
def path(
    make_problem: Callable[[float], BaseProblem] | BaseProblem,
    values: Annotated[Any, Reads(_as_steps)],
    solver: SolverLike | None = None,
    *,
    seed: Whole = 0,
    warm: bool = True,
    store: Place | None = None,
    n_jobs: Jobs = 1,
    backend: Backend = None,
    **options: Any,
) -> Path:
    """Solve a problem for each value of a parameter, in the given order.

    Parameters
    ----------
    make_problem : callable or Problem
        A function that returns the problem for a value, for example of a sparseness or of the weight of
        a penalty; or a problem with CVXPY parameters.
    values : iterable of float, or dict of cvxpy.Parameter to such
        Neighbors should be close, because each solve starts from the previous result, made feasible for
        the new constraints. Several parameters change together, and get their old values back at the
        end.
    solver : Solver, optional
        By default one that fits is picked for each problem.
    seed : int
    warm : bool
        Start from the previous result; otherwise every value has the start of the seed.
    store : path, optional
        A folder for finished solves and the state of the current one: the same call continues
        where a killed one stopped. A solve that is damaged or belongs to another problem is repeated.
    n_jobs : int
        Processes that solve for several values at a time, with `warm=False`.
    backend : {"loky", "threading", "dask"}, optional
        How joblib does that, as in `compare`.
    **options
        Passed on to `solve`: `init` (of the first value), `stop`, `time_limit`.

    Returns
    -------
    Path
        Ctrl-C returns the finished solves, as a `partial` path.

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
    together = n_jobs != 1 or backend is not None
    if warm and together:
        raise InputError(
            "values can be solved in parallel only with warm=False, since each solve starts "
            "from the last result otherwise; pass warm=False, or leave n_jobs and backend out"
        )
    way = in_parallel(n_jobs, backend, return_as="generator") if together else warm
    if not isinstance(values, dict):
        if isinstance(make_problem, BaseProblem):
            raise InputError(
                "path needs the parameters of a problem, got numbers alone; write "
                "path(problem, {alpha: [0.1, 0.2]})"
            )
        return _walk(make_problem, values, solver, seed, way, store, options)
    if not isinstance(make_problem, BaseProblem):
        raise InputError(
            f"path with parameters needs the problem that holds them, got {shown(make_problem)}; "
            "write path(problem, {alpha: [0.1, 0.2]})"
        )
    problem, steps = make_problem, values
    names = [parameter.name() for parameter in steps]
    rows = list(zip(*steps.values(), strict=True))

    def at(step: float) -> BaseProblem:
        for parameter, value in zip(steps, rows[int(step)], strict=True):
            try:
                parameter.value = value
            except ValueError as error:
                raise InputError(
                    f"path needs values that its parameters take, got {parameter.name()} = {value}: "
                    f"{error}; change the values or the parameter"
                ) from error
        return problem.current()

    with _values_put_back(steps):
        found = _walk(at, list(range(len(rows))), solver, seed, way, store, options)
    table = found.table.drop(columns="value")
    for place, name in enumerate(names):
        table.insert(place, name, [row[place] for row in rows[: len(table)]])
    table.insert(0, "value", [row[0] for row in rows[: len(table)]])
    missing = tuple(rows[int(step)][0] for step in found.missing)
    return Path(table if len(names) > 1 else table.drop(columns=names), found.results, missing)


@contextmanager
def _values_put_back(parameters: Iterable[cp.Parameter]) -> Iterator[None]:
    """Give parameters the values that they had, whatever happens between."""
    before = [(parameter, parameter.value) for parameter in parameters]
    try:
        yield
    finally:
        for parameter, value in before:
            parameter.value = value


def _walk(
    make_problem: Callable[[float], BaseProblem],
    stated: list[float],
    solver: SolverLike | None,
    seed: int,
    way: Parallel | bool,
    store: Place | None,
    options: dict[str, Any],
) -> Path:
    """Solve one problem after the other, each from the last result or not, or all by a pool."""
    import pandas as pd

    folders = [
        None if store is None else Folder(store) / f"value-{place}" for place in range(len(stated))
    ]
    how = {"seed": seed, **options}
    if folders[0] is not None:  # said before any work; later a full disk is no more than a remark
        RESULT.reserve(folders[0] / "result.npz")
    with interruptions_noted():
        if isinstance(way, bool):
            results = _in_turn(make_problem, stated, solver, folders, way, how)
        else:
            work = [
                job(solve_or_recall)(make_problem(value), solver, folder, **how)
                for value, folder in zip(stated, folders, strict=True)
            ]
            results = _side_by_side(way(work))
        with interruptions_held():  # nothing that is finished is lost while it is put together
            rows = [_row(value, result) for value, result in zip(stated, results, strict=False)]
            finished = sum(not result.interrupted for result in results)
            return Path(pd.DataFrame(rows), results, tuple(stated[finished:]))


def _in_turn(
    make_problem: Callable[[float], BaseProblem],
    stated: list[float],
    solver: SolverLike | None,
    folders: list[Folder | None],
    warm: bool,
    how: dict[str, Any],
) -> list[Result]:
    """Solve one problem after the other."""
    results: list[Result] = []
    for value, folder in zip(stated, folders, strict=True):
        try:
            given = (make_problem(value), solver, folder)
            if warm:
                result = solve_or_recall(*given, **how)
            else:  # to the digits that it has where several processes solve
                result = on_one_thread(solve_or_recall, *given, **how)
        except KeyboardInterrupt:
            if not results:
                raise
            break
        results.append(result)
        if result.interrupted:
            break
        # A failure is no place to go on from.
        if warm and result.status.kind != "failed":
            how = how | {"init": result.factors}
    return results


def _side_by_side(outputs: Any) -> list[Result]:
    """Return the results in their order, up to an interruption."""
    results: list[Result] = []
    try:
        for result in outputs:
            results.append(result)
            if result.interrupted:
                break
    except KeyboardInterrupt:
        if not results:
            raise
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that what is not finished is dropped is meant
            outputs.close()
    return results


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
