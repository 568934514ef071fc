"""Half-spaces of a factor: what is left of a set that is not convex when it is linearized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.model.terms.base import Each, along, pieces
from conicnmf.types import Array, Mask


@dataclass(frozen=True, eq=False)
class Halfspaces:
    """The half-spaces ⟨normals_j, B⟩ − above(B)_j ≥ offsets_j, mostly without `above`.

    Parameters
    ----------
    normals : array or sparse matrix
        In the shape of B where there is one half-space for each piece. Where `each` is "factor", a
        matrix with a row for each half-space and a column for each entry of B, row by row.
    each : {"component", "sample", "factor"}
    offsets : array or float
    above : callable, optional
        A convex CVXPY expression of B, a vector with a number for each half-space. What it leaves of
        a half-space is convex.

    Examples
    --------
    >>> Halfspaces(np.eye(2), "factor", offsets=1.0).slack(np.array([[3.0, 1.0]]))
    array([2., 0.])
    """

    normals: Any
    each: Each
    offsets: Array | float = 0.0
    above: Callable[[cp.Expression], cp.Expression] | None = None

    @property
    def count(self) -> int:
        """The number of half-spaces."""
        return int(self.normals.shape[1 if self.each == "sample" else 0])

    @property
    def levels(self) -> Array:
        """The offset of each half-space."""
        return np.broadcast_to(np.asarray(self.offsets, dtype=float), (self.count,))

    @property
    def in_numbers(self) -> bool:
        """Whether dense numbers are all there is to know of them."""
        return self.above is None and isinstance(self.normals, np.ndarray)

    @property
    def flat(self) -> Mask:
        """Which half-spaces say nothing of B but for `above`: their normal is zero."""
        if self.each == "factor":
            return np.asarray(abs(sp.csr_array(self.normals)).sum(axis=1) == 0)
        return np.asarray(~pieces(self.normals, self.each).any(axis=1))

    def products(self, B: Any) -> Any:
        """Return the left-hand sides, as numbers for an array, as an expression for one."""
        known = isinstance(B, np.ndarray)
        if self.each == "factor":
            left = self.normals @ (B.ravel() if known else cp.vec(B, order="C"))
        else:
            axis = along(self.each)
            terms = self.normals * B if known else cp.multiply(self.normals, B)
            left = terms.sum(axis=axis) if known else cp.sum(terms, axis=axis)
        if self.above is None:
            return left
        return left - (self.above(cp.Constant(B)).value if known else self.above(B))

    def slack(self, B: Array) -> Array:
        """Return how far B is inside each half-space, negative outside."""
        return np.asarray(self.products(B) - self.levels)

    def where(self, held: Mask, other: Halfspaces | None = None) -> Halfspaces:
        """Return these half-spaces where `held` is true, others of the same kind elsewhere.

        Without others, the normals and the offsets are zero there.
        """
        levels = np.where(held, self.levels, 0.0 if other is None else other.levels)
        if self.each == "factor":
            keep = sp.diags_array(held.astype(float))
            normals = keep @ self.normals
            if other is not None:
                normals = normals + sp.diags_array((~held).astype(float)) @ other.normals
        else:
            rest = 0.0 if other is None else pieces(other.normals, self.each)
            rows = np.where(held[:, None], pieces(self.normals, self.each), rest)
            normals = pieces(rows, self.each)
        return replace(self, normals=normals, offsets=levels)
