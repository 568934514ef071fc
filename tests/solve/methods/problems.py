"""Small problems the solver tests share."""

from __future__ import annotations

import numpy as np

import conicnmf as cn


def low_rank(m=20, n=16, rank=3, seed=0, noise=0.05):
    return cn.datasets.low_rank(m, n, rank, noise=noise, seed=seed).V


def sparse_problem(s=0.6, top=1.0, rank=3, **kwargs):
    return cn.factorize(
        low_rank(**kwargs), rank, W=[cn.NonNegative(), cn.Sparseness(min=s, max=top)]
    )


def rises(result):
    """The largest rise of the trace, relative to the objective."""
    values = result.history.objective
    return float(np.diff(values).max(initial=0.0)) / abs(values[-1])
