"""Penalties on the structure of a factor, each with its value in NumPy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from ..judge.measures import parts
from .numbers import short
from .terms import Drawn, draw_each


def total_variation(rng, side, weight):
    each = draw_each(rng, side)
    axis = side.axis(each)
    long = side.rows(each).shape[1] > 1
    return Drawn(
        f"TotalVariation({weight:g}, {each})",
        lambda: cn.TotalVariation(weight, each=each),
        (lambda X: weight * cp.sum(cp.abs(cp.diff(X, axis=axis)))) if long else None,
        value=lambda X: weight * float(np.abs(np.diff(X, axis=axis)).sum()),
    )


def smooth(rng, side, weight):
    each = draw_each(rng, side)
    axis, weight = side.axis(each), short(weight / side.unit)
    order = int(rng.integers(1, 3)) if side.rows(each).shape[1] > 2 else 1
    long = side.rows(each).shape[1] > order
    return Drawn(
        f"Smooth({weight:g}, {order}, {each})",
        lambda: cn.Smooth(weight, order, each=each),
        (lambda X: weight * cp.sum_squares(cp.diff(X, k=order, axis=axis))) if long else None,
        value=lambda X: weight * float((np.diff(X, n=order, axis=axis) ** 2).sum()),
    )


def graph(rng, side, weight):
    each = draw_each(rng, side)
    weight = short(weight / side.unit)
    n = side.rows(each).shape[1]
    edges = np.triu(rng.random((n, n)) < 0.4, 1).astype(float)
    L = np.diag((edges + edges.T).sum(axis=0)) - edges - edges.T
    given = sp.csr_array(L) if rng.random() < 0.5 else L
    ends = np.nonzero(edges)

    def differences(X):
        P = parts(X, side.columns, each)
        return P[:, ends[0]] - P[:, ends[1]]

    return Drawn(
        f"GraphLaplacian({weight:g}, {each})",
        lambda: cn.GraphLaplacian(weight, given, each=each),
        value=lambda X: weight * float(np.sum(differences(X) ** 2)),
        inputs=(given,),
    )


def l21(rng, side, weight):
    each = draw_each(rng, side)
    axis = side.axis(each)
    return Drawn(
        f"L21({weight:g}, {each})",
        lambda: cn.L21(weight, each=each),
        lambda X: weight * cp.sum(cp.norm(X, 2, axis=axis)),
        value=lambda X: weight * float(np.linalg.norm(X, axis=axis).sum()),
    )


def group_lasso(rng, side, weight):
    each = draw_each(rng, side)
    groups = rng.integers(0, 3, side.rows(each).shape[1])

    def value(X):
        rows = parts(X, side.columns, each)
        norms = [np.linalg.norm(rows[:, groups == g], axis=1).sum() for g in set(groups.tolist())]
        return weight * float(sum(norms))

    return Drawn(
        f"GroupLasso({weight:g}, {groups.tolist()}, {each})",
        lambda: cn.GroupLasso(weight, groups, each=each),
        value=value,
        inputs=(groups,),
    )


def nuclear(rng, side, weight):
    return Drawn(
        f"Nuclear({weight:g})",
        lambda: cn.Nuclear(weight),
        lambda X: weight * cp.normNuc(X),
        value=lambda X: weight * float(np.linalg.svd(X, compute_uv=False).sum()),
    )


def volume(rng, side, weight):
    weight, delta = short(weight * side.unit), short(side.unit**2 * rng.uniform(0.01, 2))

    def value(X):
        rows = parts(X, side.columns, "component")
        return weight * float(np.linalg.slogdet(rows @ rows.T + delta * np.eye(len(rows)))[1])

    return Drawn(
        f"MinimumVolume({weight:g}, {delta:g})",
        lambda: cn.MinimumVolume(weight, delta),
        value=value,
    )


KINDS = (total_variation, smooth, graph, l21, group_lasso, nuclear, volume)
