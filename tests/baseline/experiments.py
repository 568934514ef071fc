"""The tables of the quick experiments, without times."""

from __future__ import annotations

import numpy as np

import conicnmf as cn

TIMES = ("seconds", "sd", "time", "ratio of times")
"""Columns that depend on the machine."""


def names():
    """Return the ids of the experiments."""
    return list(cn.reproduce.EXPERIMENTS)


def table(name):
    """Run the quick version of an experiment; return its numeric columns."""
    outcome = cn.reproduce.reproduce(name, quick=True)
    numeric = outcome.table.select_dtypes([np.number, bool])
    kept = [c for c in numeric if not _is_time(str(c))]
    columns = {str(c): [_plain(x) for x in numeric[c]] for c in kept}
    return {"verdict": outcome.verdict, **columns}


def _is_time(column):
    return any(word in TIMES for word in (column, *column.split()))


def _plain(x):
    return x.item() if hasattr(x, "item") else x
