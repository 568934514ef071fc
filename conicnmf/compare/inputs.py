"""What `compare` is given, checked and put into one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.factorization import as_statement
from conicnmf.problem import Problem
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement
from conicnmf.stop import MaxIter, Stop

Problems = Mapping[str, Problem | Statement]


def as_problems(problem: Problem | Statement | Problems) -> Problems:
    """Return problems by name."""
    problems = problem if isinstance(problem, Mapping) else {"problem": problem}
    for stated in problems.values():
        as_statement(stated)
    return problems


def as_solvers(solvers: Sequence[Solver] | Mapping[str, Solver]) -> Mapping[str, Solver]:
    """Return solvers by name: of their class, or with their settings where two share it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> list(as_solvers([cn.ANLS(), cn.HALS(sweeps=1), cn.HALS(sweeps=2)]))[:1]
    ['ANLS']
    """
    if not isinstance(solvers, (Mapping, Sequence)):
        raise InputError(f"solvers is a list, got {solvers!r}; put it in brackets")
    listed = list(solvers.values()) if isinstance(solvers, Mapping) else list(solvers)
    for solver in listed:
        if not isinstance(solver, Solver):
            raise InputError(f"solvers lists solvers such as HALS(), got {solver!r}")
    if isinstance(solvers, Mapping):
        return solvers
    short = [solver.name for solver in listed]
    named = {str(s) if short.count(s.name) > 1 else s.name: s for s in listed}
    if len(named) < len(listed):
        raise InputError("the same solver is listed twice; give a dict of names to solvers")
    return named


def as_seeds(seeds: Any) -> list[int]:
    """Return the seeds as a list of different whole numbers.

    Examples
    --------
    >>> as_seeds(range(3))
    [0, 1, 2]
    """
    if not isinstance(seeds, Iterable) or isinstance(seeds, str):
        raise InputError(f"seeds is a list of whole numbers, got {seeds!r}; try range(3)")
    listed: list[Any] = list(seeds)
    whole = all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) for s in listed)
    if not whole or min(listed, default=0) < 0 or len(set(listed)) < len(listed):
        raise InputError(f"seeds must be different whole numbers >= 0, got {listed}; try range(3)")
    return [int(seed) for seed in listed]


def as_stop(stop: Stop | int | None, solvers: Mapping[str, Solver]) -> Stop:
    """Return the rule that holds for all solvers.

    Examples
    --------
    >>> import conicnmf as cn
    >>> as_stop(None, {"a": cn.TangentPlane(), "b": cn.HALS()})
    MaxIter(limit=500) | RelDecrease(rtol=1e-05, patience=3)
    """
    if stop is None:
        own = {repr(solver.default_stop): solver.default_stop for solver in solvers.values()}
        return next(iter(own.values())) if len(own) == 1 else Solver.default_stop
    if isinstance(stop, Stop):
        return stop
    if isinstance(stop, (int, np.integer)) and not isinstance(stop, bool):
        return MaxIter(int(stop))
    raise InputError(f"stop must be a Stop rule or an iteration limit, got {stop!r}; try stop=100")


def check_seconds(name: str, value: float | None) -> None:
    """Refuse what is no time.

    Examples
    --------
    >>> check_seconds("budget", 60)
    """
    if value is not None and not (isinstance(value, (int, float)) and value >= 0):
        raise InputError(f"{name} is a number of seconds >= 0, got {value!r}; try {name}=60")
