"""Run a problem through its doors and collect every finding about it."""

from __future__ import annotations

from pathlib import Path

from .again import again
from .attempt import attempt
from .doors import doors_agree
from .findings import Finding, line, once
from .watch import fingerprints, watched


def run_problem(case):
    """Return (outcome, findings): how the case ended in a word, and what is wrong with it."""
    findings, made = [], []
    for door in case.doors:
        before = fingerprints(case.inputs())
        with watched() as seen:
            made.append(attempt(case, door))
            findings += made[-1].findings
            if made[-1].result is not None and not case.refused:
                findings += again(case, door, made[-1])
        findings += left_behind(seen, allowed=tuple(_meant(case)))
        if fingerprints(case.inputs()) != before:
            findings.append(Finding("input changed", "an input has other bytes than before"))
    if len(made) == 2:
        findings += doors_agree(case, *made)
    return made[-1].end, once(findings)


def _meant(case):
    """Yield the words of warnings that the case deserves."""
    if any(t.length_one for terms in case.terms.values() for t in terms):
        yield "length"  # a bound on the sparseness of a single number
    if loose_scale(case.terms):
        yield "melts away"


SCALE_FREE = (
    "NonNegative",
    "Sparseness",
    "Monotone",
    "Unimodal",
    "Cardinality",
    "Orthogonal",
    "Labels",
)
"""Constraints that allow every positive multiple of what they allow."""


def loose_scale(terms):
    """Whether a penalty can be had for nothing: it shrinks one variable while another grows."""

    def loose(own):
        return all(t.kind in SCALE_FREE or t.length_one for t in own if t.violation)

    def priced(own):
        return any(t.value and t.kind not in ("SparsenessReward", "NonZeros") for t in own)

    kinds = {priced(own) for own in terms.values() if loose(own)}
    return kinds == {True, False}


def left_behind(seen, allowed=()):
    """Yield warnings and printed text; warnings that hold an allowed word are fine."""
    for warning in seen.warnings:
        if any(word in str(warning.message) for word in allowed):
            continue
        name = warning.category.__name__
        where = f"{Path(warning.filename).name}:{warning.lineno}"
        yield Finding(f"warning {name}", f"{where} {line(warning.message)}")
    if seen.printed:
        yield Finding("printed", repr(seen.printed[:80]))
