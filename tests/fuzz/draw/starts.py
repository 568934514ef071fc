"""Starts: by name, by rule, by arrays, and some that are none."""

from __future__ import annotations

import numpy as np

import conicnmf as cn

from .numbers import pick

STARTS = {
    "None": 10,
    "cn.Random()": 1,
    "'random'": 0.5,
    "cn.NNDSVD()": 2,
    "cn.NNDSVD('zero')": 1,
    "cn.NNDSVD('random')": 1,
    "cn.SPA()": 0.5,
    "cn.SPA('zero')": 0.5,
    "cn.VCA()": 0.7,
    "'kmeans'": 0.3,
    "cn.KMeans('mean', rounds=3)": 0.4,
    "cn.DataColumns(average=2)": 0.5,
    "cn.ConeSearch(samples=4, budget=20)": 0.5,
    "point": 3,
    "point by name": 1,
    "poor point": 1,
    "one variable": 1,
    "zero": 0.5,
    "single precision": 0.3,
}
WRONG = {
    "'rnd'": 1,
    "cn.Random": 1,
    "7": 1,
    "another shape": 2,
    "another name": 1,
    "too few": 1,
    "no numbers": 1,
}


def draw_start(rng, point, units, wrong):
    """Return (what it is, the arrays by name); `point` is the feasible one."""
    kind = pick(rng, WRONG if wrong else STARTS)
    first = next(iter(point))
    shape = point[first].shape
    poor = {n: units[n] * np.abs(rng.standard_normal(X.shape)) for n, X in point.items()}
    arrays = {
        "point": {n: X.copy() for n, X in point.items()},
        "point by name": {n: X.copy() for n, X in point.items()},
        "poor point": poor,
        "one variable": {first: point[first].copy()},
        "zero": {n: np.zeros(X.shape) for n, X in point.items()},
        "single precision": {n: _single(X) for n, X in point.items()},
        "another shape": {first: np.ones((*shape, 2))},
        "another name": {"Q": point[first].copy()},
        "too few": {},
        "no numbers": {first: np.full(shape, np.nan)},
    }
    return kind, arrays.get(kind, {})


def _single(X):
    """Return an array in single precision where its numbers have room there."""
    largest = np.abs(X).max()
    return X.astype(np.float32) if 2.0**-100 < largest < 2.0**100 else X.copy()


def as_init(kind, arrays, stated):
    """Return what is passed as `init`; with CVXPY, arrays are named by their variables."""
    if kind[0] in "cN'7":
        return eval(kind, {"cn": cn})  # only the texts above
    if kind == "too few":
        return ()
    if kind == "one variable":
        return cn.Given({stated.key(name): X for name, X in arrays.items()})
    in_order = list(arrays) == list(stated.problem.shapes) and not stated.variables
    if kind in ("point", "poor point") and in_order:
        return tuple(arrays.values())
    return {stated.key(name): X for name, X in arrays.items()}
