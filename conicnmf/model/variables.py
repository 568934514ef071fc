"""The variables of a problem: a name, a shape, and the terms on them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError, warn_user
from conicnmf.model.terms import Term
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Variable:
    """A matrix to be found.

    Parameters
    ----------
    name : str
    shape : tuple of int
        As the user knows it: W is features × rank, H is rank × samples.
    terms : tuple of Term
        Constraints and penalties, seen with a component in each row.
    flipped : bool
        Whether components are columns, as in W; then blocks hold its transpose.

    Examples
    --------
    >>> Variable("W", (5, 2), (), flipped=True).rows_shape
    (2, 5)
    """

    name: str
    shape: tuple[int, int]
    terms: tuple[Term, ...] = ()
    flipped: bool = False

    def __post_init__(self) -> None:
        kept: list[Term] = []
        for term in self.terms:
            reason = term.idle(self.rows_shape)
            if reason:
                warn_user(f"{term} on {self.name} is left out: {reason}; drop it or change `each`")
            else:
                kept.append(term)
        object.__setattr__(self, "terms", tuple(kept))

    @property
    def rows_shape(self) -> tuple[int, int]:
        """The shape with a component in each row."""
        return self.shape[::-1] if self.flipped else self.shape

    @classmethod
    def stated(
        cls, name: str, shape: tuple[int, int], terms: tuple[Term, ...], flipped: bool
    ) -> Variable:
        """Return a variable with terms given as the user knows it, once they are checked."""
        for term in terms:
            term.check(shape)
        own = tuple(term.transposed() for term in terms) if flipped else terms
        found = cls(name, shape, own, flipped)
        for term in own:
            term.check_rows(found.rows_shape)
        return found


@dataclass(frozen=True, eq=False)
class Source:
    """The user's CVXPY variable behind a variable of a problem, which may hold its transpose.

    Examples
    --------
    >>> import numpy as np
    >>> Source(cp.Variable(3), turned=True).outward(np.ones((1, 3)))
    array([1., 1., 1.])
    """

    variable: cp.Variable
    turned: bool = False

    @property
    def name(self) -> str:
        """The name that the user gave it, nothing where CVXPY made one."""
        return given_name(self.variable)

    def outward(self, X: Array) -> Array:
        """Return what the problem holds in the shape of the user's variable."""
        own = X.T if self.turned else X
        return own if own.shape == self.variable.shape else own.reshape(self.variable.shape)

    def write(self, name: str, shape: tuple[int, ...], X: Array | None) -> None:
        """Give the user's variable the value X of this name, if it has the shape."""
        if X is None or X.shape != shape:
            raise InputError(
                f"the result has no {name} of shape {shape}; assign a result of this problem"
            )
        self.variable.save_value(np.array(self.outward(X)))

    def inward(self, X: Array) -> Array:
        """Return a value of the user's variable as the problem holds it."""
        matrix = X if X.ndim == 2 else X.reshape(-1, 1)
        return matrix.T if self.turned else matrix


def given_name(variable: cp.Variable) -> str:
    """Return the name that a user gave a CVXPY variable, nothing where CVXPY made one.

    Examples
    --------
    >>> given_name(cp.Variable(2, name="x")), given_name(cp.Variable(2))
    ('x', '')
    """
    name: str = variable.name()
    return "" if re.fullmatch(r"var\d+", name) else name
