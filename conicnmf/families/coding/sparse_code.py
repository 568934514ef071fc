"""`sparse_code`: codes of new samples in a known dictionary, in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.families.coding.coders import Coder, LeastSquares
from conicnmf.settings import AS_GIVEN, Rule, checks_arguments
from conicnmf.strips import as_source, is_large
from conicnmf.types import Array, Data, Mask
from conicnmf.validate import as_array, as_data, as_matrix, as_numbers, require_range

CoderOrNone: TypeAlias = Annotated[
    Coder | None, Rule(remedy="try coding.OMP(max_atoms=3), or leave it out for least squares")
]


def squared_norms(Y: Data) -> Array:
    """Return the squared norm of each column."""
    if sp.issparse(Y):
        return np.asarray(Y.multiply(Y).sum(axis=0), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->j", Y, Y, dtype=np.float64))


@checks_arguments
def sparse_code(
    V: Any,
    W: Any,
    coder: CoderOrNone = None,
    *,
    init: Any = None,
    known: Any = None,
    sparse: bool = False,
    memory_limit: Annotated[int | float | str | None, AS_GIVEN] = None,
) -> Data:
    """Return non-negative codes H of the samples V in the dictionary W.

    Samples are coded a few thousand at a time, so little memory is needed.

    Parameters
    ----------
    V : array or sparse matrix, or path, or Dask array
        The samples as columns. Data that are not in memory, or have a `memory_limit`, are coded
        strip by strip.
    W : array
        The dictionary, features × atoms, non-negative.
    coder : Coder, optional
        How to code: `LeastSquares` (the default), `Lasso`, `SquaredLasso`, `Threshold`, `OMP`,
        `GroupOMP`, `L0`, `ForwardBackward`, `IterativeThreshold` or `BranchAndBound`.
    init : array, optional
        Codes whose supports are used as a warm start.
    known : array of bool, optional
        True where V has an entry; each sample is coded from its known features only. Other
        entries of V do not matter and may be NaN: ``known=~np.isnan(V)``.
    sparse : bool
        Return a sparse matrix (CSC): a million samples with a few atoms each then take only some
        megabytes, however large the dictionary is.
    memory_limit : int or str, optional
        Read V, a mapped array or a path, in strips within about this much memory ("2GB" for paths by
        default). The codes are then sparse.

    Returns
    -------
    array or scipy.sparse.csc_array
        The codes, atoms × samples.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.sparse_code([[2.0], [1.0]], np.eye(2), cn.coding.OMP(max_atoms=1))
    array([[2.],
           [0.]])
    """
    if is_large(V, memory_limit):
        if init is not None or known is not None:
            raise InputError(
                "samples in strips are coded without init and known; leave these out, or load V"
            )
        return _coded_in_strips(V, W, coder or LeastSquares(), memory_limit)
    mask = None if known is None else _as_mask(known, V)
    seen = V if mask is None else _without_unknown(V, mask)
    Y = as_data(seen, missing="leave them out with known=np.isfinite(V)")
    A = _dictionary(W, Y)
    begin = None if init is None else as_matrix(init, "init", (A.shape[1], Y.shape[1]))
    chosen = coder or LeastSquares()
    parts = _parts(Y, A, chosen, begin, mask)
    if sparse:
        return sp.hstack([sp.csc_array(H) for _, H in parts], format="csc")
    H = np.empty((A.shape[1], Y.shape[1]), dtype=A.dtype)
    for own, codes in parts:
        H[:, own] = codes
    return H


_ENTRIES = 1 << 20
"""So many codes are made at a time."""


def _parts(
    Y: Data, A: Array, coder: Coder, begin: Array | None, known: Mask | None
) -> Iterator[tuple[slice, Array]]:
    """Yield slices of the samples with their codes."""
    samples = Y.tocsc() if sp.issparse(Y) else Y
    width = max(1, _ENTRIES // A.shape[1])
    for first in range(0, max(1, Y.shape[1]), width):
        own = slice(first, first + width)
        start = None if begin is None else np.ascontiguousarray(begin[:, own])
        if known is None:
            yield own, _coded(samples[:, own], A, coder, start)
        else:
            yield own, _masked_code(samples[:, own], A, coder, start, known[:, own])


def _coded_in_strips(V: Any, W: Any, coder: Coder, memory_limit: Any) -> Data:
    reader = as_source(V, "2GB" if memory_limit is None else memory_limit).reader
    parts = []
    for k in range(reader.count):
        Y = as_data(reader.load(k))
        parts.append(sp.csc_array(_coded(Y, _dictionary(W, Y), coder, None)))
    return sp.hstack(parts, format="csc")


def _coded(Y: Data, A: Array, coder: Coder, begin: Array | None) -> Array:
    return coder.code(A.T @ A, np.asarray((Y.T @ A).T), squared_norms(Y), begin)


def _as_mask(known: Any, V: Any) -> Mask:
    mask = np.asarray(as_array(known, "known"))
    shape = V.shape if sp.issparse(V) else as_numbers(V, "V").shape
    if mask.shape != shape or mask.dtype != bool:
        raise InputError(
            f"known must be True or False for each entry of V, of shape {shape}, got "
            f"{mask.dtype} of shape {mask.shape}; try ~np.isnan(V)"
        )
    return mask


def _without_unknown(V: Any, known: Mask) -> Any:
    """Return V with zeros in place of what is not known, which may be NaN."""
    if not sp.issparse(V):
        return np.where(known, as_numbers(V, "V"), 0)
    entries = sp.coo_array(V)
    own = known[entries.coords]
    kept = entries.data[own], tuple(axis[own] for axis in entries.coords)
    return sp.csr_array(kept, shape=V.shape)


def _masked_code(Y: Data, A: Array, coder: Coder, begin: Array | None, known: Mask) -> Array:
    """Code the samples with the same known features together."""
    patterns, owner = np.unique(known, axis=1, return_inverse=True)
    samples = Y.tocsc() if sp.issparse(Y) else Y
    H = np.zeros((A.shape[1], Y.shape[1]), dtype=A.dtype)
    for number, rows in enumerate(patterns.T):
        own = np.flatnonzero(owner.ravel() == number)
        part = samples[:, own][np.flatnonzero(rows)]
        start = None if begin is None else np.ascontiguousarray(begin[:, own])
        if rows.any():
            H[:, own] = _coded(part, np.ascontiguousarray(A[rows]), coder, start)
    return H


def _dictionary(W: Any, Y: Data) -> Array:
    """Return W as numbers of the data's precision, or say what is wrong with it."""
    atoms = as_numbers(W, "W")
    if atoms.ndim != 2 or atoms.shape[0] != Y.shape[0] or not atoms.size:
        raise InputError(
            f"W must have a row for each of the {Y.shape[0]} features of V and a column for each "
            f"atom, got shape {atoms.shape}; samples are columns of V"
        )
    given = as_matrix(atoms, "W", (atoms.shape[0], atoms.shape[1]))
    require_range(given, Y.dtype, "W")
    A = given.astype(Y.dtype, copy=False)
    if A.min() < 0:
        raise InputError(f"W must be non-negative, got entries down to {A.min():g}; clip it")
    return A
