"""Solving a CVXPY program with one backend after the other until one answers."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

import cvxpy as cp
import numpy as np
from cvxpy.atoms import EXP_ATOMS

from conicnmf.errors import InputError, require
from conicnmf.results.history import InnerSolve
from conicnmf.settings import Reads
from conicnmf.solve.guard import in_words, is_fault, raise_noted
from conicnmf.types import Array

FALLBACK = ("ECOS", "CLARABEL", "SCS")
"""The order in which backends are tried when the preferred one fails."""

_FIRST_ORDER = "SCS"

_EXTRAS = {"PIQP": ("piqp", "fast"), "UNO": ("unopy", "nlp")}
"""The backends that extras bring: the module and the extra."""

_TOLERANCES = {
    "ECOS": ("abstol", "reltol", "feastol"),
    "CLARABEL": ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
}
_OPTIONS: dict[str, dict[str, Any]] = {
    "ECOS": {"max_iters": 200},
    "SCS": {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 50_000},
    "UNO": {"logger": "SILENT"},
    "IPOPT": {"print_level": 0},
}
_TIME_LIMIT = {
    "CLARABEL": "time_limit",
    "SCS": "time_limit_secs",
    "UNO": "time_limit",
    "IPOPT": "max_wall_time",
}


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
            f"{what} must be an installed CVXPY solver, got {preferred!r}; "
            f"installed are {', '.join(installed)}"
        )
    return (name, *(other for other in FALLBACK if other != name))


def _installed(name: Any, what: str) -> str:
    chain(name if isinstance(name, str) else repr(name), what)
    return str(name)


Backend: TypeAlias = Annotated[str, Reads(_installed)] | None
"""A setting that names an installed CVXPY solver."""


def solve_along(
    program: cp.Problem,
    variable: cp.Variable,
    backends: tuple[str, ...],
    seconds: float | None = None,
) -> tuple[Array | None, list[InnerSolve]]:
    """Solve a program; stop at the first backend that is accurate or proves infeasibility.

    A first-order method comes last, and only where no other has found a point: it would need many
    thousand iterations to come nearer than what an interior-point method calls inaccurate.

    Returns the variable's value, the least inaccurate one when no backend was accurate, and a
    record of every call.
    """
    tried: list[InnerSolve] = []
    best: Array | None = None
    for backend in backends:
        if backend == _FIRST_ORDER and best is not None:
            break
        record = solve_once(program, backend, seconds)
        if record.ok and not np.isfinite(variable.value).all():
            record = replace(record, status="not finite")
        tried.append(record)
        if record.ok and (best is None or record.status == cp.OPTIMAL):
            best = np.array(variable.value)
        if record.status == cp.OPTIMAL or record.infeasible:
            break
    return best, tried


def solve_once(
    program: cp.Problem, backend: str, seconds: float | None = None, **more: Any
) -> InnerSolve:
    """Solve a program in place with one backend, and say how it went."""
    # With exponential cones 1e-9 is rarely reached, and tried for in many idle iterations.
    accuracy = 1e-8 if any(atom in EXP_ATOMS for atom in program.atoms()) else 1e-9
    options = dict.fromkeys(_TOLERANCES.get(backend, ()), accuracy)
    options |= _OPTIONS.get(backend, {}) | more
    if seconds is not None and backend in _TIME_LIMIT:
        options[_TIME_LIMIT[backend]] = max(seconds, 1e-3)
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            # CVXPY warns of inaccurate answers; the status in the record says it.
            warnings.simplefilter("ignore")
            program.solve(solver=backend, **options)
        status, stats = program.status, program.solver_stats
        iterations = int(stats.num_iters or 0) if stats is not None else 0
    except BaseException as error:
        if not is_fault(error):
            raise
        status, iterations = f"error: {in_words(error)}", 0
    raise_noted()
    return InnerSolve(backend, status, iterations, time.perf_counter() - begin)
