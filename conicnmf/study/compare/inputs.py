"""What `compare` is given, checked and put into one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.settings import is_mapping, listed, shown
from conicnmf.solve.choice import as_problem
from conicnmf.solve.methods.base import AnySolver, Solver, as_solver
from conicnmf.solve.stop import Stop, TimeLimit, as_stop, without_iteration_limit

Problems = Mapping[str, BaseProblem]
Solvers = Sequence[AnySolver | str] | Mapping[str, AnySolver | str]


def as_problems(problem: Any, name: str = "problem") -> Problems:
    """Return problems by name."""
    problems: Problems = problem if is_mapping(problem) else {"problem": problem}
    for stated in problems.values():
        as_problem(stated, name)
    return problems


def as_solvers(solvers: Solvers, name: str = "solvers") -> Mapping[str, AnySolver]:
    """Return solvers by name: of their class, or with their settings where two share it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> list(as_solvers([cn.ANLS(), cn.HALS(sweeps=1), cn.HALS(sweeps=2)]))[:1]
    ['ANLS']
    """
    several = is_mapping(solvers) or isinstance(solvers, Sequence)
    if isinstance(solvers, str) or not several:
        raise InputError(f"{name} must be a list, got {shown(solvers)}; put it in brackets")
    if is_mapping(solvers):
        return {name: as_solver(solver) for name, solver in solvers.items()}
    listed = [as_solver(solver) for solver in solvers]
    short = [solver.name for solver in listed]
    named = {str(s) if short.count(s.name) > 1 else s.name: s for s in listed}
    if len(named) < len(listed):
        raise InputError(f"{name} must differ, got one twice; give a dict of names to solvers")
    return named


def as_seeds(seeds: Any, name: str = "seeds") -> list[int]:
    """Return the seeds as a list of different whole numbers.

    Examples
    --------
    >>> as_seeds(range(3))
    [0, 1, 2]
    """
    found = listed(seeds)
    own: list[Any] = [None] if found is None else found
    whole = all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) for s in own)
    if not whole or min(own, default=0) < 0 or len(set(own)) < len(own):
        raise InputError(
            f"{name} must be different whole numbers >= 0, got {shown(seeds)}; try "
            f"range({seeds if isinstance(seeds, int) and seeds > 0 else 3})"
        )
    return [int(seed) for seed in own]


def common_stop(
    stop: Stop | int | None, solvers: Mapping[str, AnySolver], time_limit: float | None = None
) -> Stop:
    """Return the rule that holds for all solvers.

    With a time limit their own limits of iterations are left out: an iteration of one may be a
    hundred of another.

    Examples
    --------
    >>> import conicnmf as cn
    >>> common_stop(None, {"a": cn.TangentPlane(), "b": cn.HALS()})
    MaxIter(limit=500) | RelDecrease(rtol=1e-05, patience=3)
    """
    own = {repr(solver.default_stop): solver.default_stop for solver in solvers.values()}
    default = next(iter(own.values())) if len(own) == 1 else Solver.default_stop
    if time_limit is not None:
        default = without_iteration_limit(default) or TimeLimit(time_limit)
    return as_stop(stop, default)
