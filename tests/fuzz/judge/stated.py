"""A problem as it was stated, and the way between its names and the user's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Stated:
    """A problem, and the CVXPY variables by the case's names where it was stated with such."""

    problem: Any
    variables: dict[str, Any] = field(default_factory=dict)

    def read(self, factors):
        """Return factors in double precision under the case's names, as the user wrote them."""
        X = {name: np.asarray(own, dtype=np.float64) for name, own in factors.items()}
        if not self.variables:
            return X
        found = {}
        for name, variable in self.variables.items():
            own, source = self.problem.source(variable)
            found[name] = source.outward(X[own])
        return found

    def key(self, name):
        """Return what the user calls a variable by: its CVXPY variable, or its name."""
        return self.variables.get(name, name)
