"""Fisher's discriminant with non-negative weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.families.one_factor.operators import dense
from conicnmf.families.one_factor.quadratic import QuadraticProjection
from conicnmf.model.terms import Constraint
from conicnmf.types import Array, Data
from conicnmf.validate import as_data


class Discriminant(QuadraticProjection):
    """Maximize ½wᵀS_Bw over w ≥ 0 with wᵀ(S_W + ρI)w = 1.

    S_B and S_W are the scatter matrices between and within the classes, so that −2 times the
    objective is the Fisher ratio of the projected samples (with ρ = 0). `ConeAscent` solves it: for
    two classes by two cone programs, which are globally optimal. `ProjectionRule` is the published
    rule, whose fixed points are eigenvectors of S_B on their support whatever S_W is.

    Parameters
    ----------
    V : array or sparse matrix
        Features × samples.
    y : array
        One class a sample.
    ridge : float
        ρ in units of the mean diagonal of S_W. When S_W is singular the ratio may be unbounded,
        which `explain` says; a ridge removes this.
    constraints : list of Constraint
        On w, for example ``[Sparseness(min=0.8)]``.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import Discriminant
    >>> V = np.array([[0.0, 1.0, 4.0, 5.0], [1.0, 0.0, 0.5, 1.0]])
    >>> cn.solve(Discriminant(V, [0, 0, 1, 1])).W.round(2).ravel()
    array([2.1 , 1.03])
    """

    def __init__(
        self, V: Any, y: Any, *, ridge: float = 0.0, constraints: Sequence[Constraint] = ()
    ) -> None:
        data = as_data(V)
        codes, means, shares = class_means(data, y)
        if not ridge >= 0:
            raise InputError(f"ridge must be at least 0, got {ridge}; try 0.01")
        between = _between(means, shares)
        centered = None if sp.issparse(data) else data - means[:, codes]
        within = within_scatter(data, means, shares, centered)
        m = len(within)
        size = float(np.trace(within)) / m
        within[np.diag_indices(m)] += ridge * size
        object.__setattr__(self, "ridge", ridge)
        object.__setattr__(self, "_between", between)
        object.__setattr__(self, "_centered", centered)
        object.__setattr__(self, "_added", ridge * size)
        super().__init__(between @ between.T, 1, within, constraints=constraints)

    ridge: float
    _between: Array
    _centered: Array | None
    _added: float

    @cached_property
    def root(self) -> Data:
        """L with B = L Lᵀ: the centered data beside the ridge where that is the sparser form."""
        X = self._centered
        if X is None or self._added <= 0 or X.shape[1] >= X.shape[0]:
            return super().root
        ridge = np.sqrt(self._added) * sp.eye_array(X.shape[0])
        return sp.hstack([sp.csc_array(X / np.sqrt(X.shape[1])), ridge], format="csc")

    @cached_property
    def directions(self) -> Array:
        """G with S_B = G Gᵀ, from the class means."""
        left, sizes, _ = np.linalg.svd(self._between, full_matrices=False)
        kept = sizes > 1e-10 * sizes[0]
        return np.asarray(left[:, kept] * sizes[kept])

    @cached_property
    def single(self) -> Array | None:
        """The scaled difference of two class means."""
        return self.directions[:, 0] if self.directions.shape[1] == 1 else None


def class_means(V: Data, y: Any) -> tuple[NDArray[np.intp], Array, Array]:
    """Return the class of each sample as a number, the class means and the shares of samples.

    Examples
    --------
    >>> class_means(np.array([[1.0, 3.0, 5.0]]), ["a", "a", "b"])[1]
    array([[2., 5.]])
    """
    labels = np.asarray(y)
    if labels.shape != (V.shape[1],):
        raise InputError(
            f"y must have one class for each of the {V.shape[1]} samples, got shape {labels.shape}"
        )
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"y must name at least two classes, got {classes.tolist()}")
    members = sp.csr_array((1 / counts[codes], (np.arange(len(codes)), codes)))
    return codes, dense(V @ members), counts / len(codes)


def _between(means: Array, shares: Array) -> Array:
    """Return G with S_B = G Gᵀ: one column for two classes."""
    if len(shares) == 2:
        return np.asarray(np.sqrt(shares[0] * shares[1]) * (means[:, [1]] - means[:, [0]]))
    return np.asarray(np.sqrt(shares) * (means - (means @ shares)[:, None]))


def within_scatter(V: Data, means: Array, shares: Array, centered: Array | None) -> Array:
    """Return S_W from the centered data, or from the moments of data that stay sparse."""
    n = V.shape[1]
    if centered is None:
        return np.asarray(dense(V @ V.T) / n - (means * shares) @ means.T)
    return np.asarray(centered @ centered.T / n)
