"""What every loader returns: the matrix, and what is known about its rows and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.settings import Settings
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Settings):
    """A data matrix with its labels, names and, where it was generated, its true factors.

    Parameters
    ----------
    name : str
        The name that `load` knows it by.
    V : array or csr_array, features × samples
        The data; non-negative unless `description` says otherwise.
    target : array, optional
        One label per sample.
    image_shape : tuple of int, optional
        (rows, columns) of a column of `V` seen as an image, row by row.
    feature_names, sample_names : array, optional
        One name per row and per column of `V`.
    truth : dict
        The generating "W" and "H", as far as they are known.
    extra : dict
        Further arrays, such as the test half "V_test" and "target_test". "index" holds the columns
        that were kept when only some of the samples were asked for.
    description : str
        What the data are, where they come from and on which terms.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.datasets import Dataset
    >>> Dataset(name="tiny", V=np.ones((2, 3)), target=np.array([0, 1, 1]))
    Dataset('tiny', 2 × 3, float64)
    """

    name: str
    V: Data
    target: NDArray[Any] | None = None
    image_shape: tuple[int, int] | None = None
    feature_names: NDArray[Any] | None = None
    sample_names: NDArray[Any] | None = None
    truth: dict[str, Array] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    description: str = ""

    def check_settings(self) -> None:
        """Compare the sizes."""
        matrix = hasattr(self.V, "dtype") and self.V.ndim == 2
        self.require(matrix, "V to be features × samples", "V", remedy="use np.asarray(V)")
        n_features, n_samples = self.V.shape
        self._check_length("target", self.target, n_samples)
        self._check_length("sample_names", self.sample_names, n_samples)
        self._check_length("feature_names", self.feature_names, n_features)
        rows, columns = self.image_shape or (n_features, 1)
        rule, remedy = f"image_shape to have V's {n_features} pixels", "leave it out"
        self.require(rows * columns == n_features, rule, "image_shape", remedy=remedy)

    def _check_length(self, what: str, values: NDArray[Any] | None, length: int) -> None:
        if values is not None and values.shape != (length,):
            raise InputError(
                f"Dataset {what} of {self.name!r} must have shape ({length},) to fit V of shape "
                f"{self.V.shape}, got {values.shape}; give one a row or column"
            )

    def __repr__(self) -> str:
        rows, columns = self.V.shape
        text = f"Dataset({self.name!r}, {rows} × {columns}, {self.V.dtype}"
        if sp.issparse(self.V):
            text += f" {self.V.format}, density {self.V.nnz / max(rows * columns, 1):.2%}"
        return text + ")"
