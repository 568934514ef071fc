"""Check a finished result by other routes than the one that found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from conicnmf._types import Array
from conicnmf.blocks import Block, Blocks
from conicnmf.compat import cones_on_orthant, conic_constraints
from conicnmf.conic.backends import chain
from conicnmf.conic.cuts import Cut
from conicnmf.conic.model import PlainProgram
from conicnmf.errors import InputError
from conicnmf.factorization import Factorization, as_statement
from conicnmf.problem import Problem
from conicnmf.result import Result
from conicnmf.statement import Statement

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
    problem: Problem | Statement,
    result: Result,
    *,
    feasibility: float = 1e-6,
    stationarity: float = 1e-2,
) -> Certificate:
    """Check that a result is what it claims to be.

    Parameters
    ----------
    problem : Problem or Statement
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
    statement = as_statement(problem)
    _check_shapes(statement, result)
    checks = list(_feasibility(statement, result, feasibility))
    if isinstance(statement, Factorization):
        blocks = statement.blocks
        checks.append(_objective(blocks, result))
        checks += [_stationarity(blocks, block, result, stationarity) for block in blocks]
    else:
        checks.append(_restated(statement, result))
        gains = statement.gains(result.factors)
        checks += [Check(f"stationary, {name}", g, stationarity) for name, g in gains.items()]
    checks += _trace(statement, result, feasibility)
    if isinstance(statement, Factorization):
        checks += _components(result)
    return Certificate(tuple(checks))


def _check_shapes(statement: Statement, result: Result) -> None:
    shapes = statement.shapes
    for name, shape in shapes.items():
        own = result.factors[name].shape if name in result.factors else "no such variable"
        if own != shape:
            raise InputError(
                f"the result's {name} has shape {own}, the problem's {shape}; "
                "certify a result with the problem it came from"
            )


def _feasibility(statement: Statement, result: Result, tolerance: float) -> Iterator[Check]:
    """Measure every constraint on the factors themselves, not from the result's own report."""
    for name, measured in statement.violations(result.factors).items():
        yield Check(f"feasible, {name}", measured, tolerance)


def _restated(statement: Statement, result: Result) -> Check:
    """Evaluate the objective again from the variables."""
    gap = abs(statement.objective(result.factors) - result.objective)
    return Check("objective as reported", gap / (abs(result.objective) or 1.0), 1e-7)


def _objective(blocks: Blocks, result: Result) -> Check:
    """Evaluate the objective from the plain residual, or from CVXPY's expression."""
    problem, W, H = blocks.problem, result.W, result.H
    loss = problem.loss
    if issparse(problem.V) or "expression" not in loss.abilities:
        value = loss.value(problem.V, W, H)
    else:
        value = float(loss.expression(problem.V, W, H).value)
    again = blocks.total(value, result.factors)
    gap = abs(again - result.objective) / (abs(result.objective) or 1.0)
    single = any(X.dtype == np.float32 for X in result.factors.values())
    # An exact fit leaves nothing but rounding, which is relative to V.
    floor = 1e-12 * blocks.loss({"W": 0 * W, "H": 0 * H})
    gap = 0.0 if abs(again - result.objective) <= floor else gap
    return Check("objective as reported", gap, 1e-4 if single else 1e-7)


def _stationarity(blocks: Blocks, block: Block, result: Result, tolerance: float) -> Check:
    """Return how much of the objective one block could still gain near the result."""
    A, B = (np.asarray(X, dtype=float) for X in blocks.view(block, result.factors))
    name = f"stationary, {block.name}"
    if not any(conic_constraints(block)) and not any(cones_on_orthant(block)):
        best = _solve_linearised(block, A, B)
        if best is not None:
            before, after = block.objective(A, B), block.objective(A, best)
            # Of an exact fit nothing is left to gain but rounding, which is relative to V.
            size = max(abs(result.objective), _ROUNDING * abs(block.zero_loss)) or 1.0
            gain = max(0.0, before - after) / size
            return Check(name, gain, tolerance, "gain of a cone solver with planes at the result")
    if block.projection is not None and "gradient" in block.loss.abilities:
        step = 1 / (2 * float(np.linalg.norm(A, 2)) ** 2 or 1.0)
        moved = np.linalg.norm(block.projection(B - step * block.gradient(A, B)) - B)
        size = float(np.linalg.norm(B)) or 1.0
        return Check(name, float(moved) / size, 10 * tolerance, "move of a projected gradient step")
    return Check(name, np.inf, tolerance, "no independent route could solve the block")


def _solve_linearised(block: Block, A: Array, B: Array) -> Array | None:
    """Solve the block by plain CVXPY with every reverse-convex constraint linearised at B."""
    # Every piece is held in its half-space, which lies in the feasible set and contains it.
    cuts = [
        Cut(c.tangent(c.project(B)), np.ones(len(c.violation(B)), dtype=bool))
        for c in block.reverse_convex
    ]
    loss = block.loss
    target = loss.reduced(block.Y, A) if "reduced" in loss.abilities else A
    best, _ = PlainProgram(block).solve(target, cuts, chain("CLARABEL"))
    return best


def _trace(statement: Statement, result: Result, feasibility: float) -> Iterator[Check]:
    """Look for feasible iterates better than the result, and for rises that were ruled out."""
    values, violations = result.history.objective, result.history.violation
    seen = values[violations <= feasibility]
    whole = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if isinstance(statement, Factorization):
        whole = max(whole, abs(statement.blocks.H.zero_loss))
    size = max(abs(result.objective), _ROUNDING * whole) or 1.0
    name = result.solver.split("(")[0]
    used = [other for other in statement.solvers() if other.name == name]
    if seen.size and all(solver.states_objective for solver in used):
        lost = max(0.0, result.objective - float(seen.min())) / size
        yield Check("best feasible iterate kept", lost, 1e-6)
    rise = max(0.0, float(np.diff(values).max(initial=0.0))) / size
    promised = any(solver.monotone and solver.states_objective for solver in used)
    note = "" if promised else f"{name} does not promise it"
    yield Check("trace never rises", rise, 1e-7 if promised else np.inf, note)


def _components(result: Result) -> Iterator[Check]:
    """Count components that contribute nothing, and pairs that are the same."""
    W, H = (np.asarray(X, dtype=float) for X in (result.W, result.H))
    sizes = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
    dead = sizes <= 1e-8 * sizes.max(initial=0.0)
    yield Check("dead components", float(dead.sum()), 0.0)
    columns = W[:, ~dead] / np.linalg.norm(W[:, ~dead], axis=0)
    alike = np.abs(np.triu(columns.T @ columns, k=1)) > _DUPLICATE
    yield Check("duplicate components", float(alike.sum()), 0.0)
