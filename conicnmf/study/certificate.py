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
from conicnmf.model.large import LargeProblem
from conicnmf.model.tolerances import feasible_within
from conicnmf.results import Result, Status
from conicnmf.settings import Weight, Whole, checks_arguments
from conicnmf.solve.choice import Stated
from conicnmf.solve.methods.base import SolverLike, as_solver
from conicnmf.study.check import Check
from conicnmf.study.idle_components import idle_components
from conicnmf.study.other_minima import gap_to_other_starts, global_gaps
from conicnmf.study.proofs import Proof, endless_fall, proved
from conicnmf.study.reported import (
    as_reported,
    exact_fit,
    feasibility_of,
    is_single,
    not_promised,
    status_of,
    trace_of,
)
from conicnmf.study.stationarity import remaining_descent
from conicnmf.study.strips import checks_in_strips
from conicnmf.types import Array, Factors

ON_SUPPORT = ", zeros kept"


@dataclass(frozen=True)
class Certificate:
    """The checks of a result; true if all of them passed.

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


@checks_arguments
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
        The largest violation of a constraint that passes; ten times that in single precision.
    stationarity : float
        The largest fraction of the objective that one more solve of a block, by a cone solver with
        the planes at the result, may still gain.
    restarts : int
        Solve again from this many other starts, and report the gap to the best of them.
    budget : int
        The largest number of cells of a branch and bound that tries to prove that the result is a
        global minimum, for each block with a lower bound on sparseness and for small problems as a
        whole; see `global_block` and `global_minimum`. The remaining gap is reported.
    solver : Solver or str, optional
        The solver for the other starts; needed if the result's solver had settings other than the
        defaults.

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
    if is_single(result):
        feasibility = max(feasibility, feasible_within(result.factors))
    if isinstance(problem, LargeProblem):
        if restarts or budget:
            raise InputError(
                "other starts and bounds need data in memory, but V is in strips; leave restarts "
                "and budget out, or state the problem of some samples"
            )
        found = checks_in_strips(problem, result, feasibility, stationarity)
        return Certificate(found, proved(problem, found))
    checks = [status_of(problem, result), _finite(result)]
    if not checks[-1].ok:
        return Certificate(tuple(checks))
    if result.status is Status.UNBOUNDED:
        falls = (_finite(result), endless_fall(problem, result, feasibility))
        return Certificate(falls, "unbounded" if falls[-1].ok else "nothing")
    checks += feasibility_of(problem, result, feasibility)
    checks += as_reported(problem, result, feasibility)
    gains = problem.gains(result.factors)
    if not problem.fits:
        gains = gains | remaining_gain(problem, result.factors)
    # Cone programs are exact in absolute numbers, so they see the problem in units of one.
    seen = problem.normalized()
    factors = seen.units.inward(
        {name: np.asarray(X, dtype=float) for name, X in result.factors.items()}
    )
    size = seen.units.within(max(abs(result.objective), exact_fit(problem, result)))
    checks += [
        _stationarity(held, B, result, size, stationarity)
        for held, B in seen.subproblems(factors)
        if held.block.name not in gains
    ]
    checks += [Check(f"stationary, {name}", g, stationarity) for name, g in gains.items()]
    checks += trace_of(problem, result, feasibility)
    checks += _components(seen, factors, size, feasibility, stationarity)
    stated = max(abs(result.objective), exact_fit(problem, result))
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
                f"the result belongs to another problem: {difference}; certify a result with the "
                "problem it came from"
            )


def _finite(result: Result) -> Check:
    """Count the entries that are no numbers; with any of them nothing else can be measured."""
    count = sum(int((~np.isfinite(X)).sum()) for X in result.factors.values())
    return Check("non-finite entries", float(count), 0.0)


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
        return Check(name, descent / size, np.inf, not_promised(result))
    return Check(name, descent / size, tolerance, note + ON_SUPPORT * (promised == "support"))


def _components(
    problem: BaseProblem, factors: Factors, size: float, feasibility: float, tolerance: float
) -> Iterator[Check]:
    """Ask what components that contribute nothing, or the same as another, could do instead."""
    for pair in idle_components(problem, factors, feasibility):
        for idle in pair:
            note = f"{idle.count}, gain if they are put to use" if idle.count else ""
            if idle.gain is None:
                yield Check(
                    idle.name, 0.0, np.inf, f"{idle.count}, no better use was found for them"
                )
            else:
                yield Check(idle.name, max(0.0, idle.gain) / (size or 1.0), tolerance, note)
