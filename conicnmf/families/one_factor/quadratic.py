"""Maximize ½tr(WᵀAW) over W ≥ 0 with orthonormal columns, or with wᵀBw = 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from conicnmf.errors import InputError
from conicnmf.families.one_factor.bounded import unbounded_direction
from conicnmf.families.one_factor.chosen import preferred
from conicnmf.families.one_factor.gains import linearized_gain, orthonormal_gain
from conicnmf.families.one_factor.operators import Operator, Point, Symmetric, as_symmetric, dense
from conicnmf.families.one_factor.orthonormal import departure, separated
from conicnmf.families.one_factor.problem import OneFactorProblem, as_constraints
from conicnmf.model.terms import Constraint
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Array, Data, Factors
from conicnmf.validate import as_rank


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticProjection(OneFactorProblem):
    """Maximize ½tr(WᵀAW) over W ≥ 0 with WᵀW = I, or over w ≥ 0 with wᵀBw = 1.

    The objective of results is −½tr(WᵀAW), to be minimized. Rules multiply, so their iterates are
    orthonormal only in the limit; what is reported is always feasible: each row of W keeps its
    largest entry.

    Parameters
    ----------
    A : array, sparse matrix or callable
        Any symmetric m × m matrix, or a function of W (m × rank) that returns one.
    rank : int
        The number of columns of W; 1 when `norm` is given.
    norm : array, optional
        B, symmetric. Without it the columns of W are orthonormal.
    constraints : list of Constraint
        On the single column w, for example ``[Sparseness(min=0.8)]``; W ≥ 0 is always there.
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

    A: Any
    rank: int = 1
    norm: Any = None
    _: KW_ONLY
    constraints: Sequence[Constraint] = ()
    size: int | None = None
    value: Callable[[Array], float] | None = None

    def __post_init__(self) -> None:
        rank = as_rank(self.rank)
        set_ = object.__setattr__
        if callable(self.A):
            set_(self, "size", as_rank(self.size))
        else:
            set_(self, "A", as_symmetric(self.A, "A"))
            set_(self, "size", self.A.shape[0])
        m = self.shapes["W"][0]
        if rank > m:
            raise InputError(f"rank must be at most the size of A, {m}, got {rank}")
        if self.norm is not None:
            set_(self, "norm", as_symmetric(self.norm, "norm"))
            if rank != 1 or self.norm.shape[0] != m:
                raise InputError(
                    f"norm needs rank=1 and the shape of A, {m} × {m}, got rank={rank} and shape "
                    f"{self.norm.shape}; solve for one column after the other"
                )
        if rank > 1 and self.constraints:
            raise InputError(
                f"constraints need rank=1, got rank={rank}: columns that do not overlap leave no "
                "room for them; use ProjectiveNMF for several constrained columns"
            )
        set_(self, "constraints", as_constraints(self.constraints, (m, rank)))

    def __repr__(self) -> str:
        m, r = self.shapes["W"]
        ball = "WᵀW = I" if self.norm is None else "wᵀBw = 1"
        more = "".join(f", {c}" for c in self.constraints)
        name = type(self).__name__
        return f"{name}: maximize ½tr(WᵀAW), W {m} × {r}, W ≥ 0, {ball}{more}"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of W."""
        return {"W": (int(self.size or 0), self.rank)}

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of A."""
        return np.dtype(float) if callable(self.A) else np.dtype(self.A.dtype)

    @cached_property
    def fixed(self) -> Symmetric | None:
        """A with its halves, when it does not depend on W."""
        return None if callable(self.A) else Symmetric(self.A)

    @property
    def signed(self) -> bool:
        """Whether A has negative entries, or may have them."""
        return self.fixed is None or self.fixed.minus is not None

    def operator(self, W: Array) -> Operator:
        """Return A at W."""
        return Symmetric(as_symmetric(self.A(W), "A(W)")) if self.fixed is None else self.fixed

    @property
    def definite_sign(self) -> int:
        """1 where A is known to be positive semi-definite, −1 where negative, else 0."""
        return 0 if self.fixed is None else self.fixed.sign

    def scaled(self, W: Array) -> Point:
        """Return W with spectral norm 1, or with wᵀBw = 1."""
        if self.norm is None:
            square = float(np.linalg.eigvalsh(W.T @ W)[-1])
        else:
            square = float(np.sum(W * self.in_norm(W)))
        return self.at(W / float(np.sqrt(square)) if square > 0 else W)

    def report(self, point: Point) -> tuple[Factors, float | None]:
        """Return the iterate, with columns that do not overlap."""
        if self.rank > 1:
            return {"W": separated(point.W)}, None
        known = None if self.value is not None else -0.5 * float(np.sum(point.W * point.G))
        return {"W": point.W}, known

    def objective(self, factors: Factors) -> float:
        """Return −½tr(WᵀAW)."""
        W = factors["W"]
        if self.value is not None:
            return -float(self.value(W))
        return -0.5 * float(np.sum(W * self.at(W).G))

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return how far W is from each constraint."""
        W = factors["W"]
        if self.norm is None:
            own = {"WᵀW = I": departure(W)}
        else:
            excess = float(np.sum(W * self.in_norm(W))) - 1
            own = {"wᵀBw ≤ 1": max(excess, 0.0)} if self.convex else {"wᵀBw = 1": abs(excess)}
        return own | super().violations(factors)

    @cached_property
    def convex(self) -> bool:
        """Whether A is known and positive semi-definite, so that wᵀBw ≤ 1 says as much as = 1."""
        return self.fixed is not None and self.fixed.sign == 1

    def conditions(self) -> dict[str, float]:
        """Return what the rules rest on: definiteness of A, of B and of BA + AB.

        The printed condition of rule (21) is that BA + AB is positive definite; what it needs is
        wᵀBAw > 0 at each iterate, which the history records.

        Examples
        --------
        >>> QuadraticProjection(np.diag([1.0, 2.0])).conditions()["smallest eigenvalue of A"]
        1.0
        """
        if self.fixed is None:
            return {}
        low, high = self.fixed.ends
        found = {"smallest eigenvalue of A": low, "largest eigenvalue of A": high}
        found["share of negative entries in A"] = float((self.A < 0).sum() / self.A.shape[0] ** 2)
        if self.norm is not None:
            B = dense(self.norm)
            product = B @ dense(self.A)
            found["smallest eigenvalue of B"] = Symmetric(B).ends[0]
            found["smallest eigenvalue of BA + AB"] = Symmetric(product + product.T).ends[0]
        return found

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return cone programs and rules, in the order in which to try them."""
        return preferred()

    def gains(self, factors: Factors) -> dict[str, float]:
        """Return the part of the objective that a linearized step still gains."""
        gain = orthonormal_gain if self.rank > 1 else linearized_gain
        return {"W": gain(self, factors["W"])}

    @cached_property
    def shift(self) -> float | None:
        """The least c ≥ 0 for which A + cB is positive semi-definite, where B is definite.

        Adding cB changes nothing where wᵀBw = 1.
        """
        if self.fixed is None:
            return None
        if self.norm is None:
            return max(0.0, -self.fixed.ends[0])
        if self.root.shape[1] < self.root.shape[0]:
            return 0.0 if self.convex else None
        lowest = eigh(dense(self.A), dense(self.norm), eigvals_only=True, subset_by_index=[0, 0])
        return max(0.0, -float(lowest[0]))

    @cached_property
    def unbounded(self) -> Array | None:
        """Some w ≥ 0 with wᵀBw = 0 and wᵀAw > 0, nothing when the maximum is finite."""
        return unbounded_direction(self)

    @cached_property
    def root(self) -> Data:
        """L with B = L Lᵀ, with fewer columns than rows exactly when B is singular."""
        if self.norm is None:
            return sp.eye_array(self.shapes["W"][0], format="csc")
        values, vectors = np.linalg.eigh(dense(self.norm))
        kept = values > 1e-12 * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    @cached_property
    def single(self) -> Array | None:
        """Return g where A = ggᵀ, nothing where A has another rank."""
        return self.fixed.single if self.fixed is not None and self.convex else None

    @cached_property
    def directions(self) -> Array:
        """G with A = G Gᵀ where A is positive semi-definite: one column when A has rank one."""
        values, vectors = np.linalg.eigh(dense(self.A))
        kept = values > 1e-10 * max(values[-1], 0.0)
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
