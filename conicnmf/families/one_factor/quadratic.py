"""Maximize ½tr(WᵀAW) over W ≥ 0 with orthonormal columns, or with wᵀBw = 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.projective import Constraints, with_orthant
from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.constraints import NormIn, Orthonormal
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.operators import Operator, Symmetric, as_operator
from conicnmf.model.penalties import Gain
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Constraint
from conicnmf.model.variables import Variable
from conicnmf.settings import Count, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_rank


class QuadraticProjection(Problem):
    """Maximize ½tr(WᵀAW) over W ≥ 0 with WᵀW = I, or over w ≥ 0 with wᵀBw = 1.

    The objective of results is −½tr(WᵀAW), to be minimized. Rules multiply, so their iterates are
    orthonormal only in the limit; what is reported is always feasible: each row of W keeps its
    largest entry. It is the same problem as one stated in CVXPY, ``cp.Maximize(cp.trace(W.T @ A @ W)
    / 2)`` with ``W.T @ W == np.eye(rank)``.

    Parameters
    ----------
    A : array, sparse matrix, LinearOperator, LowRank or callable
        Any symmetric m × m matrix, or a function of W (m × rank) that returns one.
    rank : int
        The number of columns of W; 1 when `norm` is given.
    norm : array, sparse matrix, LinearOperator or LowRank, optional
        B, symmetric. Without it the columns of W are orthonormal.
    constraints : list of Constraint
        On W, for example ``[Sparseness(min=0.8)]``; W ≥ 0 is always there.
    size : int, optional
        m, needed when A is a function.
    value : callable, optional
        What is maximized, as a function of W, when A is a function and ½tr(WᵀAW) is not meant.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import QuadraticProjection
    >>> result = cn.solve(QuadraticProjection(np.array([[2.0, -1.0], [-1.0, 3.0]]), 1))
    >>> result.W.round(3).ravel(), round(result.objective, 6)
    (array([0., 1.]), -1.5)
    """

    kind = "one-factor problem"

    @checks_arguments
    def __init__(
        self,
        A: Any,
        rank: Count = 1,
        norm: Any = None,
        *,
        constraints: Constraints = (),
        size: Count | None = None,
        value: Callable[[Array], float] | None = None,
    ) -> None:
        gain = Gain(A, value)
        m = as_rank(size) if gain.fixed is None else gain.fixed.size
        if rank > m:
            raise InputError(f"rank must be at most the size of A, {m}, got {rank}; try rank=1")
        others = with_orthant(constraints)
        terms = (others[0], self._scale(norm, gain, rank, m), *others[1:], gain)
        W = Variable.stated("W", (m, rank), terms, flipped=True)
        self._set({"W": W}, (), 0.0, {})
        with_labels(self, labels_of(A)[0])

    @staticmethod
    def _scale(norm: Any, gain: Gain, rank: int, m: int) -> Constraint:
        """Return what keeps W from growing."""
        if norm is None:
            return Orthonormal()
        metric = as_operator(norm, "norm")
        if rank != 1 or metric.size != m:
            raise InputError(
                f"norm needs rank=1 and the shape of A, {m} × {m}, got rank={rank} and shape "
                f"({metric.size}, {metric.size}); solve for one column after the other"
            )
        # For a semi-definite A the ball says as much as its surface, and is convex.
        convex = gain.fixed is not None and gain.fixed.sign == 1
        return NormIn(metric, equal=not convex)

    @property
    def view(self) -> OneFactor:
        """The problem as its methods see it."""
        view = one_factor(self)
        assert view is not None
        return view

    @property
    def A(self) -> Operator | None:
        """A, where it does not depend on W."""
        return self.view.fixed

    @property
    def norm(self) -> Operator | None:
        """B, nothing where columns are orthonormal."""
        return None if self.view.norm is None else self.view.norm.metric

    def __repr__(self) -> str:
        m, r = self.shapes["W"]
        ball = "WᵀW = I" if self.view.norm is None else "wᵀBw = 1"
        more = "".join(f", {c}" for c in self.view.others)
        name = type(self).__name__
        return f"{name}: maximize ½tr(WᵀAW), W {m} × {r}, W ≥ 0, {ball}{more}"

    def conditions(self) -> dict[str, float]:
        """Return what the rules rest on: definiteness of A, of B and of BA + AB.

        The printed condition of rule (21) is that BA + AB is positive definite; what it needs is
        wᵀBAw > 0 at each iterate, which the history records.

        Examples
        --------
        >>> QuadraticProjection(np.diag([1.0, 2.0])).conditions()["smallest eigenvalue of A"]
        1.0
        """
        if self.A is None:
            return {}
        matrix = self.A.matrix()
        low, high = np.linalg.eigvalsh(matrix)[[0, -1]]
        found = {"smallest eigenvalue of A": float(low), "largest eigenvalue of A": float(high)}
        found["share of negative entries in A"] = float(np.mean(matrix < 0))
        if self.norm is not None:
            B = self.norm.matrix()
            product = B @ matrix
            found["smallest eigenvalue of B"] = Symmetric(B).lowest
            found["smallest eigenvalue of BA + AB"] = Symmetric(product + product.T).lowest
        return found
