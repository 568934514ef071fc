"""A graph: entries of a component that are neighbors in it differ little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.geometry.quadratics import prox_quadratic
from conicnmf.model.operators.spectrum import top_eigenvalue
from conicnmf.model.terms import Pieces, Weighted, along, by_rows, pieces
from conicnmf.settings import Reads
from conicnmf.types import Array
from conicnmf.validate import as_data

_ROUNDING = 1e-8


def _as_laplacian(given: Any, name: str) -> Any:
    """Return a symmetric positive semi-definite matrix in sparse form."""
    L = sp.csr_array(as_data(given, name), dtype=float)
    if L.shape[0] != L.shape[1]:
        raise InputError(f"{name} must be square, got {L.shape}; one row a node of the graph")
    size = float(abs(L).sum(axis=1).max())
    if abs(L - L.T).max() > _ROUNDING * size:
        raise InputError(f"{name} must be symmetric; use (L + L.T) / 2")
    margin = 2 * L.diagonal() - abs(L).sum(axis=1)
    # Diagonal dominance, which every Laplacian has, is enough; else the lowest eigenvalue decides.
    if margin.min() < -_ROUNDING * size:
        lowest = size - top_eigenvalue(lambda x: size * x - L @ x, L.shape[0])
        if lowest < -_ROUNDING * size:
            raise InputError(
                f"{name} must be positive semi-definite, its lowest eigenvalue is {lowest:.3g}; "
                "give the Laplacian, degrees minus adjacency"
            )
    return L


@dataclass(frozen=True, eq=False, repr=False)
class GraphLaplacian(Weighted):
    """The penalty weight · Σ bᵀLb over the components b, for the Laplacian L of a graph.

    For L = degrees − adjacency, bᵀLb is the sum of (bᵢ − bₖ)² over the edges: neighboring features
    (on W) or samples (on H) get similar values.

    Parameters
    ----------
    weight : float
    L : array or sparse matrix
        Symmetric and positive semi-definite, as large as a component is long.
    each : {"component", "sample"}

    Examples
    --------
    >>> path = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> GraphLaplacian(0.5, path).value(np.array([[0.0, 2.0, 1.0]]))
    2.5
    """

    L: Annotated[Any, Reads(_as_laplacian)]
    each: Pieces = "component"

    def __repr__(self) -> str:
        n = self.L.shape[0]
        return f"GraphLaplacian(weight={self.weight:g}, {n} nodes, each={self.each!r})"

    def check_rows(self, shape: tuple[int, int]) -> None:
        """Raise unless a piece has an entry for each node."""
        n, nodes = shape[along(self.each)], self.L.shape[0]
        if n != nodes:
            raise InputError(
                f"GraphLaplacian has {nodes} nodes, and each {self.each} has {n} entries; give "
                "a graph of features to W, of samples to H"
            )

    def _product(self, B: Array) -> Array:
        rows = pieces(B, self.each)
        return pieces((self.L @ rows.T).T, self.each)

    @cached_property
    def _excess(self) -> Array:
        """The sums of L's rows, which are zero for a graph."""
        sums, sizes = self.L.sum(axis=1), abs(self.L).sum(axis=1)
        return np.where(np.abs(sums) > _ROUNDING * sizes, sums, 0.0)

    def value(self, B: Array) -> float:
        """Return the weighted sum of bᵀLb.

        Of components that hardly vary, bᵀLb is a small difference of large numbers, so their
        means are left out of it.
        """
        rows = pieces(B, self.each)
        means = rows.mean(axis=1, dtype=float)
        rest = rows - means[:, None]
        squares = np.sum(rest * (self.L @ rest.T).T, axis=1)
        squares += means * (2 * (rest @ self._excess) + means * self._excess.sum())
        return self.weight * float(np.maximum(squares, 0).sum())

    def expression(self, B: cp.Expression) -> cp.Expression:
        """Return the penalty for CVXPY."""
        rows = B if self.each == "component" else B.T
        L = cp.psd_wrap(sp.csc_array(self.L))
        return self.weight * sum(cp.quad_form(rows[j], L) for j in range(rows.shape[0]))

    def gradient(self, B: Array) -> Array:
        """Return 2 weight L b for each component b."""
        return np.ascontiguousarray(2 * self.weight * self._product(B), dtype=B.dtype)

    def prox(self, B: Array, step: float) -> Array:
        """Solve one sparse system for each component."""
        weight = 2 * step * self.weight
        return by_rows(lambda rows: prox_quadratic(rows, weight, self.L), B, self.each)

    def prox_nonneg(self, B: Array, step: float) -> Array:
        """Solve the same on the entries that are not zero."""
        weight = 2 * step * self.weight
        return by_rows(lambda rows: prox_quadratic(rows, weight, self.L, True), B, self.each)

    def scaled(self, c: float) -> GraphLaplacian:
        """Divide the weight by c²."""
        return self.times(1 / c**2)
