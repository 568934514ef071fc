"""Linear support vector machines, one for each pair of classes, by Newton steps on dense products.

min_w ½‖w‖² + C Σ max(0, 1 − yᵢ wᵀxᵢ)², the model of LIBLINEAR, with a constant feature as its offset.
The squared hinge is quadratic on the samples within the margin, so a Newton step on them solves it
exactly once the right ones are in. LIBLINEAR walks over lists of entries, which takes some ten times
as long on dense codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.types import Array

Labels = NDArray[Any]


def squared_hinge(X: Array, y: Array, cost: float, rtol: float = 1e-4, max_iter: int = 60) -> Array:
    """Return the weights of the machine that tells labels −1 and +1 apart.

    Examples
    --------
    >>> squared_hinge(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), 1.0)
    array([0.8])
    """
    w: Array = np.zeros(X.shape[1])
    rest: Array = 1 - y * (X @ w)
    first = None
    for _ in range(max_iter):
        inside = rest > 0
        own = X[inside]
        slope = w - 2 * cost * (own.T @ (y * rest)[inside])
        size = float(np.linalg.norm(slope))
        first = size if first is None else first
        if size <= rtol * first:
            break
        bend = 2 * cost * (own.T @ own)
        bend.flat[:: len(w) + 1] += 1
        step = np.linalg.solve(bend, -slope)
        w, rest = _descended(w, rest, step, y * (X @ step), float(slope @ step), cost)
    return w


def _descended(
    w: Array, rest: Array, step: Array, change: Array, slope: float, cost: float
) -> tuple[Array, Array]:
    """Return the weights and 1 − yᵢwᵀxᵢ after a step, halved until it lowers the value enough."""

    def value(weights: Array, gaps: Array) -> float:
        return float(weights @ weights / 2 + cost * np.sum(np.maximum(gaps, 0) ** 2))

    before, share = value(w, rest), 1.0
    for _ in range(30):
        new, gaps = w + share * step, rest - share * change
        if value(new, gaps) <= before + 1e-4 * share * slope:
            return new, gaps
        share /= 2
    return w, rest


@dataclass(frozen=True, eq=False)
class OneVsOne:
    """Machines for all pairs of classes on standardized features; the class with most votes wins.

    Examples
    --------
    >>> X, y = np.repeat(np.eye(3), 4, axis=0), np.repeat(["a", "b", "c"], 4)
    >>> machines = OneVsOne.fit(X, y, cost=1.0)
    >>> machines.error(X, y)
    0.0
    """

    classes: Labels
    mean: Array
    scale: Array
    weights: Array

    @classmethod
    def fit(cls, X: Array, y: Labels, cost: float) -> OneVsOne:
        """Learn from samples (rows) and their classes."""
        classes, mean, scale = np.unique(y), X.mean(axis=0), X.std(axis=0)
        scale[scale == 0] = 1.0
        groups = [_ready(X[y == one], mean, scale) for one in classes]
        found = [
            squared_hinge(
                np.concatenate([groups[a], groups[b]]),
                np.repeat([1.0, -1.0], [len(groups[a]), len(groups[b])]),
                cost,
            )
            for a, b in combinations(range(len(classes)), 2)
        ]
        return cls(classes, mean, scale, np.array(found))

    def predict(self, X: Array) -> Labels:
        """Return the classes of samples; votes that tie are settled by the sum of the margins."""
        margins = _ready(X, self.mean, self.scale) @ self.weights.T
        votes = np.zeros((len(X), len(self.classes)))
        for (a, b), margin in zip(
            combinations(range(len(self.classes)), 2), margins.T, strict=True
        ):
            won = np.tanh(margin) / 1000  # less than one vote, all of them together
            votes[:, a] += (margin > 0) + won
            votes[:, b] += (margin <= 0) - won
        return np.asarray(self.classes[votes.argmax(axis=1)])

    def error(self, X: Array, y: Labels) -> float:
        """Return the share of samples whose class is missed."""
        return float(np.mean(self.predict(X) != y))


def _ready(X: Array, mean: Array, scale: Array) -> Array:
    """Return standardized features and a constant."""
    return np.column_stack([(X - mean) / scale, np.ones(len(X))])
