"""One call of `solve`: how it ended, what came back, and what is wrong with that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import conicnmf as cn
from conicnmf.extend import STARTS

from .calls import SECONDS, Caller, PlantedError, clock
from .findings import Finding, line, raw
from .results import judge, judge_seen, judge_status


@dataclass(eq=False)
class Attempt:
    """How a call ended in a word, the result if there is one, and the findings.

    `X` are the result's values under the case's names.
    """

    end: str = ""
    result: Any = None
    X: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, finding):
        """Keep a finding, which is then how the call ended."""
        self.findings.append(finding)
        self.end = finding.kind


def attempt(case, door, **changes):
    """State a problem through a door, solve it and judge what comes back."""
    made = Attempt()
    caller = None if case.method.callback == "none" else Caller(case.method.callback)
    thrown, reasons = False, []
    try:
        stated = case.state(door)
        reasons = _reasons(case, stated.problem)
        options = {"callback": caller, "time_limit": SECONDS[case.method.limit]}
        if reasons and not case.method.insists:
            changes, reasons = {"solver": None, **changes}, []
        with clock(case.method.limit):
            made.result = stated.problem.solve(**case.method.options(stated) | options | changes)
    except cn.SolveError as error:
        made.result, thrown = error.result, True
        if made.result is None:  # it failed before there was a start
            made.add(Finding("no result", line(error)))
            return made
    except cn.ConicNMFError as error:
        _own_error(case, made, error, reasons)
        return made
    except PlantedError as error:
        made.add(raw(error, "lost to callback"))
        return made
    except Exception as error:
        made.add(raw(error))
        return made
    made.end = made.result.status.name
    made.X = stated.read(made.result.factors)
    seen = [] if caller is None else [(it, stated.read(X)) for it, X in caller.seen]
    made.findings += _judged(case, made, thrown, reasons, seen)
    return made


def _reasons(case, problem):
    """Return why the named solver says that it does not fit."""
    solver = None if case.method.wrong == "solver" else case.method.made()
    if isinstance(solver, str):
        solver = cn.extend.SOLVERS.find(solver)()
    return [] if solver is None else solver.mismatches(problem)


def _own_error(case, made, error, reasons):
    """Compare an error of the package's with what the case is."""
    made.end = type(error).__name__
    told = line(error)
    if isinstance(error, cn.IncompatibleError):
        if not reasons and case.method.solver != "None" and case.method.insists:
            made.add(Finding("fits", f"{case.method.solver} fits, then: {told}"))
    elif isinstance(error, cn.InfeasibleError):
        if case.feasible:
            made.add(Finding("called infeasible", f"a feasible problem: {told}"))
    elif not case.refused and not _picky(case):
        made.add(Finding("refused", f"a sound case: {told}"))


def _judged(case, made, thrown, reasons, seen):
    if case.refused:
        yield Finding("accepted", f"a wrong {case.refused} was not refused")
    if reasons:
        yield Finding("fits", f"{case.method.solver} was run though {line(reasons[0])}")
    yield from judge(case, made.result, made.X)
    yield from judge_status(case, made.result, thrown)
    yield from judge_seen(case, made.result, made.X, seen)
    if hasattr(case, "promised"):
        yield from case.promised(made.result, made.X)


def _picky(case):
    """Whether the start may be refused: it asks something of the data or of the terms."""
    start = case.method.start.lower()
    return any(name.lower() in start for name in STARTS.names() if name not in ("Random", "Given"))
