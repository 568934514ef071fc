"""What autoencoders as scikit-learn estimators share: fit learns an encoder, transform applies it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from conicnmf.errors import InputError
from conicnmf.estimators.base import ComponentsOut, as_seed
from conicnmf.estimators.valid import validated
from conicnmf.families import autoencoders as ae
from conicnmf.model.names import labels_of, with_labels
from conicnmf.results import Result
from conicnmf.solve.engine import solve
from conicnmf.types import Array


class Coder(ComponentsOut, BaseEstimator):
    """What all of them share: samples as columns, and codes as rows."""

    standardize: bool
    result_: Result

    def _columns(self, X: Any, reset: bool, **labels: Any) -> Any:
        """Return samples as columns, and labels where `y` is named."""
        kinds = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
        checked = validated(self, X, reset=reset, **kinds, **labels)
        X, y = checked if labels else (checked, None)
        V = X.T if sp.issparse(X) else np.ascontiguousarray(X.T)
        if self.standardize:
            V = ae.standardize(V)
        return (V, y) if labels else V

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def components_(self) -> Array:
        """The filters, one a row."""
        return self.result_.W.T


class Encoder(Coder):
    """An autoencoder of one problem that encodes with its own `codes`."""

    max_iter: int
    random_state: Any
    checkpoint: Any = None

    def _problem(self, V: Array) -> Any:
        raise TypeError(f"{type(self).__name__} must define _problem(V)")

    def _solver(self) -> Any:
        """Return the solver; None lets the problem choose."""

    def _init(self, V: Array) -> Any:
        """Return the start; None lets the problem choose."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the filters.

        Parameters
        ----------
        X : array of shape (samples, features)
        y : ignored
        """
        V = self._columns(X, reset=True)
        samples, features = labels_of(X)
        result = solve(
            with_labels(self._problem(V), features, samples),
            self._solver(),
            init=self._init(V),
            stop=self.max_iter,
            seed=as_seed(self.random_state),
            checkpoint=self.checkpoint,
        )
        self.result_ = result.detached()  # a model that is kept does not keep the samples
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, X: Any) -> Array:
        """Return the codes of samples, one a row."""
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        return np.ascontiguousarray(self._encoded(V).T)

    def _encoded(self, V: Array) -> Array:
        """Return the codes (columns) of samples."""
        return np.asarray(self._problem(V).codes(self.result_.factors, V))

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples that the codes represent; standardized ones where `standardize` is on."""
        check_is_fitted(self)
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.components_):
            raise InputError(
                f"codes must have {len(self.components_)} columns, one per component, got shape "
                f"{codes.shape}; pass what transform returned"
            )
        return np.ascontiguousarray(self._decoded(codes.T).T)

    def _decoded(self, H: Array) -> Array:
        """Return the samples (columns) of codes."""
        return np.asarray(self.result_.W @ H)
