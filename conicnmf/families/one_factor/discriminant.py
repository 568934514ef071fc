"""Fisher's discriminant with non-negative weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.families.one_factor.projective import Constraints
from conicnmf.families.one_factor.quadratic import QuadraticProjection
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.operators import LowRank, Operator, Symmetric, dense
from conicnmf.settings import Weight, checks_arguments
from conicnmf.types import Array, Data
from conicnmf.validate import as_classes, as_data


class Discriminant(QuadraticProjection):
    """Maximize ½wᵀS_Bw over w ≥ 0 with wᵀ(S_W + ρI)w = 1.

    S_B and S_W are the scatter matrices between and within the classes, so that −2 times the
    objective is the Fisher ratio of the projected samples (with ρ = 0). `ConeAscent` solves it: for
    two classes by two cone programs, which are globally optimal; `DirectionSearch` proves the
    maximum for a few more. `ProjectionRule` is the published
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

    @checks_arguments
    def __init__(
        self, V: Any, y: Any, *, ridge: Weight = 0.0, constraints: Constraints = ()
    ) -> None:
        data = as_data(V)
        codes, means, shares = class_means(data, y)
        require_difference(data, "Discriminant")
        between = LowRank(_between(means, shares))
        within = _within(data, means, codes, shares, ridge)
        object.__setattr__(self, "ridge", ridge)
        super().__init__(between, 1, within, constraints=constraints)
        with_labels(self, labels_of(V)[0])

    ridge: float


def _within(
    data: Data, means: Array, codes: NDArray[np.intp], shares: Array, ridge: float
) -> Operator:
    """Return S_W + ρI, from the centered data where these have fewer entries than S_W."""
    m, n = data.shape
    if sp.issparse(data) and n >= m:
        matrix = np.asarray(dense(data @ data.T) / n - (means * shares) @ means.T)
    else:
        centered = (dense(data) - means[:, codes]) / np.sqrt(n)
        if n < m:
            return LowRank(centered, ridge * float(np.sum(centered**2)) / m)
        matrix = np.asarray(centered @ centered.T)
    matrix[np.diag_indices(m)] += ridge * float(np.trace(matrix)) / m
    return Symmetric(matrix)


def require_difference(V: Data, asked: str) -> None:
    """Raise where all samples are equal, so that no w gives them a scatter, rounding apart."""
    low, high = (dense(own) for own in (V.min(axis=1), V.max(axis=1)))
    if (low == high).all():
        raise InputError(
            f"{asked} needs samples that differ, got the same sample {V.shape[1]} times; samples are "
            "columns of V"
        )


def class_means(V: Data, y: Any) -> tuple[NDArray[np.intp], Array, Array]:
    """Return the class of each sample as a number, the class means and the shares of samples.

    Examples
    --------
    >>> class_means(np.array([[1.0, 3.0, 5.0]]), ["a", "a", "b"])[1]
    array([[2., 5.]])
    """
    classes, codes = as_classes(y, V.shape[1], "y")
    counts = np.bincount(codes)
    if len(classes) < 2:
        raise InputError(
            f"y must name at least two classes, got {classes.tolist()}; label them by class"
        )
    members = sp.csr_array((1 / counts[codes], (np.arange(len(codes)), codes)))
    return codes, dense(V @ members), counts / len(codes)


def _between(means: Array, shares: Array) -> Array:
    """Return G with S_B = G Gᵀ: one column for two classes."""
    if len(shares) == 2:
        return np.asarray(np.sqrt(shares[0] * shares[1]) * (means[:, [1]] - means[:, [0]]))
    return np.asarray(np.sqrt(shares) * (means - (means @ shares)[:, None]))
