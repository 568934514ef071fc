"""`Problem`: the statement of a factorization, where both doors end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from scipy.sparse import issparse

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem, constraints_of, penalties_of
from conicnmf.model.constraints.joint import merged_bounds
from conicnmf.model.losses import Frobenius
from conicnmf.model.reading import read_problem
from conicnmf.model.terms import Loss, Term
from conicnmf.types import Array, Data, Factors, stored
from conicnmf.validate import as_data, as_rank

if TYPE_CHECKING:
    from conicnmf.solve.methods.base import AnySolver


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(BaseProblem):
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
    factor_shapes: tuple[tuple[int, int], tuple[int, int]]

    kind = "factorization"

    def __init__(self, objective: cp.Minimize, constraints: Iterable[Any] = ()) -> None:
        read = read_problem(objective, constraints)
        self._set(read.V, read.rank, read.loss, read.W, read.H, read.offset, read.shapes)

    @classmethod
    def from_terms(
        cls, V: Any, rank: int, loss: Loss, W: Sequence[Term], H: Sequence[Term]
    ) -> Problem:
        """Return the problem with these terms, given in the user's orientation of the factors."""
        data, rank = as_data(V), as_rank(rank)
        shapes = ((data.shape[0], rank), (rank, data.shape[1]))
        for terms, shape in zip((W, H), shapes, strict=True):
            for term in terms:
                term.check(shape)
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
            merged_bounds(constraints_of(terms))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of W and H."""
        return dict(zip("WH", self.factor_shapes, strict=True))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The block of W and the block of H."""
        V, loss = self.V, self.loss
        (m, r), (_, n) = self.factor_shapes
        stated = (
            ("W", V.T, (r, m), loss.transposed(), self.W),
            ("H", V, (r, n), loss, self.H),
        )
        return tuple(
            Block(name, Y, shape, own, constraints_of(terms), penalties_of(terms))
            for name, Y, shape, own, terms in stated
        )

    def rows(self, block: Block, factors: Factors) -> Array:
        """Return a block's variable with its components as rows."""
        X = factors[block.name]
        return X if block.name == "H" else np.ascontiguousarray(X.T)

    def given(self, block: Block, factors: Factors) -> Subproblem:
        """Return a block with the other factor held."""
        return block.given(factors["W"] if block.name == "H" else factors["H"].T)

    def subproblems(self, factors: Factors) -> list[tuple[Subproblem, Array]]:
        """Return each block with the other factor held, and its own factor as rows."""
        return [(self.given(b, factors), self.rows(b, factors)) for b in self.blocks]

    def put(self, block: Block, factors: Factors, B: Array) -> Factors:
        """Return the factors with the block's B in its place."""
        # W stays a view of its transposed block, so that looking at the block again copies nothing.
        return {**factors, block.name: B if block.name == "H" else B.T}

    def beside(self, block: Block) -> Block:
        """Return the block of the other factor."""
        return next(other for other in self.blocks if other is not block)

    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""
        return self.total(self.fit(factors), factors)

    def fit(self, factors: Factors) -> float:
        """Return the loss alone."""
        return self.loss.value(self.V, factors["W"], factors["H"])

    def total(self, loss: float, factors: Factors) -> float:
        """Return the objective given the loss."""
        own = sum(block.penalty(self.rows(block, factors)) for block in self.blocks)
        return loss + own + self.offset

    def restated(self, factors: Factors) -> float:
        """Return the objective from the plain residual, or from CVXPY's expression."""
        if issparse(self.V) or "expression" not in self.loss.abilities:
            return self.objective(factors)
        W, H = factors["W"], factors["H"]
        return self.total(float(self.loss.expression(self.V, W, H).value), factors)

    @cached_property
    def unit(self) -> float:
        """The loss at zero."""
        return abs(self.blocks[-1].zero_loss)

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − W H‖²/‖V‖², over the weighted entries where there are weights."""
        W, H = factors["W"], factors["H"]
        if (W.shape[0], H.shape[1]) != self.V.shape:
            return float("nan")
        weighted = "reduced" in self.loss.abilities
        loss = self.loss if weighted else Frobenius()
        zero = self.unit if weighted else loss.value(self.V, 0 * W, 0 * H)
        return loss.value(self.V, W, H) / zero if zero else float("nan")

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        cap = self.loss.cap
        excess = max(0.0, self.fit(factors) / cap - 1) if np.isfinite(cap) else 0.0
        return ({f"loss <= {cap:g}": excess} if np.isfinite(cap) else {}) | {
            f"{block.name}: {constraint}": float(
                constraint.violation(self.rows(block, factors)).max(initial=0.0)
            )
            for block in self.blocks
            for constraint in block.constraints
        }

    @cached_property
    def _empty(self) -> bool:
        """Whether the data are zero."""
        return not stored(self.V).any()

    def collapsed(self, factors: Factors) -> bool:
        """Whether a factor lost a component it must keep."""
        if self._empty:
            return False  # zero is the answer for zero data
        return any(block.collapsed(self.rows(block, factors)) for block in self.blocks)

    def components(self, factors: Factors) -> list[tuple[Array, Array]]:
        """Return the pair (W, H)."""
        return [(factors["W"], factors["H"])]

    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a start brought into the constraint set."""
        from conicnmf.solve.starts import as_start, feasible_start

        return feasible_start(self, as_start(init).factors(self, rng), rng)

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return the methods for blocks, the fastest first."""
        from conicnmf.solve.choice import preferred

        return preferred(self)

    def __repr__(self) -> str:
        rows, columns = self.V.shape
        lines = [f"Problem: V ({rows} × {columns}) ≈ W H, rank {self.rank}", f"  loss: {self.loss}"]
        lines += [f"  {name}: {_listed(terms)}" for name, terms in (("W", self.W), ("H", self.H))]
        return "\n".join(lines)


def _listed(terms: Sequence[Term]) -> str:
    return ", ".join(map(str, terms)) or "free"
