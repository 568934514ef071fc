"""`Problem`: the statement of a factorization, where both doors end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cvxpy as cp

from conicnmf._types import Data
from conicnmf.constraints import NonNegative
from conicnmf.errors import InputError
from conicnmf.joint import merged_bounds
from conicnmf.losses import Frobenius
from conicnmf.recognise import recognise
from conicnmf.terms import Constraint, Loss, Penalty, Term
from conicnmf.validate import as_data, as_rank

if TYPE_CHECKING:
    from conicnmf.result import Result
    from conicnmf.solvers.base import Solver


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem:
    """Minimize a loss of V ≈ W H plus penalties, subject to constraints on each factor.

    Parameters
    ----------
    objective : cvxpy.Minimize
        For example ``cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * cp.sum(H))``.
    constraints : list
        CVXPY constraints that mention one factor each, and bounds on `sparseness`.

    Attributes
    ----------
    V : array or scipy.sparse.csr_array
        The data, features × samples.
    rank : int
        The number of components.
    loss : Loss
    W, H : tuple of Term
        The terms on each factor, seen with components as rows.
    offset : float
        The constant of the objective.

    See Also
    --------
    factorize : the same from terms instead of expressions.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np, conicnmf as cn
    >>> V = np.ones((5, 4))
    >>> W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    >>> cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [cn.sparseness(W, axis=0) >= 0.6])
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative(), Sparseness(min=0.6, max=1.0, each='component')
      H: NonNegative()
    """

    V: Data
    rank: int
    loss: Loss
    W: tuple[Term, ...]
    H: tuple[Term, ...]
    offset: float
    shapes: tuple[tuple[int, int], tuple[int, int]]

    def __init__(self, objective: cp.Minimize, constraints: Iterable[Any] = ()) -> None:
        read = recognise(objective, constraints)
        self._set(read.V, read.rank, read.loss, read.W, read.H, read.offset, read.shapes)

    @classmethod
    def from_terms(
        cls, V: Any, rank: int, loss: Loss, W: Sequence[Term], H: Sequence[Term]
    ) -> Problem:
        """Return the problem with these terms, given in the user's orientation of the factors."""
        data, rank = as_data(V), as_rank(rank)
        shapes = ((data.shape[0], rank), (rank, data.shape[1]))
        for name, terms, shape in (("W", W, shapes[0]), ("H", H, shapes[1])):
            _check_terms(name, terms, shape)
        problem = object.__new__(cls)
        turned = [term.transposed() for term in W]
        problem._set(data, rank, loss, turned, H, 0.0, shapes)
        return problem

    def _set(
        self,
        V: Any,
        rank: int,
        loss: Loss,
        W: Sequence[Term],
        H: Sequence[Term],
        offset: float,
        shapes: tuple[tuple[int, int], tuple[int, int]],
    ) -> None:
        data = as_data(V)
        loss.check((data.shape[0], data.shape[1]))
        fields = (data, rank, loss, tuple(W), tuple(H), offset, shapes)
        for name, value in zip(self.__dataclass_fields__, fields, strict=True):
            object.__setattr__(self, name, value)
        for terms in (self.W, self.H):
            merged_bounds([term for term in terms if isinstance(term, Constraint)])

    if TYPE_CHECKING:  # bound in conicnmf.facade, the last layer

        def solve(self, solver: Solver | None = None, **options: Any) -> Result:
            """Solve the problem."""

        def explain(self) -> str:
            """Say which solvers fit, and why the others do not."""

    def __repr__(self) -> str:
        rows, columns = self.V.shape
        lines = [f"Problem: V ({rows} × {columns}) ≈ W H, rank {self.rank}", f"  loss: {self.loss}"]
        lines += [f"  {name}: {_listed(terms)}" for name, terms in (("W", self.W), ("H", self.H))]
        return "\n".join(lines)


def factorize(
    V: Any,
    rank: int,
    *,
    loss: Loss | None = None,
    W: Sequence[Term] | None = None,
    H: Sequence[Term] | None = None,
) -> Problem:
    """State a factorization V ≈ W H from terms.

    Parameters
    ----------
    V : array or sparse matrix
        The data, features × samples.
    rank : int
        The number of components.
    loss : Loss, optional
        Squared Frobenius by default.
    W, H : list of Term, optional
        Constraints and penalties on each factor; `NonNegative` alone by default.

    Returns
    -------
    Problem

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.factorize(np.ones((5, 4)), 2, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative(), Sparseness(min=0.6, max=1.0, each='component')
      H: NonNegative()
    """
    default = (NonNegative(),)
    if loss is not None and not isinstance(loss, Loss):
        raise InputError(f"loss must be a Loss such as Frobenius(), got {loss!r}; add parentheses")
    return Problem.from_terms(
        V,
        rank,
        Frobenius() if loss is None else loss,
        default if W is None else _as_terms("W", W),
        default if H is None else _as_terms("H", H),
    )


def _as_terms(name: str, terms: Any) -> tuple[Term, ...]:
    if isinstance(terms, Term) or not isinstance(terms, Iterable):
        raise InputError(
            f"{name} takes a list of constraints and penalties, got {terms!r}; put it in brackets"
        )
    return tuple(terms)


def _check_terms(name: str, terms: Sequence[Term], shape: tuple[int, int]) -> None:
    for term in terms:
        if not isinstance(term, (Constraint, Penalty)):
            hint = "write NonNegative() with parentheses" if isinstance(term, type) else ""
            raise InputError(
                f"{name} takes a list of constraints and penalties, got {term!r}; "
                f"{hint or 'CVXPY constraints go into Convex(lambda X: ...)'}"
            )
        term.check(shape)


def _listed(terms: Sequence[Term]) -> str:
    return ", ".join(map(str, terms)) or "free"


def constraints_of(terms: Sequence[Term]) -> tuple[Constraint, ...]:
    """Return the constraints among the terms."""
    return tuple(term for term in terms if isinstance(term, Constraint))


def penalties_of(terms: Sequence[Term]) -> tuple[Penalty, ...]:
    """Return the penalties among the terms."""
    return tuple(term for term in terms if isinstance(term, Penalty))
