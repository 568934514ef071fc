"""The sparse encoding symmetric machine: one filter bank encodes and decodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from conicnmf.families.autoencoders.batches import BatchCodes
from conicnmf.model.names import End
from conicnmf.settings import Positive, Weight
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricMachine(BatchCodes):
    """SESM: x ↦ Wᵀx + θ_enc encodes, h ↦ W σ(h) + θ_dec decodes, σ(h) = 1/(1 + exp(−βh)).

    The loss of a sample with code h is

        α_e‖h − Wᵀx − θ_enc‖² + ‖x − W σ(h) − θ_dec‖² + α_s Σ log(1 + h²) + α_r‖W‖₁.

    Parameters
    ----------
    V : array of shape (d, M)
    rank : int
    alpha_e, alpha_s, alpha_r : float
        Weights of encoding, of sparse codes and of sparse filters.
    slope : float
        β of the logistic function.

    References
    ----------
    Ranzato, Boureau and LeCun, Sparse feature learning for deep belief networks, NIPS 2008.

    Examples
    --------
    >>> from conicnmf.families.autoencoders import SymmetricMachine
    >>> V = np.random.default_rng(0).standard_normal((16, 60))
    >>> result = SymmetricMachine(V, 4).solve(stop=3)
    >>> sorted(result.factors)
    ['W', 'theta_dec', 'theta_enc']
    """

    alpha_e: Weight = 1.0
    alpha_s: Weight = 0.2
    alpha_r: Weight = 1e-3
    slope: Positive = 1.0

    def __repr__(self) -> str:
        return (
            f"SymmetricMachine({self.V.shape[0]} × {self.V.shape[1]}, {self.rank} filters, "
            f"alpha_e = {self.alpha_e}, alpha_s = {self.alpha_s}, alpha_r = {self.alpha_r}, "
            f"slope = {self.slope})"
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of W and the two thresholds."""
        d, n = self.V.shape[0], self.rank
        return {"W": (d, n), "theta_enc": (n, 1), "theta_dec": (d, 1)}

    def fresh(self, rng: np.random.Generator) -> Factors:
        """Return small random filters and zero thresholds."""
        shapes = self.shapes
        W = rng.standard_normal(shapes["W"]) / np.sqrt(shapes["W"][0])
        return {"W": W} | {name: np.zeros(shapes[name]) for name in ("theta_enc", "theta_dec")}

    @property
    def ends(self) -> tuple[End, ...]:
        """Filters and thresholds of the decoder have the features as rows."""
        return End("V", 0, "W", 0), End("V", 0, "theta_dec", 0)

    @property
    def models(self) -> Mapping[str, Callable[[Factors], tuple[Array, Array]]]:
        """The filters and thresholds, and what of inferred codes goes through them."""
        return {"V": self._model}

    def _model(self, factors: Factors) -> tuple[Array, Array]:
        S = self.fired(self.codes(factors, self.V))
        return np.hstack([factors["W"], factors["theta_dec"]]), np.vstack([S, np.ones_like(S[:1])])

    def codes(self, factors: Factors, X: Array) -> Array:
        """Return Wᵀx + θ_enc."""
        return np.asarray(factors["W"].T @ X + factors["theta_enc"])

    def fired(self, H: Array) -> Array:
        """Return σ(h) without overflow."""
        return np.asarray(0.5 * (1 + np.tanh(0.5 * self.slope * H)), H.dtype)

    def decoded(self, factors: Factors, H: Array) -> Array:
        """Return W σ(h) + θ_dec."""
        return np.asarray(factors["W"] @ self.fired(H) + factors["theta_dec"])

    def losses(self, factors: Factors, X: Array, H: Array) -> Array:
        """Return the loss of each sample, without the penalty of W."""
        off, rest = H - self.codes(factors, X), X - self.decoded(factors, H)
        sparse = np.log1p(H * H).sum(axis=0)
        return np.asarray(
            self.alpha_e * (off * off).sum(axis=0)
            + (rest * rest).sum(axis=0)
            + self.alpha_s * sparse
        )

    def loss(self, factors: Factors, X: Array, H: Array) -> float:
        """Return the loss summed over samples."""
        penalty = self.alpha_r * np.abs(factors["W"]).sum() * X.shape[1]
        return float(self.losses(factors, X, H).sum() + penalty)

    def code_slopes(self, factors: Factors, X: Array, H: Array) -> Array:
        """Return the gradient of the losses in the codes."""
        S = self.fired(H)
        rest = X - factors["W"] @ S - factors["theta_dec"]
        back = -2 * (factors["W"].T @ rest) * self.slope * S * (1 - S)
        off = H - self.codes(factors, X)
        sparse = 2 * self.alpha_s * H / (1 + H * H)
        return np.asarray(2 * self.alpha_e * off + back + sparse, H.dtype)

    def improved(self, factors: Factors, X: Array, H: Array) -> Array:
        """Return codes after a gradient step, each with the first of three lengths that helps."""
        slopes, before = self.code_slopes(factors, X, H), self.losses(factors, X, H)
        bend = 2 * (self.alpha_e + self.alpha_s)
        bend += 2 * (self.slope / 4 * float(np.linalg.norm(factors["W"], 2))) ** 2
        best = H
        waiting = np.ones(X.shape[1], dtype=bool)
        for step in (1 / bend, 0.25 / bend, 0.05 / bend):
            new = (H - step * slopes).astype(H.dtype)
            helps = waiting & (self.losses(factors, X, new) <= before)
            best = np.where(helps, new, best)
            waiting &= ~helps
        return best

    def gradients(self, factors: Factors, X: Array, H: Array) -> Factors:
        """Return the gradient in W and the thresholds; W is in both paths."""
        S = self.fired(H)
        off = H - self.codes(factors, X)
        rest = X - factors["W"] @ S - factors["theta_dec"]
        penalty = self.alpha_r * X.shape[1] * np.sign(factors["W"])
        return {
            "W": -2 * self.alpha_e * (X @ off.T) - 2 * (rest @ S.T) + penalty,
            "theta_enc": -2 * self.alpha_e * off.sum(axis=1, keepdims=True),
            "theta_dec": -2 * rest.sum(axis=1, keepdims=True),
        }
