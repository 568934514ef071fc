"""A gradient step and the projection on exact sparseness, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.geometry.hoyer import project_hoyer
from conicnmf.geometry.projected_step import advance_rows
from conicnmf.types import Array


@dataclass(frozen=True)
class RowConstraint:
    """What each row must keep: ‖b‖₁ = `ratio`·‖b‖₂ and ‖b‖₂ = `norm`, with b ≥ 0 unless signed.

    A ratio of None leaves ‖b‖₁ free, a norm of None keeps the norm that a row comes with.

    Examples
    --------
    >>> RowConstraint(ratio=1.4, norm=5.0).project(np.array([[2.0, -1.0]])).round(12)
    array([[ 4., -3.]])
    """

    ratio: float | None = None
    norm: float | None = None
    signed: bool = True

    def project(self, B: Array) -> Array:
        """Return the nearest rows that keep it; zero rows get a norm only where one is set."""
        if self.ratio is None:
            B = B if self.signed else np.maximum(B, 0)
            return B if self.norm is None else B * (self.norm / _norms(B))[:, None]
        norms = _norms(B) if self.norm is None else np.full(len(B), self.norm)
        if not self.signed:
            return project_hoyer(B, self.ratio * norms, norms)
        sizes = project_hoyer(np.abs(B), self.ratio * norms, norms)
        return np.copysign(sizes, B, out=sizes)

    def advance(
        self,
        B: Array,
        before: Array,
        gradient: Array,
        momentum: float,
        step: float,
        levels: Array | None = None,
    ) -> Array:
        """Return the projection of B + momentum·(B − before) − step·gradient.

        `levels` remembers, from one call to the next, where the searches of the projection ended.

        Examples
        --------
        >>> B = np.array([[2.0, 1.0]])
        >>> RowConstraint().advance(B, B - 1, np.array([[0.0, 2.0]]), 0.5, 1.0)
        array([[ 2.5, -0.5]])
        """
        if self.ratio is None:
            kind = B.dtype.type
            moved = B - before
            moved *= kind(momentum)
            moved += B
            moved -= kind(step) * gradient
            return self.project(moved)
        new, failed = np.empty_like(B), np.zeros(len(B), dtype=bool)
        levels = np.full(len(B), -np.inf) if levels is None else levels
        sizes = self.ratio, self.norm or 0.0, self.signed
        advance_rows(B, before, gradient, momentum, step, *sizes, levels, new, failed)
        if failed.any():
            new[failed] = self.project(new[failed])
        return new


def _norms(B: Array) -> Array:
    """Return ‖b‖₂ of each row, never zero."""
    norms = np.sqrt(np.einsum("ij,ij->i", B, B, dtype=np.float64))
    return np.asarray(np.maximum(norms, np.finfo(B.dtype).tiny), dtype=B.dtype)
