"""Run a case and collect every finding about it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import conicnmf as cn

from .judge import Finding, judge, violation
from .watch import fingerprints, watched

SILENT = (
    "objective",
    "relative error",
    "infeasible",
    "best kept",
    "rise",
    "shape",
    "not finite",
    "input changed",
    "differs",
    "saved",
    "certified",
    "doors",
    "called infeasible",
)
"""Kinds of findings where a wrong answer looks like a right one."""


def run_case(case):
    """Return (outcome, findings): how the case ended in a word, and what is wrong with it."""
    findings, ends = [], []
    for door in case.doors:
        before = fingerprints(case.inputs())
        with watched() as seen:
            end, result = _solve(case, door)
            ends.append((end, result))
            if result is not None:
                findings += judge(case, result)
                findings += _again(case, door, result)
        findings += _left_behind(case, seen)
        if isinstance(end, Finding):
            findings.append(end)
        if fingerprints(case.inputs()) != before:
            findings.append(Finding("input changed", "an input has other bytes than before"))
    if len(ends) == 2:
        findings += _doors_agree(case, *ends)
    last = ends[-1][0]
    return (last.kind if isinstance(last, Finding) else last), _once(findings)


def _solve(case, door):
    """Return how a solve ended, and its result if there is one."""
    try:
        result = case.state(door).solve(**case.method.options())
    except cn.SolveError as error:
        return error.result.status.name, error.result
    except cn.InfeasibleError as error:
        if case.feasible:
            return Finding("called infeasible", f"a feasible problem: {_line(error)}"), None
        return "InfeasibleError", None
    except cn.ConicNMFError as error:
        return type(error).__name__, None
    except Exception as error:
        return Finding(f"raw {type(error).__name__}", _line(error)), None
    return result.status.name, result


def _again(case, door, result):
    """Do what users do with a result: certify it, save it, and now and then solve once more."""
    k = int(case.id.split(":")[1])
    yield from _certificate(case, result)
    if k % 5 == 0:
        yield from _saved(result)
    if k % 4 == 0:
        end, twin = _solve(case, door)
        if twin is None or not _same(twin, result):
            value = "" if twin is None else repr(twin.objective)
            told = f"{result.objective!r} {result.status.name}, then {value} {_word(end)}"
            yield Finding("differs", told)


def _same(a, b):
    """Whether two results are equal to the last bit."""
    factors = all(
        np.array_equal(a.factors[f], X, equal_nan=True) and a.factors[f].dtype == X.dtype
        for f, X in b.factors.items()
    )
    traces = np.array_equal(a.history.objective, b.history.objective, equal_nan=True)
    return factors and traces and _equal(a.objective, b.objective) and a.status == b.status


def _certificate(case, result):
    try:
        certificate = result.certificate()
    except Exception as error:
        yield Finding(f"certificate {type(error).__name__}", _line(error))
        return
    W, H = (np.asarray(result.factors[f], dtype=np.float64) for f in "WH")
    if certificate.ok:
        worst, where = violation(case, W, H)
        if not worst <= 1e-4:
            yield Finding("certified", f"violation {worst:.3g} of {where}")


def _saved(result):
    with tempfile.TemporaryDirectory() as folder:
        try:
            again = cn.load(result.save(Path(folder) / "result"))
        except Exception as error:
            yield Finding(f"save {type(error).__name__}", _line(error))
            return
    if not _same(again, result):
        yield Finding("saved", "loading gives another result than was saved")


def _left_behind(case, seen):
    banded = any(t.length_one for f in "WH" for t in case.terms[f])
    for warning in seen.warnings:
        if banded and "length" in str(warning.message):
            continue  # a bound on the sparseness of a single number is worth a word
        name = warning.category.__name__
        where = f"{Path(warning.filename).name}:{warning.lineno}"
        yield Finding(f"warning {name}", f"{where} {_line(warning.message)}")
    if seen.printed:
        yield Finding("printed", repr(seen.printed[:80]))


def _doors_agree(case, one, two):
    """The same start and solver end alike, whichever way the problem was stated."""
    (end, a), (other, b) = one, two
    if a is None or b is None:
        if case.method.solver == "None" and (a is None) != (b is None):
            yield Finding("doors", f"terms: {_word(end)}, algebra: {_word(other)}")
        return
    if "failed" in (a.status.kind, b.status.kind) or _many_paths(case):
        return
    whole = float((case.data.dense**2).sum())
    allowed = 0.02 * (abs(a.objective) + abs(b.objective)) + 1e-3 * whole
    if abs(a.objective - b.objective) > allowed:
        yield Finding("doors", f"terms {a.objective:.6g}, algebra {b.objective:.6g}")


def _many_paths(case):
    """Whether two statements of one problem may lead elsewhere.

    The algebra makes one bound of two on the same thing, and may know a `Convex` for what it is,
    a ball say, which another solver takes; and where there are as many components as rows or
    columns, a block has more than one minimum.
    """
    kinds = [[t.text.split("(")[0] for t in case.terms[f]] for f in "WH"]
    merged = any(len(set(names)) < len(names) or "Convex" in names for names in kinds)
    return merged or case.rank >= min(case.data.dense.shape)


def _word(end):
    return end.kind if isinstance(end, Finding) else end


def _equal(a, b):
    return a == b or (np.isnan(a) and np.isnan(b))


def _line(message):
    return " ".join(f"{message}".split())[:160]


def _once(findings):
    """Return the first finding of each kind."""
    first = {}
    for finding in findings:
        first.setdefault(finding.kind, finding)
    return list(first.values())
