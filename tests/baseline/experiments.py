"""The tables of the quick experiments, without times."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

import experiments

TIMES = ("seconds", "sd", "minutes", "product")
"""Words in the names of columns that depend on the machine."""


def names():
    """Return the ids of the experiments."""
    return list(experiments.EXPERIMENTS)


def table(name):
    """Run the quick version of an experiment on one thread; return its columns."""
    with threadpool_limits(1):
        outcome = experiments.reproduce(name, quick=True)
    kept = [c for c in outcome.table if not set(str(c).split()) & set(TIMES)]
    columns = {str(c): [_plain(x) for x in outcome.table[c]] for c in kept}
    return {"verdict": outcome.verdict, **columns}


def settled(name, columns):
    """Return the columns without what rounding or the machine decides."""
    if name == "heiler-table3":  # whose verdict is about times
        return {c: x for c, x in columns.items() if c != "verdict"}
    if name != "yang-ranking":
        return columns
    # The last of its three methods solves with a kernel matrix that is all but singular.
    return {c: x[:2] if isinstance(x, list) else x for c, x in columns.items()}


def _plain(x):
    return x.item() if hasattr(x, "item") else x
