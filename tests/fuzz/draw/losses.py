"""Losses: plain, weighted or masked, capped, and some that only CVXPY can state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from ..judge import measures
from .numbers import pick, short


@dataclass(frozen=True, eq=False)
class DrawnLoss:
    """A loss: the package's object, the CVXPY expression of data and model, its value in NumPy.

    `term` is None where only CVXPY can state it, `algebra` where only the package can. `weights`
    are the dense ones of a squared residual, `entries` what each entry costs without them. The loss
    of c times the data grows by c to the power of `degree`. `refuses` where the data break its rule.
    """

    text: str
    term: Callable[[], Any] | None
    algebra: Callable[[Any, Any], Any] | None
    value: Callable[[np.ndarray], float]
    weights: np.ndarray | None = None
    cap: float = np.inf
    inputs: tuple[Any, ...] = ()
    entries: Callable[[np.ndarray], np.ndarray] | None = None
    degree: float = 2.0
    refuses: bool = False
    most: Callable[[np.ndarray], float] | None = None

    def size(self, most):
        """Return the size of the numbers that are subtracted, for a model at most so large."""
        own = (self.value, lambda X: self.value(-X)) if self.most is None else (self.most,)
        return max(measure(most) for measure in own)


def draw_loss(rng, dense, model, style, only_cvxpy, nonneg=True):
    """Draw a loss of the data; `model` is the value at the feasible point, for a cap it can meet."""
    from .entrywise import draw_entrywise  # which makes losses of the kind above

    rare = 1.0 if style == "any" else 0.1
    other = 1.5 * rare if only_cvxpy else 0
    table = {"plain": 12, "weighted": 2 + rare, "capped": rare / 2, "entrywise": 4, "other": other}
    kind = pick(rng, table)
    if kind == "entrywise":
        return draw_entrywise(rng, dense, nonneg)
    if kind == "weighted":
        return _weighted(rng, dense)
    if kind == "other":
        return _other(rng, dense)
    scale = float(pick(rng, {1.0: 4, 0.5: 1}))
    cap = np.inf
    if kind == "capped":
        unit = float((dense**2).sum()) or 1.0
        cap = 1.01 * short(scale * (1.2 * measures.squares(dense, model) + 1e-3 * unit))
    return DrawnLoss(
        f"Frobenius({scale:g}{f', cap={cap:.4g}' if np.isfinite(cap) else ''})",
        lambda: cn.Frobenius(scale, cap),
        None if np.isfinite(cap) else lambda V, X: scale * cp.sum_squares(V - X),
        lambda X: scale * measures.squares(dense, X),
        cap=cap,
    )


def _weighted(rng, dense):
    M = (rng.random(dense.shape) > 0.3) * 1.0
    M[0, 0] = 1.0
    store = pick(rng, {"numbers": 2, "mask": 1, "sparse": 1, "lists": 0.3, "single": 0.5})
    if store in ("numbers", "single"):
        M = M * rng.uniform(0.2, 2.0, M.shape)
    if store == "single":
        M = M.astype(np.float32).astype(float)
    given = {
        "numbers": M,
        "mask": M > 0,
        "sparse": sp.csr_array(M),
        "lists": M.tolist(),
        "single": M.astype(np.float32),
    }[store]
    return DrawnLoss(
        f"WeightedFrobenius({store})",
        lambda: cn.WeightedFrobenius(given),
        lambda V, X: cp.sum_squares(cp.multiply(M, V - X)),
        lambda X: measures.squares(dense, X, M),
        weights=M,
        inputs=() if store == "lists" else (given,),
    )


def _other(rng, dense):
    """Return a loss that is kept as it was written, and convex in each variable."""
    edge = short(float(np.abs(dense).mean()) or 1.0)
    text, algebra, value, degree = (
        (
            f"Σ huber({edge:.3g})",
            lambda V, X: cp.sum(cp.huber(V - X, edge)),
            lambda X: measures.huber(dense, X, edge),
            2,
        ),
        (
            "Σ|V − X|",
            lambda V, X: cp.norm1(V - X),
            lambda X: measures.magnitudes(dense, X),
            1,
        ),
        (
            "‖V − X‖",
            lambda V, X: cp.norm(V - X, "fro"),
            lambda X: float(np.sqrt(measures.squares(dense, X))),
            1,
        ),
        (
            "max|V − X|",
            lambda V, X: cp.max(cp.abs(V - X)),
            lambda X: float(np.abs(dense - X).max()),
            1,
        ),
        (
            "Σ(V − X)² + ¼Σ(V − X)₊²",
            lambda V, X: cp.sum_squares(V - X) + 0.25 * cp.sum_squares(cp.pos(V - X)),
            lambda X: (
                measures.squares(dense, X) + 0.25 * float((np.clip(dense - X, 0, None) ** 2).sum())
            ),
            2,
        ),
    )[rng.integers(5)]
    return DrawnLoss(text, None, algebra, value, degree=degree)
