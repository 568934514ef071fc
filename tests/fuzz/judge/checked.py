"""Run a case that is a list of checks, and collect what they find."""

from __future__ import annotations

import numpy as np

import conicnmf as cn

from .findings import Finding, line, once, raw
from .run import left_behind
from .watch import fingerprints, watched


def run_checks(case, warned=(), refusals=(cn.ConicNMFError,)):
    """Return (outcome, findings) of a case with `check()`, `refused` and `inputs()`.

    An error of the package's own is an ending. Whatever must be refused is so by one of these
    errors. Warnings that hold one of the words are meant.
    """
    findings, end = [], "fine"
    before = fingerprints(case.inputs())
    with watched() as seen:
        try:
            for finding in case.check():
                findings.append(finding)
            if case.refused:
                findings.append(Finding("accepted", "what is no data was not refused"))
        except cn.SolveError as error:
            end = "no result" if error.result is None else error.result.status.name
        except Exception as error:
            end = type(error).__name__
            findings += _unexpected(case, error, refusals)
    findings += left_behind(seen, allowed=warned)
    if fingerprints(case.inputs()) != before:
        findings.append(Finding("input changed", "an input has other bytes than before"))
    return end, once(findings)


def _unexpected(case, error, refusals):
    """Yield a finding unless the error is a refusal of what is wrong."""
    if case.refused and isinstance(error, refusals):
        return
    if isinstance(error, cn.ConicNMFError):
        yield Finding("refused", f"a sound case: {line(error)}")
    else:
        yield raw(error)


def near(a, b, relative, size=0.0):
    """Whether two arrays are equal up to a part of their size."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return False
    most = max(np.abs(b).max(initial=0.0), size)
    return bool((np.abs(a - b) <= relative * most).all())
