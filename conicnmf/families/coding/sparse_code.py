"""`sparse_code`: codes of new samples in a known dictionary, in bulk."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.families.coding.coders import Coder, LeastSquares
from conicnmf.types import Array, Data
from conicnmf.validate import as_data, as_matrix


def squared_norms(Y: Data) -> Array:
    """Return the squared norm of each column."""
    if sp.issparse(Y):
        return np.asarray(Y.multiply(Y).sum(axis=0), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->j", Y, Y, dtype=np.float64))


def sparse_code(V: Any, W: Any, coder: Coder | None = None, *, init: Any = None) -> Array:
    """Return non-negative codes H of the samples V in the dictionary W.

    Parameters
    ----------
    V : array or sparse matrix
        The samples as columns.
    W : array
        The dictionary, features × atoms, non-negative.
    coder : Coder, optional
        How to code: `LeastSquares` (the default), `Lasso`, `SquaredLasso`, `Threshold`, `OMP`,
        `L0` or `ForwardBackward`.
    init : array, optional
        Codes whose supports make a warm start.

    Returns
    -------
    array
        The codes, atoms × samples.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.sparse_code([[2.0], [1.0]], np.eye(2), cn.coding.OMP(max_atoms=1))
    array([[2.],
           [0.]])
    """
    Y = as_data(V)
    atoms = np.asarray(W)
    if atoms.ndim != 2 or atoms.shape[0] != Y.shape[0]:
        raise InputError(
            f"W must have a row for each of the {Y.shape[0]} features of V, got shape "
            f"{atoms.shape}; samples are columns of V"
        )
    A = as_matrix(atoms, "W", (atoms.shape[0], atoms.shape[1])).astype(Y.dtype, copy=False)
    if A.min() < 0:
        raise InputError(f"W must be non-negative, got entries down to {A.min():g}")
    G, C = A.T @ A, np.asarray((Y.T @ A).T)
    return (coder or LeastSquares()).code(G, C, squared_norms(Y), init)
