"""What is kept of a statement as it was written: a function of the factor that can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp


@dataclass(frozen=True, eq=False)
class AsStated:
    """The user's expression or constraint with another matrix in the place of its variable.

    Examples
    --------
    >>> X = cp.Variable(2)
    >>> float(AsStated(cp.sum(X), X)(cp.Constant([1, 2])).value)
    3.0
    """

    form: Any
    variable: cp.Variable

    def __call__(self, X: cp.Expression) -> Any:
        """Return the statement for X."""
        return self.form.tree_copy({id(self.variable): X})
