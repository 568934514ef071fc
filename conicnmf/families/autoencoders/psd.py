"""Predictive sparse decomposition: l1-sparse codes, and an encoder that predicts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from conicnmf.families.autoencoders.batches import BatchCodes
from conicnmf.families.autoencoders.inputs import sum_squares
from conicnmf.model.names import End
from conicnmf.settings import Weight
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveCodes(BatchCodes):
    """PSD: codes h with x ≈ W h, predicted by diag(g) tanh(W_encᵀx + θ_enc).

    The loss of a sample with code h is

        ‖x − W h‖² + λ‖h‖₁ + α‖h − diag(g) tanh(W_encᵀx + θ_enc)‖²,

    with columns of W of norm at most one, for otherwise ‖h‖₁ would mean nothing.

    Parameters
    ----------
    V : array of shape (d, M)
    rank : int
    l1 : float
        λ.
    alpha : float
        Weight of the prediction.

    References
    ----------
    Kavukcuoglu, Ranzato and LeCun, Fast inference in sparse coding algorithms with applications to
    object recognition, 2008.

    Examples
    --------
    >>> from conicnmf.families.autoencoders import PredictiveCodes
    >>> V = np.random.default_rng(0).standard_normal((16, 60))
    >>> result = PredictiveCodes(V, 4).solve(stop=3)
    >>> sorted(result.factors)
    ['W', 'W_enc', 'gain', 'theta_enc']
    """

    l1: Weight = 0.5
    alpha: Weight = 1.0

    def __repr__(self) -> str:
        return (
            f"PredictiveCodes({self.V.shape[0]} × {self.V.shape[1]}, {self.rank} filters, "
            f"l1 = {self.l1}, alpha = {self.alpha})"
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the decoder, the encoder, its thresholds and its gains."""
        d, n = self.V.shape[0], self.rank
        return {"W": (d, n), "W_enc": (d, n), "theta_enc": (n, 1), "gain": (n, 1)}

    def fresh(self, rng: np.random.Generator) -> Factors:
        """Return random filters, the same for both paths."""
        shapes = self.shapes
        W = rng.standard_normal(shapes["W"])
        W /= np.linalg.norm(W, axis=0)
        size = float(np.sqrt(sum_squares(self.V) / self.V.shape[1])) or 1.0
        start = {"W": W, "W_enc": W / size, "theta_enc": np.zeros(shapes["theta_enc"])}
        return start | {"gain": np.full(shapes["gain"], size)}

    def settled(self, factors: Factors) -> Factors:
        """Shrink the columns of W that are longer than one."""
        W = factors["W"]
        return factors | {"W": W / np.maximum(np.linalg.norm(W, axis=0), 1).astype(W.dtype)}

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return by how much a column of W is too long."""
        return {"W: norms": float(max(0.0, np.linalg.norm(factors["W"], axis=0).max() - 1))}

    @property
    def ends(self) -> tuple[End, ...]:
        """Filters of both paths have the features as rows."""
        return End("V", 0, "W", 0), End("V", 0, "W_enc", 0)

    @property
    def models(self) -> Mapping[str, Callable[[Factors], tuple[Array, Array]]]:
        """The filters, and the codes that the encoder infers."""
        return {"V": lambda factors: (factors["W"], self.codes(factors, self.V))}

    def codes(self, factors: Factors, X: Array) -> Array:
        """Return diag(g) tanh(W_encᵀx + θ_enc)."""
        inner = factors["W_enc"].T @ X + factors["theta_enc"]
        return np.asarray(factors["gain"] * np.tanh(inner))

    def decoded(self, factors: Factors, H: Array) -> Array:
        """Return W h."""
        return np.asarray(factors["W"] @ H)

    def loss(self, factors: Factors, X: Array, H: Array) -> float:
        """Return the loss summed over samples."""
        rest, off = X - factors["W"] @ H, H - self.codes(factors, X)
        squares = float((rest * rest).sum()) + self.alpha * float((off * off).sum())
        return squares + self.l1 * float(np.abs(H).sum())

    def improved(self, factors: Factors, X: Array, H: Array) -> Array:
        """Return codes after one step of iterative shrinkage, which never raises the loss."""
        W = factors["W"]
        bend = 2 * float(np.linalg.norm(W, 2)) ** 2 + 2 * self.alpha
        slope = 2 * (W.T @ (W @ H - X)) + 2 * self.alpha * (H - self.codes(factors, X))
        moved = H - slope / bend
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - self.l1 / bend, 0)
        return np.asarray(shrunk, H.dtype)

    def gradients(self, factors: Factors, X: Array, H: Array) -> Factors:
        """Return the gradient in every parameter."""
        inner = np.tanh(factors["W_enc"].T @ X + factors["theta_enc"])
        off = factors["gain"] * inner - H
        back = 2 * self.alpha * off * factors["gain"] * (1 - inner * inner)
        return {
            "W": 2 * (factors["W"] @ H - X) @ H.T,
            "W_enc": X @ back.T,
            "theta_enc": back.sum(axis=1, keepdims=True),
            "gain": 2 * self.alpha * (off * inner).sum(axis=1, keepdims=True),
        }
