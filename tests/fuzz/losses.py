"""Losses: plain, weighted or masked, capped, and two that only CVXPY can state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from . import measures
from .data import pick


@dataclass(frozen=True, eq=False)
class DrawnLoss:
    """A loss: the package's object, the CVXPY expression of W @ H, and its value in NumPy.

    `term` is None where only CVXPY can state it. `weights` holds the dense weights, if any.
    """

    text: str
    term: Callable[[], Any] | None
    algebra: Callable[[Any, Any], Any] | None
    value: Callable[[np.ndarray, np.ndarray], float]
    weights: np.ndarray | None = None
    cap: float = np.inf
    inputs: tuple[Any, ...] = ()


def draw_loss(rng, dense, point, style, tiny):
    """Draw a loss of the data; `point` is the feasible pair, for a cap it can meet."""
    rare = 1.0 if style == "any" else 0.1
    kinds = {"plain": 12, "weighted": 2 + rare, "capped": rare / 2, "other": rare if tiny else 0}
    kind = pick(rng, kinds)
    if kind == "weighted":
        return _weighted(rng, dense)
    if kind == "other":
        return _other(rng, dense)
    scale = float(pick(rng, {1.0: 4, 0.5: 1}))
    cap = np.inf
    if kind == "capped":
        at_point = scale * measures.squares(dense, *point)
        cap = float(f"{1.2 * at_point + 1e-3 * (dense**2).sum() + 1e-6:.3g}") * 1.01
    return DrawnLoss(
        f"Frobenius({scale:g}{f', cap={cap:.4g}' if np.isfinite(cap) else ''})",
        lambda: cn.Frobenius(scale, cap),
        None if np.isfinite(cap) else lambda V, WH: scale * cp.sum_squares(V - WH),
        lambda W, H: scale * measures.squares(dense, W, H),
        cap=cap,
    )


def _weighted(rng, dense):
    M = (rng.random(dense.shape) > 0.3) * 1.0
    M[0, 0] = 1.0
    store = pick(rng, {"numbers": 2, "mask": 1, "sparse": 1})
    if store == "numbers":
        M = M * rng.uniform(0.2, 2.0, M.shape)
    given = {"numbers": M, "mask": M > 0, "sparse": sp.csr_array(M)}[store]
    return DrawnLoss(
        f"WeightedFrobenius({store})",
        lambda: cn.WeightedFrobenius(given),
        lambda V, WH: cp.sum_squares(cp.multiply(M, V - WH)),
        lambda W, H: measures.squares(dense, W, H, M),
        weights=M,
        inputs=(given,),
    )


def _other(rng, dense):
    if rng.random() < 0.5:
        return DrawnLoss(
            "Σ huber",
            None,
            lambda V, WH: cp.sum(cp.huber(V - WH)),
            lambda W, H: measures.huber(dense, W, H),
        )
    return DrawnLoss(
        "Σ|V − WH|",
        None,
        lambda V, WH: cp.norm1(V - WH),
        lambda W, H: measures.magnitudes(dense, W, H),
    )
