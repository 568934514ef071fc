"""Codes by iterated thresholding: gradient steps for all samples at once, then small entries go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.families.coding.coders import Coder
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.settings import Count, Weight
from conicnmf.types import Array

_STILL = 1e-9


@dataclass(frozen=True)
class IterativeThreshold(Coder):
    """Lower ‖v − W h‖² + weight² · ‖h‖₀ over h ≥ 0, or weight · ‖h‖₁ when `soft`, by thresholding.

    Each step goes down the gradient by 1/λ with the largest eigenvalue λ of WᵀW, and takes the
    proximal point of the penalty, which never raises the cost. Hard thresholds begin at least
    squares, end in a local minimum, and the codes that are left are solved for again; soft ones go
    to the minimum that `Lasso` has exactly.

    Parameters
    ----------
    weight : float
    soft : bool
        Penalize the sum of the codes in place of their number.
    max_iter : int
        Steps at most.

    References
    ----------
    Blumensath and Davies, Iterative thresholding for sparse approximations, 2008.

    Examples
    --------
    >>> C = np.array([[1.0], [0.1]])
    >>> IterativeThreshold(0.2).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    weight: Weight
    soft: bool = False
    max_iter: Count = 1000

    @property
    def fits_support(self) -> bool:
        """Soft thresholds shrink the codes."""
        return not self.soft

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Step and cut off until nothing moves."""
        steepest = float(np.linalg.eigvalsh(G)[-1])
        if steepest <= 0:
            return np.zeros_like(C)
        H = nnls_gram(G, C, B) if B is None or not self.soft else np.maximum(B, 0.0)
        if self.soft:
            H = self._best_multiples(G, C, H)
        for _ in range(self.max_iter):
            after = self._cut(H - (G @ H - C) / steepest, steepest)
            moved = float(np.abs(after - H).max(initial=0.0))
            H = after.astype(C.dtype, copy=False)
            if moved <= _STILL * float(np.abs(H).max(initial=0.0)):
                break
        # At the price 0 nothing more is dropped: least squares on the support of H.
        return H if self.soft else eliminate(G, C, yy, H, 0.0)

    def _best_multiples(self, G: Array, C: Array, H: Array) -> Array:
        """Return each sample's codes times the number, zero or more, at which they cost least.

        Least squares may have codes that are as long as an atom is short; steps from there to the
        minimum would have no end, and from zero they are never worse than no codes.
        """
        gain = np.einsum("ij,ij->j", C, H) - self.weight / 2 * H.sum(axis=0)
        bent = np.einsum("ij,ij->j", H, G @ H)
        best = np.divide(gain, bent, out=np.zeros_like(gain), where=(gain > 0) & (bent > 0))
        return np.asarray(H * best, dtype=C.dtype)

    def _cut(self, Z: Array, steepest: float) -> Array:
        if self.soft:
            return np.asarray(np.maximum(Z - self.weight / (2 * steepest), 0.0))
        return np.asarray(np.where(np.sqrt(steepest) * Z > self.weight, Z, 0.0))
