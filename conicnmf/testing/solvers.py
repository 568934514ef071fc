"""`check_solver`: a solver must keep the promises that the engine and users rely on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.model.problem import Problem
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import Result, Status
from conicnmf.settings import Count, checks_arguments
from conicnmf.solve.engine import solve
from conicnmf.solve.methods.base import AnySolver
from conicnmf.solve.stop import MaxIter
from conicnmf.testing._expect import expect, expect_close, untouched
from conicnmf.testing._problems import edge_problems, fits, named, regular_problems
from conicnmf.types import Factors

_RISE = 1e-9
_PATIENCE = 40


@checks_arguments
def check_solver(
    solver: AnySolver,
    problem: Problem | Mapping[str, Problem] | None = None,
    *,
    monotone: bool | None = None,
    max_iter: Count = 6,
) -> None:
    """Check that a solver is deterministic, honest, feasible and leaves its inputs alone.

    Parameters
    ----------
    solver : Solver
    problem : Problem or dict of str to Problem, optional
        What to solve. By default small problems of many kinds, those the solver fits, then data at
        the edge: one sample, zero rows and columns, repeated columns, too many components, large
        and small numbers.
    monotone : bool, optional
        Whether the objective must never rise; by default what the solver claims of itself.
    max_iter : int
        The iterations on each problem.

    Raises
    ------
    AssertionError
        With a sentence that names the broken promise and the problem.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> problem = cn.factorize(np.random.default_rng(0).random((6, 5)), 2)
    >>> check_solver(cn.HALS(), problem, monotone=True)
    >>> from dataclasses import dataclass
    >>> from conicnmf.extend import BlockSolver, Update
    >>> @dataclass(frozen=True)
    ... class Idle(BlockSolver):
    ...     def update(self, held, B, memo):
    ...         return Update(B)
    >>> check_solver(Idle(), problem)
    Traceback (most recent call last):
    AssertionError: Idle on the problem does not improve on its start
    """
    _frozen(solver)
    falls = solver.monotone if monotone is None else monotone
    before = repr(vars(solver))
    regular = regular_problems(solver) if problem is None else named(problem)
    regular = {name: stated for name, stated in regular.items() if fits(stated, solver)}
    expect(regular, f"{solver.name} fits none of the problems, look at its needs")
    for name, stated in regular.items():
        where = f"{solver.name} on {name}"
        result = _run(solver, stated, where, max_iter)
        _useful(result, where)
        _honest_convergence(solver, stated, result, where)
        if falls:
            rise = float(np.diff(result.history.objective).max(initial=0.0))
            scale = abs(result.history[0].objective)
            expect(rise <= _RISE * scale, f"{where} lets the objective rise by {rise:.3g}")
    if problem is None:
        for name, stated in edge_problems(solver).items():
            _run(solver, stated, f"{solver.name} on {name}", max_iter)
        _single_precision(solver, max_iter)
    expect(repr(vars(solver)) == before, f"{solver.name} keeps state on itself; return it as memo")


def independent_objective(problem: Problem, factors: Factors) -> float:
    """Return the stated objective through CVXPY where the terms have an expression."""
    total = problem.offset + sum(addend.restated(factors) for addend in problem.addends)
    for block in problem.blocks:
        X = block.rows(factors)
        for penalty in block.penalties:
            known = "expression" in penalty.abilities
            total += float(penalty.expression(cp.Constant(X)).value) if known else penalty.value(X)
    return total


def _frozen(solver: AnySolver) -> None:
    for field in dataclasses.fields(solver):
        try:
            setattr(solver, field.name, getattr(solver, field.name))
        except dataclasses.FrozenInstanceError:
            continue
        raise AssertionError(f"{solver.name}.{field.name} can be set; use @dataclass(frozen=True)")


def _run(solver: AnySolver, problem: Problem, where: str, max_iter: int) -> Result:
    """Solve twice and check everything that must hold on any data."""
    zeros: Factors = {name: np.zeros(shape) for name, shape in problem.shapes.items()}
    scale = abs(independent_objective(problem, zeros)) or 1.0
    seen: list[float] = []

    def watch(_: Any, factors: Factors) -> None:
        seen.append(independent_objective(problem, factors))

    with untouched(where, *(fit.V for fit in problem.fits)):
        result = solve(problem, solver, stop=max_iter, seed=1, throw=False, callback=watch)
        again = solve(problem, solver, stop=max_iter, seed=1, throw=False)
    same = all(np.array_equal(X, again.factors[name]) for name, X in result.factors.items())
    expect(same, f"{where} gives two answers for one seed; draw from context.rng")
    for name, shape in problem.shapes.items():
        X = result.factors[name]
        expect(X.shape == shape, f"{where} returns {name} of shape {X.shape}, not {shape}")
        expect(np.isfinite(X).all(), f"{where} returns {name} with NaN or infinite entries")
    told = result.history.objective[1 : len(seen) + 1]
    expect_close(told, seen, 1e-7, f"{where} reports another objective than its factors", scale)
    _honest_status(problem, result, where, max_iter)
    value = independent_objective(problem, result.factors)
    expect_close(result.objective, value, 1e-7, f"{where} returns another objective", scale)
    return result


def _honest_status(problem: Problem, result: Result, where: str, max_iter: int) -> None:
    violation = 0.0
    for block in problem.blocks:
        violation = max(violation, block.violation(block.rows(result.factors)))
    feasible = violation <= FEASIBLE
    owned = feasible or result.status.kind == "failed"
    expect(owned, f"{where} says {result.status.name} with a violation of {violation:.3g}")
    counted = result.n_iter == max_iter or result.status is not Status.MAX_ITER
    expect(counted, f"{where} says MAX_ITER after {result.n_iter} of {max_iter} iterations")


def _useful(result: Result, where: str) -> None:
    """Expect a feasible answer that is better than the start."""
    status = result.status
    remarks = " ".join(result.remarks)
    expect(status.kind != "failed", f"{where} ends {status.name}: {status.value} {remarks}")
    begin = result.history[0].objective
    better = result.objective < begin - 1e-6 * abs(begin)
    expect(better, f"{where} does not improve on its start")


def _honest_convergence(solver: AnySolver, problem: Problem, short: Result, where: str) -> None:
    """Expect that a converged answer does not fall much further, and starts stay as given."""
    start = {"W": short.W.copy(), "H": short.H.copy()}
    with untouched(f"{where}, given a start,", *start.values()):
        rule = solver.default_stop | MaxIter(_PATIENCE)
        result = solve(problem, solver, init=(start["W"], start["H"]), stop=rule, throw=False)
    if result.status is not Status.CONVERGED:
        return
    longer = MaxIter(result.n_iter + 5)
    further = solve(problem, solver, init=(start["W"], start["H"]), stop=longer, throw=False)
    fall = result.objective - further.objective
    allowed = 1e-2 * abs(result.objective) + 1e-6 * abs(result.history[0].objective)
    expect(
        fall <= allowed, f"{where} says CONVERGED, but falls by {fall:.3g} in the next iterations"
    )


def _single_precision(solver: AnySolver, max_iter: int) -> None:
    """Expect float32 factors for float32 data."""
    for name, problem in regular_problems(solver, np.float32).items():
        result = solve(problem, solver, stop=max_iter, throw=False)
        kinds = {X.dtype for X in result.factors.values()}
        kept = kinds == {np.dtype(np.float32)}
        listed = ", ".join(map(str, kinds))
        expect(kept, f"{solver.name} on {name} turns float32 into {listed}")
