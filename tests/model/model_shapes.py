"""Small problems of every shape, each with its model written a second time in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

RNG = np.random.default_rng(7)
V, U = RNG.random((6, 5)), RNG.random((4, 5))
D, E, M = RNG.random((6, 4)), RNG.random((7, 5)), RNG.random((6, 2))
WEIGHTS = (RNG.random((6, 5)) > 0.3) * RNG.random((6, 5))
ONES, UP = np.ones((1, 5)), np.ones((6, 1))


def _masked(W: Any) -> Any:
    return cp.multiply(M, W) if isinstance(W, cp.Expression) else M * W


@dataclass(frozen=True)
class Case:
    """A problem, and its fits in NumPy: (data, model of the variables, weights, factor)."""

    problem: cn.Problem
    fits: tuple[tuple[Any, Callable[[dict[str, Any]], Any], Any, float], ...]

    def value(self, X: dict[str, Any]) -> float:
        """Return the sum of the losses as the textbook has it."""
        return sum(
            factor * float(np.sum((weights * (data - model(X))) ** 2))
            for data, model, weights, factor in self.fits
        )


def _one(text: str, model: Any, loss: Any = None, weights: Any = 1.0, data: Any = V) -> Case:
    dense = data.toarray() if sp.issparse(data) else data
    problem = cn.compose(
        cn.Approx(data, text, loss=loss), rank=2, shapes=_shapes(text), constants=_constants(text)
    )
    return Case(problem, ((dense, model, weights, 1.0),))


def _shapes(text: str) -> dict[str, tuple[int, int]]:
    return {"S": (2, 3)} if "S" in text else {}


def _constants(text: str) -> dict[str, Any]:
    return {name: X for name, X in {"D": D, "E": E, "M": M}.items() if name in text}


TEXTS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "two": ("W @ H", lambda X: X["W"] @ X["H"]),
    "transposed": ("W.T @ H.T", lambda X: X["W"].T @ X["H"].T),
    "constant left": ("D @ W @ H", lambda X: D @ X["W"] @ X["H"]),
    "constant right": ("W @ H @ E", lambda X: X["W"] @ X["H"] @ E),
    "masked": ("M * W @ H", lambda X: _masked(X["W"]) @ X["H"]),
    "offset": ("W @ H + b @ 1", lambda X: X["W"] @ X["H"] + X["b"] @ ONES),
    "offsets": (
        "2 * W @ H - b @ 1 + 1 @ c",
        lambda X: 2 * X["W"] @ X["H"] - X["b"] @ ONES + UP @ X["c"],
    ),
    "three": ("W @ S @ H", lambda X: X["W"] @ X["S"] @ X["H"]),
    "three, turned": ("W @ S.T @ H", lambda X: X["W"] @ X["S"].T @ X["H"]),
    "three with offset": (
        "D @ W @ S @ H + b @ 1",
        lambda X: D @ X["W"] @ X["S"] @ X["H"] + X["b"] @ ONES,
    ),
}


def cases() -> dict[str, Case]:
    """Return every shape with plain, weighted and sparse data."""
    found = {}
    for name, (text, model) in TEXTS.items():
        found[name] = _one(text, model)
        found[f"{name}, weights"] = _one(text, model, cn.WeightedFrobenius(WEIGHTS), WEIGHTS)
        sparse = cn.WeightedFrobenius(sp.csr_array(WEIGHTS))
        found[f"{name}, sparse weights"] = _one(text, model, sparse, WEIGHTS)
        found[f"{name}, sparse"] = _one(text, model, data=sp.csr_array(V * (V > 0.5)))
    both = cn.factorize({"a": V, "b": U}, 2, weight={"b": 0.5}, loss={"a": "frobenius"})
    a = (V, lambda X: X["W_a"] @ X["H"], 1.0, 1.0)
    b = (U, lambda X: X["W_b"] @ X["H"], 1.0, 0.5)
    found["coupled"] = Case(both, (a, b))
    turned = cn.factorize({"a": V.T, "b": U.T}, 2, shared="W", offset="feature")
    c = (V.T, lambda X: X["W"] @ X["H_a"] + X["b_a"] @ UP.T, 1.0, 1.0)
    d = (U.T, lambda X: X["W"] @ X["H_b"] + X["b_b"] @ np.ones((1, 4)), 1.0, 1.0)
    found["coupled by W with offsets"] = Case(turned, (c, d))
    mixed = cn.factorize({"a": V, "b": U}, 2, loss={"a": cn.WeightedFrobenius(WEIGHTS)})
    found["coupled, one weighted"] = Case(mixed, ((*a[:2], WEIGHTS, 1.0), (*b[:3], 1.0)))
    return found


def draw(problem: cn.Problem, seed: int = 0) -> dict[str, Any]:
    """Return non-negative values of every variable."""
    rng = np.random.default_rng(seed)
    return {name: rng.random(shape) for name, shape in problem.shapes.items()}
