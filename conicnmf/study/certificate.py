"""Check a finished result by other routes than the one that found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.gains import remaining_gain
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Subproblem
from conicnmf.model.digest import differences
from conicnmf.results import Result
from conicnmf.solve.choice import as_problem
from conicnmf.solve.needs import cones_on_orthant, conic_constraints
from conicnmf.solve.programs.backends import chain
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.tangent import planes_at
from conicnmf.types import Array

_DUPLICATE = 1 - 1e-6
_ROUNDING = 1e-7
"""Differences below this part of the data's own size are rounding, however small the objective."""


@dataclass(frozen=True)
class Check:
    """One line of a certificate: a measured number against its tolerance."""

    name: str
    measured: float
    tolerance: float
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the number is within its tolerance."""
        return bool(self.measured <= self.tolerance)


@dataclass(frozen=True)
class Certificate:
    """What was checked of a result; true when everything passed.

    Examples
    --------
    >>> Certificate((Check("violation", 0.0, 1e-6), Check("gain", 0.5, 1e-2)))
    check      measured  tolerance
    violation  0         1e-06      ok
    gain       0.5       1e-02      FAIL
    NOT certified
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the table as text: what, measured, tolerance, verdict, note."""
        return [
            (c.name, f"{c.measured:.3g}", f"{c.tolerance:.0e}", "ok" if c.ok else "FAIL", c.note)
            for c in self.checks
        ]

    def __str__(self) -> str:
        head = ("check", "measured", "tolerance", "", "")
        table = [head, *self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(5)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join([*lines, "certified" if self.ok else "NOT certified"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(
            "<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in self.rows()
        )
        return f"<table>{body}</table><p>{'certified' if self.ok else 'NOT certified'}</p>"


def certify(
    problem: BaseProblem,
    result: Result,
    *,
    feasibility: float = 1e-6,
    stationarity: float = 1e-2,
) -> Certificate:
    """Check that a result is what it claims to be.

    Parameters
    ----------
    problem : Problem
    result : Result
    feasibility : float
        The largest violation of a constraint that passes.
    stationarity : float
        The largest part of the objective that one more solve of a block, by a cone solver with
        the planes at the result, may still gain.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])
    >>> bool(problem.solve(cn.HALS(), stop=cn.RelDecrease(1e-8)).certificate())
    True
    """
    problem = as_problem(problem)
    _check_same(problem, result)
    checks = list(_feasibility(problem, result, feasibility))
    checks.append(_objective(problem, result))
    gains = problem.gains(result.factors)
    if not problem.fits:
        gains = gains | remaining_gain(problem, result.factors)
    factors = {name: np.asarray(X, dtype=float) for name, X in result.factors.items()}
    checks += [
        _stationarity(held, B, abs(result.objective), stationarity)
        for held, B in problem.subproblems(factors)
        if held.block.name not in gains
    ]
    checks += [Check(f"stationary, {name}", g, stationarity) for name, g in gains.items()]
    checks += _trace(problem, result, feasibility)
    checks += _components(problem, result)
    return Certificate(tuple(checks))


def _check_same(problem: BaseProblem, result: Result) -> None:
    for name, shape in problem.shapes.items():
        own = result.factors[name].shape if name in result.factors else "no such variable"
        if own != shape:
            raise InputError(
                f"the result's {name} has shape {own}, the problem's {shape}; "
                "certify a result with the problem it came from"
            )
    if result.problem is not problem:
        for difference in differences(result.digest, problem.digest):
            raise InputError(
                f"the result is one of another problem: {difference}; certify a result with the "
                "problem it came from"
            )


def _feasibility(problem: BaseProblem, result: Result, tolerance: float) -> Iterator[Check]:
    """Measure every constraint on the factors themselves, not from the result's own report."""
    for name, measured in problem.violations(result.factors).items():
        yield Check(f"feasible, {name}", measured, tolerance)


def _objective(problem: BaseProblem, result: Result) -> Check:
    """Evaluate the objective by another route than the solver's."""
    again = problem.restated(result.factors)
    # An exact fit leaves nothing but rounding, which is relative to V.
    gap = abs(again - result.objective)
    gap = 0.0 if gap <= 1e-12 * problem.unit else gap / (abs(result.objective) or 1.0)
    single = any(X.dtype == np.float32 for X in result.factors.values())
    return Check("objective as reported", gap, 1e-4 if single else 1e-7)


def _stationarity(held: Subproblem, B: Array, objective: float, tolerance: float) -> Check:
    """Return how much of the objective one block could still gain near the result."""
    block = held.block
    name = f"stationary, {block.name}"
    if not any(conic_constraints(block)) and not any(cones_on_orthant(block)):
        best = _solve_linearized(held, B)
        if best is not None:
            # Of an exact fit nothing is left to gain but rounding, which is relative to V.
            size = max(objective, _ROUNDING * block.unit) or 1.0
            gain = max(0.0, held.objective(B) - held.objective(best)) / size
            return Check(name, gain, tolerance, "gain of a cone solver with planes at the result")
    if block.projection is not None and "gradient" in block.abilities:
        moved = np.linalg.norm(block.projection(B - held.step_size * held.gradient(B)) - B)
        size = float(np.linalg.norm(B)) or 1.0
        return Check(name, float(moved) / size, 10 * tolerance, "move of a projected gradient step")
    return Check(name, np.inf, tolerance, "no independent route could solve the block")


def _solve_linearized(held: Subproblem, B: Array) -> Array | None:
    """Solve the block by plain CVXPY with every reverse-convex constraint linearized at B."""
    block = held.block
    cuts = planes_at(block, B)
    best, _ = PlainProgram(block).solve(held.reduced() or held, cuts, chain("CLARABEL"))
    return best


def _trace(problem: BaseProblem, result: Result, feasibility: float) -> Iterator[Check]:
    """Look for feasible iterates better than the result, and for rises that were ruled out."""
    values, violations = result.history.objective, result.history.violation
    seen = values[violations <= feasibility]
    whole = max(float(np.abs(values[np.isfinite(values)]).max(initial=0.0)), problem.unit)
    size = max(abs(result.objective), _ROUNDING * whole) or 1.0
    if seen.size and result.promises.keeps_best:
        lost = max(0.0, result.objective - float(seen.min())) / size
        yield Check("best feasible iterate kept", lost, 1e-6)
    rise = max(0.0, float(np.diff(values).max(initial=0.0))) / size
    promised = result.promises.monotone
    note = "" if promised else f"{result.solver.split('(')[0]} does not promise it"
    yield Check("trace never rises", rise, 1e-7 if promised else np.inf, note)


def _components(problem: BaseProblem, result: Result) -> Iterator[Check]:
    """Count components that contribute nothing, and pairs that are the same."""
    pairs, labels = problem.components(result.factors), problem.component_labels
    for place, (columns, rows) in enumerate(pairs):
        of = f", {labels[place]}" if len(pairs) > 1 and labels else ""
        W, H = (np.asarray(X, dtype=float) for X in (columns, rows))
        sizes = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
        dead = sizes <= 1e-8 * sizes.max(initial=0.0)
        yield Check(f"dead components{of}", float(dead.sum()), 0.0)
        alive = W[:, ~dead] / np.linalg.norm(W[:, ~dead], axis=0)
        alike = np.abs(np.triu(alive.T @ alive, k=1)) > _DUPLICATE
        yield Check(f"duplicate components{of}", float(alike.sum()), 0.0)
