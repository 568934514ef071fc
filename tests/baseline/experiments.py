"""The tables of the quick experiments, without times."""

from __future__ import annotations

import conicnmf as cn

TIMES = ("seconds", "sd", "minutes", "product")
"""Words in the names of columns that depend on the machine."""


def names():
    """Return the ids of the experiments."""
    return list(cn.reproduce.EXPERIMENTS)


def table(name):
    """Run the quick version of an experiment; return its columns."""
    outcome = cn.reproduce.reproduce(name, quick=True)
    kept = [c for c in outcome.table if not set(str(c).split()) & set(TIMES)]
    columns = {str(c): [_plain(x) for x in outcome.table[c]] for c in kept}
    return {"verdict": outcome.verdict, **columns}


def _plain(x):
    return x.item() if hasattr(x, "item") else x
