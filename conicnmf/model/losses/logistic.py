"""Logistic loss for data that are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import expit

from conicnmf.model.losses.entrywise import Entrywise
from conicnmf.model.terms import Quadratic
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Entrywise):
    """The negative log-likelihood Σ log(1 + exp p) − y p of data 0 or 1 whose log-odds are A B.

    With non-negative factors, the log-odds are never negative and probabilities are at least ½:
    add an offset, or let one factor have any sign.

    References
    ----------
    Böhning and Lindsay, Monotonicity of quadratic-approximation algorithms, AISM 1988.

    Examples
    --------
    >>> round(Logistic().value(np.eye(2), np.zeros((2, 1)), np.zeros((1, 2))), 4)  # 4 log 2
    2.7726
    """

    def rule(self) -> tuple[str, Any, str]:
        """Return that data are 0 or 1."""
        return "0 or 1", lambda y: (y != 0) & (y != 1), "write (V > level) * 1.0"

    def remark(self, nonneg: bool) -> str:
        """Return that non-negative log-odds say yes everywhere."""
        return (
            "log-odds of non-negative factors give probabilities of 1/2 and more; state "
            'offset="feature", or a factor without NonNegative'
            if nonneg
            else ""
        )

    def entries(self, y: Array, p: Array) -> Array:
        """Return log(1 + exp p) − y p."""
        return np.logaddexp(y.dtype.type(0), p) - y * p

    def slopes(self, y: Array, p: Array) -> Array:
        """Return how far the probabilities are above the data."""
        return np.asarray(expit(p)) - y

    def majorize(self, Y: Data, A: Array, B: Array) -> Quadratic:
        """Bend nowhere more than a quarter."""
        return self.bounded(0.25, Y, A, B)

    def atoms(self, Y: Data, P: cp.Expression) -> cp.Expression:
        """Return the same for CVXPY."""
        return cp.logistic(P) - cp.multiply(Y, P)
