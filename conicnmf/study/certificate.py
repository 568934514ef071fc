"""Check a finished result by other routes than the one that found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.gains import remaining_gain
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Subproblem
from conicnmf.model.digest import differences
from conicnmf.model.tolerances import feasible_within
from conicnmf.results import Result, Status
from conicnmf.settings import Weight, Whole, door
from conicnmf.solve.choice import Stated
from conicnmf.solve.methods.base import SolverLike, as_solver
from conicnmf.study.check import Check
from conicnmf.study.idle_components import idle_components
from conicnmf.study.other_minima import gap_to_other_starts, global_gaps
from conicnmf.study.proofs import Proof, endless_fall, proved
from conicnmf.study.stationarity import remaining_descent
from conicnmf.types import Array, Factors

ON_SUPPORT = ", zeros kept"


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
    proves: Proof = "nothing"
    """What the checks prove together: that the result is a global minimum, or one of each block with
    the others held, that no block can lower the objective near it, that it is feasible, or that the
    objective is unbounded."""

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
        return "\n".join([*lines, *self._verdict()])

    def _verdict(self) -> list[str]:
        """Return what is proved, if anything is, and whether all is well."""
        said = [] if self.proves == "nothing" else [f"proves: {self.proves}"]
        return [*said, "certified" if self.ok else "NOT certified"]

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in self.rows()
        )
        return f"<table>{body}</table><p>{'<br>'.join(self._verdict())}</p>"


@door
def certify(
    problem: Stated,
    result: Result,
    *,
    feasibility: Weight = 1e-6,
    stationarity: Weight = 1e-2,
    restarts: Whole = 0,
    budget: Whole = 0,
    solver: SolverLike | None = None,
) -> Certificate:
    """Check that a result is what it claims to be.

    Parameters
    ----------
    problem : Problem
    result : Result
    feasibility : float
        The largest violation of a constraint that passes; single precision gets ten times that.
    stationarity : float
        The largest part of the objective that one more solve of a block, by a cone solver with
        the planes at the result, may still gain.
    restarts : int
        From how many other starts to solve again: the gap to the best of them is reported.
    budget : int
        How many cells a branch and bound may use, for each block with a bound on sparseness from
        below and for small problems as a whole, to prove that the result is a global minimum; see
        `global_block` and `global_minimum`. The gap that is left is reported.
    solver : Solver or str, optional
        The solver of the other starts, where that of the result has settings of its own.

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
    _check_same(problem, result)
    if not problem.holding.exact:
        raise InputError(
            "a certificate looks at all of V and H, which are in strips here; state the problem of "
            "some samples in memory, and ask for one of that"
        )
    if _single(result):
        feasibility = max(feasibility, feasible_within(result.factors))
    checks = [_status(problem, result), _finite(result)]
    if not checks[-1].ok:
        return Certificate(tuple(checks))
    if result.status is Status.UNBOUNDED:
        found = (_finite(result), endless_fall(problem, result, feasibility))
        return Certificate(found, "unbounded" if found[-1].ok else "nothing")
    checks += _feasibility(problem, result, feasibility)
    checks += _as_reported(problem, result, feasibility)
    gains = problem.gains(result.factors)
    if not problem.fits:
        gains = gains | remaining_gain(problem, result.factors)
    # Cone programs are exact in absolute numbers, so they see the problem in units of one.
    seen = problem.normalized()
    factors = seen.units.inward(
        {name: np.asarray(X, dtype=float) for name, X in result.factors.items()}
    )
    size = seen.units.within(max(abs(result.objective), _exact(problem, result)))
    checks += [
        _stationarity(held, B, result, size, stationarity)
        for held, B in seen.subproblems(factors)
        if held.block.name not in gains
    ]
    checks += [Check(f"stationary, {name}", g, stationarity) for name, g in gains.items()]
    checks += _trace(problem, result, feasibility)
    checks += _components(seen, factors, size, feasibility, stationarity)
    stated = max(abs(result.objective), _exact(problem, result))
    method = None if solver is None else as_solver(solver)
    checks += gap_to_other_starts(problem, result, restarts, method, stated)
    checks += global_gaps(problem, result, budget, stated, stationarity)
    return Certificate(tuple(checks), proved(problem, checks))


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


def _status(problem: BaseProblem, result: Result) -> Check:
    """Hold the status against the factors: a failure, or one that it should have been."""
    collapsed = problem.collapsed(result.factors) and result.status is not Status.COLLAPSED
    note = f"{result.status.name}, but a component is zero" if collapsed else result.status.name
    return Check(
        "status is no failure", float(collapsed or result.status.kind == "failed"), 0, note
    )


def _finite(result: Result) -> Check:
    """Count the entries that are no numbers; with any of them nothing else can be measured."""
    count = sum(int((~np.isfinite(X)).sum()) for X in result.factors.values())
    return Check("entries that are not finite", float(count), 0.0)


def _as_reported(problem: BaseProblem, result: Result, feasibility: float) -> Iterator[Check]:
    """Hold what the result reports against the factors, the objective by another route."""
    factors = result.factors
    relative, rounding = (1e-4, 1e-6) if _single(result) else (1e-7, 1e-12)
    # An exact fit leaves nothing but rounding, which is relative to V.
    gap = abs(problem.restated(factors) - result.objective)
    gap = 0.0 if gap <= rounding * problem.unit else gap / (abs(result.objective) or 1.0)
    yield Check("objective as reported", gap, relative)
    errors = {"": problem.relative_error(factors)} | problem.relative_errors(factors)
    reported = {"": result.relative_error} | result.relative_errors
    gaps = [_gap(errors[name], reported.get(name, np.inf), rounding) for name in errors]
    yield Check("relative error as reported", max(gaps), relative)
    worst = problem.violation(factors)
    yield Check("violation as reported", abs(worst - result.max_violation), feasibility)


def _gap(own: float, reported: float, rounding: float) -> float:
    """Return the relative difference; where nothing is reconstructed, both are no number."""
    if np.isnan(own) and np.isnan(reported):
        return 0.0
    gap = abs(own - reported)
    return 0.0 if gap <= rounding else gap / (abs(own) or 1.0)


def _stationarity(
    held: Subproblem, B: Array, result: Result, size: float, tolerance: float
) -> Check:
    """Return how much of the objective one block could still gain near the result."""
    block, promised = held.block, result.promises.stationary
    name = f"stationary, {block.name}"
    descent, note = remaining_descent(held, B, on_support=promised == "support")
    # A reward may cancel the rest of the objective, and is a part of its size all the same.
    own = abs(held.loss(B)) + sum(abs(penalty.value(B)) for penalty in block.penalties)
    size = max(size, own) or 1.0
    if not promised:
        return Check(name, descent / size, np.inf, _not_promised(result))
    return Check(name, descent / size, tolerance, note + ON_SUPPORT * (promised == "support"))


def _trace(problem: BaseProblem, result: Result, feasibility: float) -> Iterator[Check]:
    """Look for feasible iterates better than the result, and for rises that were ruled out."""
    values, violations = result.history.objective, result.history.violation
    seen = values[(violations <= feasibility) & np.isfinite(values)]
    whole = _whole(problem, result)
    # Objectives are differences of numbers of the size of V, and single precision has few digits.
    noise, relative = (1e-5, 1e-4) if _single(result) else (1e-12, 1e-6)
    size = max(abs(result.objective), noise / relative * whole) or 1.0
    if seen.size and result.promises.keeps_best:
        lost = max(0.0, result.objective - float(seen.min())) / size
        yield Check("best feasible iterate kept", lost, relative)
        # What is returned was an iterate, so a history without its objective is not its own.
        nearest = float(np.abs(values - result.objective).min())
        yield Check("history holds the result", nearest / size, relative)
    rose = values[1:] > values[:-1]  # between infinite values there is no difference
    rise = float((values[1:][rose] - values[:-1][rose]).max(initial=0.0)) / size
    promised = result.promises.monotone
    note = "" if promised else _not_promised(result)
    yield Check("trace never rises", rise, 0.1 * relative if promised else np.inf, note)


def _whole(problem: BaseProblem, result: Result) -> float:
    """Return the size of the numbers that were at stake: the data's, or what the start had."""
    values = result.history.objective
    started = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return max(started, problem.unit)


def _exact(problem: BaseProblem, result: Result) -> float:
    """Return the objective up to which a fit is exact: a gain counts in units of at least this."""
    return (1e-4 if _single(result) else 1e-6) * _whole(problem, result)


def _single(result: Result) -> bool:
    return any(X.dtype == np.float32 for X in result.factors.values())


def _not_promised(result: Result) -> str:
    return f"{result.solver.split('(')[0]} does not promise it"


def _components(
    problem: BaseProblem, factors: Factors, size: float, feasibility: float, tolerance: float
) -> Iterator[Check]:
    """Ask what components that contribute nothing, or the same as another, could do instead."""
    for pair in idle_components(problem, factors, feasibility):
        for idle in pair:
            note = f"{idle.count}, gain if they are given work" if idle.count else ""
            if idle.gain is None:
                yield Check(
                    idle.name, 0.0, np.inf, f"{idle.count}, no other work is known for them"
                )
            else:
                yield Check(idle.name, max(0.0, idle.gain) / (size or 1.0), tolerance, note)
