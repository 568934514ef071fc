"""Small CVXPY programs that are built once: new numbers are written into their parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

_FEW = 1000
"""CVXPY keeps what every entry of a parameter touches; for more of them it costs more than it saves."""


@dataclass(eq=False)
class Kept:
    """The program that `build(pattern, **numbers)` makes, again and again with other numbers.

    Lowering a small program takes CVXPY many times longer than a backend needs to solve it. So one
    that is asked for again with the same pattern is built with parameters in place of the numbers.
    A float is a weight, at least zero; arrays have any sign.

    Examples
    --------
    >>> x = cp.Variable()
    >>> nearest = Kept(lambda _, p: cp.Problem(cp.Minimize((x - p) ** 2)))
    >>> [len(nearest(None, p=np.array(own)).parameters()) for own in (1.0, 2.0, 3.0)]
    [0, 1, 1]
    """

    build: Callable[..., cp.Problem]
    _seen: Any = None
    _program: cp.Problem | None = None
    _parameters: dict[str, cp.Parameter] = field(default_factory=dict)

    def __call__(self, pattern: Hashable, **numbers: Any) -> cp.Problem:
        """Return the program with these numbers."""
        seen = (pattern, *((name, np.shape(own)) for name, own in numbers.items()))
        if seen != self._seen or sum(map(np.size, numbers.values())) > _FEW:
            self._seen, self._program = seen, None
            return self.build(pattern, **numbers)
        if self._program is None:
            self._parameters = {
                name: cp.Parameter(np.shape(own), nonneg=isinstance(own, float))
                for name, own in numbers.items()
            }
            self._program = self.build(pattern, **self._parameters)
        for name, own in numbers.items():
            self._parameters[name].value = own
        return self._program
