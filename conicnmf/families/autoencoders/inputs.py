"""Checks of what autoencoders are given, and what their settings amount to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.geometry.cones import cone_ratio
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.incoming import as_csr
from conicnmf.model.base import BaseProblem
from conicnmf.model.names import labels_of, with_labels
from conicnmf.settings import Count, Reads, Settings, is_mapping
from conicnmf.types import Array, Data
from conicnmf.validate import as_classes, as_data, as_matrix, as_numbers


def standardize(V: Any) -> Any:
    """Return V with every sample (column) at mean 0 and variance 1; constant samples become 0.

    A data frame keeps its names.

    Examples
    --------
    >>> standardize([[1.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    if sp.issparse(V):
        raise InputError("V must be dense to get mean 0, which fills in its zeros; use V.toarray()")
    given = as_samples(V, "V")
    X = np.array(given, order="C")
    X -= X.mean(axis=0, keepdims=True)
    spread = X.std(axis=0, keepdims=True)
    rounding = 8 * np.finfo(X.dtype).eps * np.abs(given).max(axis=0, keepdims=True)
    constant = spread <= rounding
    X /= np.where(constant, 1, spread)
    X *= ~constant
    return type(V)(X, V.index, V.columns) if labels_of(V) != (None, None) else X


def l1_ratio(length: int, sparseness: float | None) -> float | None:
    """Return ‖x‖₁/‖x‖₂ of vectors with this sparseness.

    Examples
    --------
    >>> l1_ratio(100, 0.5), l1_ratio(100, None)
    (5.5, None)
    """
    return None if sparseness is None else cone_ratio(length, sparseness)


def off_sparseness(B: Array, wanted: float) -> float:
    """Return how far the sparseness of any row is from the wanted one; zero rows are infinitely far.

    Examples
    --------
    >>> off_sparseness(np.eye(2), 0.75)
    0.25
    """
    if B.shape[1] == 1:
        return 0.0
    return float(np.nan_to_num(np.abs(hoyer_sparseness(B) - wanted), nan=np.inf).max())


def as_samples(V: Any, name: str) -> Any:
    """Return data with samples as columns, in the order in which they are read.

    Examples
    --------
    >>> as_samples([[1, 2]], "V")
    array([[1., 2.]])
    """
    if sp.issparse(V):
        return sp.csc_array(as_data(V, name))
    return np.ascontiguousarray(as_data(as_numbers(V, name), name))


def as_filters(X: Any, W: Any) -> tuple[Data, Array]:
    """Return samples and filters of the same features as numbers; X may hold any.

    Examples
    --------
    >>> as_filters([[1.0, 2.0]], [[3.0]])[1]
    array([[3.]])
    """
    samples: Data = as_csr(X, "X") if sp.issparse(X) else as_numbers(X, "X")
    if samples.ndim != 2:
        raise InputError(
            f"X must be a matrix, features × samples, got shape {samples.shape}; reshape one sample "
            "to a column with X.reshape(-1, 1)"
        )
    filters = as_numbers(W, "W")
    if filters.ndim != 2:
        raise InputError(
            f"W must have a filter in each column, got shape {filters.shape}; reshape one to a "
            "column with W.reshape(-1, 1)"
        )
    return samples, as_matrix(filters, "W", (samples.shape[0], filters.shape[1]))


def samples_at(V: Data, places: Any) -> Array:
    """Return some of the samples, dense.

    Examples
    --------
    >>> samples_at(sp.csc_array([[0.0, 3.0]]), slice(1, None))
    array([[3.]])
    """
    some = V[:, places]
    return np.ascontiguousarray(some.toarray() if sp.issparse(some) else some)


def responses(B: Array, V: Data, out: Array | None = None) -> Array:
    """Return B V, row by row, into `out` where it is given; V may be sparse.

    Examples
    --------
    >>> responses(np.array([[2.0, 0.0]]), sp.csc_array([[1.0], [5.0]]))
    array([[2.]])
    """
    if not sp.issparse(V):
        return np.matmul(B, V, out=out)
    if out is None:
        return np.ascontiguousarray(B @ V)
    out[...] = B @ V
    return out


def binary_teacher(y: Any, V: Data, name: str = "y") -> Array:
    """Return −1 for the smaller label and +1 for the larger, one a sample.

    Examples
    --------
    >>> binary_teacher(["no", "yes", "no"], np.ones((2, 3)))
    array([-1.,  1., -1.])
    """
    classes, codes = as_classes(y, V.shape[1], name)
    if len(classes) != 2:
        raise InputError(
            f"{name} must have two classes, got {len(classes)}; SCFCClassifier takes more, with one "
            "bank of filters for each class against the others"
        )
    return np.where(codes == 1, 1, -1).astype(V.dtype)


def given(init: Any, shapes: Mapping[str, Any], kind: Any) -> dict[str, Array]:
    """Return the variables that a start names: a dict of them, a pair (W, H), or None.

    Examples
    --------
    >>> given(None, {"W": (2, 1)}, np.float64)
    {}
    """
    if init is None:
        return {}
    pair = isinstance(init, (tuple, list)) and 0 < len(init) <= 2
    if not pair and not is_mapping(init):
        raise InputError(
            "the start of an autoencoder is a dict of arrays by name or a pair (W, H), got "
            f"{init!r}; the variables are {', '.join(shapes)}"
        )
    named = init if is_mapping(init) else dict(zip("WH", init, strict=False))
    unknown = set(named) - set(shapes)
    if unknown:
        listed = ", ".join(sorted(map(str, unknown)))
        raise InputError(
            f"a start names variables of the problem, got {listed}; they are {', '.join(shapes)}"
        )
    return {name: as_matrix(X, name, shapes[name]).astype(kind) for name, X in named.items()}


def sample_squares(X: Data) -> Array:
    """Return ‖x‖² of each sample.

    Examples
    --------
    >>> sample_squares(np.array([[3.0, 0.0], [4.0, 2.0]]))
    array([25.,  4.])
    """
    return np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=0))


def sum_squares(X: Data) -> float:
    """Return ‖X‖², row by row in double precision.

    Examples
    --------
    >>> sum_squares(np.array([[3.0], [4.0]]))
    25.0
    """
    X = X.data if sp.issparse(X) else X
    rows = X.reshape(len(X), -1) if X.ndim > 1 else X[None]
    return float(np.einsum("ij,ij->i", rows, rows).sum(dtype=np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class OfSamples(Settings, BaseProblem):
    """A problem of samples, the columns of V; the names of a data frame are its names."""

    kind = "autoencoder"

    V: Annotated[Any, Reads(as_samples)]
    rank: Count

    def __post_init__(self) -> None:
        labels = labels_of(self.V)
        super().__post_init__()
        with_labels(self, *labels)

    @property
    def data_shapes(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The numbers of features and samples."""
        return {"V": self.V.shape}
