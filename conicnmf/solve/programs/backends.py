"""Solving a CVXPY program with one backend after the other until one answers."""

from __future__ import annotations

import io
import time
import warnings
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

import cvxpy as cp
import numpy as np
from cvxpy.atoms import EXP_ATOMS

from conicnmf.errors import InputError, require
from conicnmf.results.history import InnerSolve
from conicnmf.settings import Reads, shown
from conicnmf.solve.deadline import is_late, seconds_left
from conicnmf.solve.guard import in_words, is_fault, raise_noted
from conicnmf.types import Array

FALLBACK = ("ECOS", "CLARABEL", "SCS")
"""The order in which backends are tried when the preferred one fails."""

_FIRST_ORDER = "SCS"

_EXTRAS = {"PIQP": ("piqp", "fast"), "UNO": ("unopy", "nlp")}
"""The backends that extras bring: the module and the extra."""

ENOUGH = 1e-6
"""What a step needs of its programs: constraints and objective right to this part of their size."""

_TOLERANCES = {
    "ECOS": ("abstol", "reltol", "feastol"),
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
}
_OPTIONS: dict[str, dict[str, Any]] = {
    "ECOS": {"max_iters": 200},
    # A program with parameters would begin where the last one ended, on scalings that do not fit it.
    "CLARABEL": {"warm_start": False},
    "SCS": {"eps_abs": ENOUGH, "eps_rel": ENOUGH, "max_iters": 10_000, "warm_start": False},
    "UNO": {"logger": "SILENT", "max_iterations": 1000},
    "IPOPT": {"print_level": 0, "max_iter": 1000},
}
_TIME_LIMIT = {
    "CLARABEL": "time_limit",
    "SCS": "time_limit_secs",
    "OSQP": "time_limit",
    "UNO": "time_limit",
    "IPOPT": "max_wall_time",
}
_ITERATION_LIMIT = {"ECOS": "max_iters", "PIQP": "max_iter"}
"""Backends that know no time, and how their iterations are limited."""


def chain(preferred: str | None, what: str = "backend") -> tuple[str, ...]:
    """Return the backends to try, the preferred one first.

    Examples
    --------
    >>> chain("CLARABEL")
    ('CLARABEL', 'ECOS', 'SCS')
    """
    if preferred is None:
        return FALLBACK
    name = preferred.upper()
    installed = cp.installed_solvers()
    if name not in installed:
        if name in _EXTRAS:
            require(*_EXTRAS[name], f"the backend {name} needs")
        raise InputError(
            f"{what} must be an installed CVXPY solver, got {shown(preferred)}; "
            f"the installed ones are {', '.join(installed)}"
        )
    return (name, *(other for other in FALLBACK if other != name))


def _installed(name: Any, what: str) -> str:
    chain(name if isinstance(name, str) else shown(name), what)
    return str(name)


Backend: TypeAlias = Annotated[str, Reads(_installed)] | None
"""A setting that names an installed CVXPY solver."""


def solve_along(
    program: cp.Problem, variable: cp.Variable, backends: tuple[str, ...], doubted: bool = False
) -> tuple[Array | None, list[InnerSolve]]:
    """Solve a program; stop at the first backend whose answer is accurate.

    An answer is judged by the constraints at the point itself, whatever its label. That there is no
    feasible point has to be found by two backends; `doubted` says that one has. A first-order method
    comes last, and only where no other has found a point: it would need many thousand iterations to
    come nearer than what an interior-point method calls inaccurate.

    Returns the first point, or the first accurate one, or nothing, and a record of every call.
    """
    tried: list[InnerSolve] = []
    best: Array | None = None
    for backend in backends:
        if is_late() or (best is not None and backend == _FIRST_ORDER):
            break
        record = _judged(program, variable, solve_once(program, backend))
        tried.append(record)
        if record.ok and (best is None or record.status == cp.OPTIMAL):
            best = np.array(variable.value)
        if record.status == cp.OPTIMAL or sum(r.infeasible for r in tried) + doubted > 1:
            break
    return best, tried or [no_time(backends[0])]


def no_time(backend: str) -> InnerSolve:
    """Return the record of a call that was not made because no time was left."""
    return InnerSolve(backend, "no time left", 0, 0.0)


def _judged(program: cp.Problem, variable: cp.Variable, record: InnerSolve) -> InnerSolve:
    """Return the record with a status that is true of the point that was found."""
    if not record.ok:
        return record
    X = variable.value
    if X is None or not np.isfinite(X).all():
        for own in program.variables():  # CVXPY refuses to begin there, whichever is asked next
            own.save_value(None)
        return replace(record, status="not finite")
    if record.status != cp.OPTIMAL and not record.iterations:
        return replace(record, status="no iteration was made")
    with np.errstate(all="ignore"):
        violation = max(map(_violation, program.constraints), default=0.0)
    if not violation <= 10 * ENOUGH * max(1.0, float(np.abs(X).max())):
        return replace(record, status=f"{record.status}, but violated by {violation:.1e}")
    return record


def _violation(constraint: cp.Constraint) -> float:
    """Return how far a constraint is from holding at the point, in its own units."""
    if isinstance(constraint, cp.SOC):  # CVXPY divides by the norm here, be it zero
        t, X = (arg.value for arg in constraint.args)
        return float(np.max(np.linalg.norm(X, axis=constraint.axis) - t))
    return float(np.max(constraint.violation()))


def solve_once(program: cp.Problem, backend: str, **more: Any) -> InnerSolve:
    """Solve a program in place with one backend in the time that is left, and say how it went."""
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(), _silence(backend):
            # CVXPY warns of inaccurate answers; the status in the record says it.
            warnings.simplefilter("ignore")
            limit = _limit(program, backend, more)
            if limit is None:
                return replace(no_time(backend), seconds=time.perf_counter() - begin)
            program.solve(solver=backend, **(_options(program, backend) | more | limit))
        status, stats = program.status, program.solver_stats
        iterations = int(stats.num_iters or 0) if stats is not None else 0
    except BaseException as error:
        if not is_fault(error):
            raise
        status, iterations = f"error: {in_words(error)}", 0
    raise_noted()
    return InnerSolve(backend, status, iterations, time.perf_counter() - begin)


def _options(program: cp.Problem, backend: str) -> dict[str, Any]:
    """Return how a backend is asked to solve a program."""
    # With exponential cones 1e-9 is rarely reached, and tried for in many idle iterations.
    accuracy = 1e-8 if any(atom in EXP_ATOMS for atom in program.atoms()) else 1e-9
    return dict.fromkeys(_TOLERANCES.get(backend, ()), accuracy) | _OPTIONS.get(backend, {})


def _limit(program: cp.Problem, backend: str, more: dict[str, Any]) -> dict[str, Any] | None:
    """Return the option that keeps a backend within the time left, nothing where none is left."""
    if seconds_left() == np.inf:
        return {}
    if not more:
        program.get_problem_data(backend)  # CVXPY keeps it, and its time is no longer the backend's
    if backend in _ITERATION_LIMIT and not more:
        return _iteration_limit(program, backend)
    if is_late():
        return None
    return {_TIME_LIMIT[backend]: seconds_left()} if backend in _TIME_LIMIT else {}


def _iteration_limit(program: cp.Problem, backend: str) -> dict[str, Any] | None:
    """Return how many iterations there is time for, by the time that one of them takes."""
    option, begin = _ITERATION_LIMIT[backend], time.perf_counter()
    if is_late():
        return None
    program.solve(solver=backend, **{option: 1})
    spent = time.perf_counter() - begin
    affordable = int(min(seconds_left() / max(spent, 1e-9), 200))
    return {option: affordable} if affordable else None


def _silence(backend: str) -> AbstractContextManager[Any]:
    """Keep what a backend prints in spite of its settings from standard output."""
    return redirect_stdout(io.StringIO()) if backend == "SCS" else nullcontext()
