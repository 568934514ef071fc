"""What autoencoders as scikit-learn estimators share: fit learns an encoder, transform applies it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from conicnmf.estimators.base import ComponentsOut, as_seed
from conicnmf.estimators.valid import validated
from conicnmf.families import autoencoders as ae
from conicnmf.results import Result
from conicnmf.solve.engine import solve
from conicnmf.types import Array


class Coder(ComponentsOut, BaseEstimator):
    """What all of them share: samples as columns, and codes as rows."""

    standardize: bool
    result_: Result

    def _columns(self, X: Any, reset: bool, **labels: Any) -> Any:
        """Return samples as columns, and labels where `y` is named."""
        checked = validated(self, X, reset=reset, dtype=[np.float64, np.float32], **labels)
        X, y = checked if labels else (checked, None)
        V = np.ascontiguousarray(X.T)
        if self.standardize:
            V = ae.standardize(V)
        return (V, y) if labels else V

    @property
    def components_(self) -> Array:
        """The filters, one a row."""
        return self.result_.W.T


class Encoder(Coder):
    """An autoencoder of one problem that encodes with its own `codes`."""

    max_iter: int
    random_state: Any

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
        self.problem_ = self._problem(V)
        self.result_ = solve(
            self.problem_,
            self._solver(),
            init=self._init(V),
            stop=self.max_iter,
            seed=as_seed(self.random_state),
        )
        self.n_iter_ = self.result_.n_iter
        return self

    def transform(self, X: Any) -> Array:
        """Return the codes of samples, one a row."""
        check_is_fitted(self)
        V = self._columns(X, reset=False)
        return np.ascontiguousarray(self.problem_.codes(self.result_.factors, V).T)
