"""One call of `solve`: how it ended, what came back, and what is wrong with that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import conicnmf as cn

from .calls import SECONDS, Caller, PlantedError, clock
from .findings import Finding, line, raw
from .results import judge, judge_seen, judge_status


@dataclass(eq=False)
class Attempt:
    """How a call ended in a word, the result if there is one, and the findings."""

    end: str = ""
    result: Any = None
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
        problem = case.state(door)
        reasons = _reasons(case, problem)
        options = {"callback": caller, "time_limit": SECONDS[case.method.limit]}
        with clock(case.method.limit):
            made.result = problem.solve(**case.method.options() | options | changes)
    except cn.SolveError as error:
        made.result, thrown = error.result, True
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
    made.findings += _judged(case, made.result, thrown, reasons, caller)
    return made


def _reasons(case, problem):
    """Return why the named solver says that it does not fit."""
    solver = case.method.made() if not case.method.wrong else None
    if isinstance(solver, str):
        solver = cn.extend.SOLVERS.find(solver)()
    return [] if solver is None else solver.mismatches(problem)


def _own_error(case, made, error, reasons):
    """Compare an error of the package's with what the case is."""
    made.end = type(error).__name__
    told = line(error)
    if isinstance(error, cn.IncompatibleError):
        if not reasons and case.method.solver != "None":
            made.add(Finding("fits", f"{case.method.solver} fits, then: {told}"))
    elif isinstance(error, cn.InfeasibleError):
        if case.feasible:
            made.add(Finding("called infeasible", f"a feasible problem: {told}"))
    elif not case.refused and not _picky(case):
        made.add(Finding("refused", f"a sound case: {told}"))


def _judged(case, result, thrown, reasons, caller):
    if case.refused:
        yield Finding("accepted", f"a wrong {case.refused} was not refused")
    if reasons:
        yield Finding("fits", f"{case.method.solver} was run though {line(reasons[0])}")
    yield from judge(case, result)
    yield from judge_status(case, result, thrown)
    if caller is not None:
        yield from judge_seen(case, result, caller.seen)


def _picky(case):
    """Whether the start may be refused: it asks something of the data or of the terms."""
    return "NNDSVD" in case.method.start or "ConeSearch" in case.method.start
