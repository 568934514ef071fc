"""All that a newcomer writes for a loss: this file, and one line that makes it known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.extend import Loss, Quadratic


@dataclass(frozen=True, eq=False)
class LogCosh(Loss):
    """The sum of M ∘ log cosh(Y − A B): squares near zero, magnitudes far away."""

    weights: Any = None
    scale: float = 1.0

    def _residuals(self, Y, A, B):
        dense = Y.toarray() if sp.issparse(Y) else Y
        return A @ B - dense, 1.0 if self.weights is None else self.weights

    def value(self, Y, A, B):
        """Return the loss, by a form that does not overflow."""
        r, M = self._residuals(Y, A, B)
        return float(self.scale * np.sum(M * (np.logaddexp(r, -r) - np.log(2))))

    def gradient(self, Y, A, B):
        """Return Aᵀ(M ∘ tanh)."""
        r, M = self._residuals(Y, A, B)
        return (self.scale * A.T @ (M * np.tanh(r))).astype(B.dtype)

    def majorize(self, Y, A, B):
        """Bend nowhere more than one."""
        G = self.scale * np.max(1.0 if self.weights is None else self.weights) * (A.T @ A)
        return Quadratic.touching(self.value(Y, A, B), self.gradient(Y, A, B), G, B)

    def transposed(self):
        """Turn the weights."""
        return self if self.weights is None else replace(self, weights=self.weights.T)
