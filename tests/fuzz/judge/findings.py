"""What may be wrong with a case, and how findings are told."""

from __future__ import annotations

from typing import NamedTuple

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
    "accepted",
    "fits",
    "status",
    "history",
    "resumed",
    "scale",
    "value",
)
"""Kinds of findings where a wrong answer looks like a right one."""


class Finding(NamedTuple):
    """Something wrong: its kind, and a line about it."""

    kind: str
    reason: str


def raw(error, where="raw"):
    """Return the finding for an exception that is none of the package's own."""
    return Finding(f"{where} {type(error).__name__}", line(error))


def line(message):
    """Return the beginning of a message on one line."""
    return " ".join(f"{message}".split())[:160]


def word(end):
    """Return how something ended, in a word."""
    return end.kind if isinstance(end, Finding) else end


def once(findings):
    """Return the first finding of each kind."""
    first = {}
    for finding in findings:
        first.setdefault(finding.kind, finding)
    return list(first.values())
