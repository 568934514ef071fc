"""Sparse codes that one matrix product infers: the problem that SCFC solves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conicnmf.families.autoencoders.inputs import (
    binary_teacher,
    given,
    responses,
    sum_squares,
)
from conicnmf.families.autoencoders.sparse_codes import SparseCodes
from conicnmf.families.autoencoders.transfer import Odd, answer, transferred
from conicnmf.kernels.encoder import matched_slope
from conicnmf.settings import Share, Weight, checks_arguments
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True)
class Weights:
    """What one unit of each of the three squared errors costs."""

    fit: float
    infer: float
    teach: float

    def total(self, fit: float, gap: float, miss: float) -> float:
        """Return the weighted sum."""
        return self.fit * fit + self.infer * gap + self.teach * miss


@dataclass(frozen=True, eq=False, repr=False)
class FastCodes(SparseCodes):
    """Filters and sparse codes with V ≈ W H and H ≈ f(WᵀV + θ), f(x) = tanh(βx)^q.

    The objective is a mean of relative errors,

        (1 − α_I − α_C)‖V − WH‖²/‖V‖² + α_I‖H − f(WᵀV + θ)‖²/‖H‖² + α_C‖t − o‖²/M

    with o = tanh(w_outᵀf(WᵀV + θ) + θ_out) and a teacher t of −1 and +1. Columns of W have sparseness
    σ_W and any norm, rows of H have sparseness σ_H and norm one.

    Parameters
    ----------
    V : array or sparse matrix of shape (d, M)
        One sample a column; see `standardize`.
    rank : int
    sparseness_w, sparseness_h : float or None
        Exact Hoyer sparseness of each filter and of each row of codes; None leaves it free.
    y : sequence of two different labels, optional
        Class of each sample; the larger label is taught as +1.
    nonneg : bool
        W ≥ 0 and H ≥ 0; by default both are signed.
    q : int
        Odd exponent; 1 has no plateau round zero, and codes cannot be inferred well with it.
    alpha_i, alpha_c : float, optional
        Final weights of inference and, with labels, classification; ½ each by default.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.autoencoders import FastCodes, standardize
    >>> V = standardize(np.random.default_rng(0).random((16, 60)))
    >>> result = FastCodes(V, 4, sparseness_w=0.6, sparseness_h=0.5).solve(stop=20)
    >>> cn.sparseness(result.W, axis=0).round(6)
    array([0.6, 0.6, 0.6, 0.6])
    """

    sparseness_w: Share | None = 0.8
    sparseness_h: Share | None = 0.7
    nonneg: bool = False
    y: Any = None
    q: Odd = 3
    alpha_i: Weight = 0.5
    alpha_c: Weight | None = None
    teacher: Array | None = field(init=False)

    def check_settings(self) -> None:
        """Make the teacher, and give what is left out its weight."""
        super().check_settings()
        taught = self.y is not None
        teacher = binary_teacher(self.y, self.V, "FastCodes y") if taught else None
        object.__setattr__(self, "teacher", teacher)
        if self.alpha_c is None:
            object.__setattr__(self, "alpha_c", 0.5 if taught else 0.0)
        shares = self.alpha_i + (self.alpha_c or 0.0) <= 1
        self.require(shares, "alpha_i + alpha_c <= 1", "alpha_i", "alpha_c", remedy="try 0.5")
        remedy = "pass y or leave alpha_c out"
        self.require(taught or not self.alpha_c, "a teacher for alpha_c", "alpha_c", remedy=remedy)

    def __repr__(self) -> str:
        teacher = "" if self.teacher is None else f" and {self.alpha_c:g} (classification)"
        inner = super().__repr__().removeprefix("SparseCodes(").removesuffix(")")
        return f"FastCodes({inner}, q = {self.q}, alpha = {self.alpha_i:g} (inference){teacher})"

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of W, H, θ and β, and of w_out and θ_out where there is a teacher."""
        n = self.rank
        shapes = super().shapes | {"theta": (n, 1), "beta": (n, 1)}
        if self.teacher is not None:
            shapes |= {"w_out": (n, 1), "theta_out": (1, 1)}
        return shapes

    def weights(self, infer: float = 1.0, teach: float = 1.0) -> Weights:
        """Return the weights of the three squared errors for these parts of α_I and α_C."""
        a, c = self.alpha_i * infer, (self.alpha_c or 0.0) * teach
        return Weights((1 - a - c) / self.size, a / self.rank, c / self.V.shape[1])

    def objective(self, factors: Factors) -> float:
        """Return the weighted mean of the relative errors."""
        codes = self.codes(factors, self.V)
        miss = 0.0
        if self.teacher is not None:
            miss = sum_squares(self.teacher - answer(codes, factors["w_out"], factors["theta_out"]))
        codes -= factors["H"]
        fit = self.relative_error(factors) * self.size
        return self.weights().total(fit, sum_squares(codes), miss)

    def codes(self, factors: Factors, X: Data) -> Array:
        """Return the codes f(WᵀX + θ) of samples (columns)."""
        return transferred(X, factors["W"], factors["theta"], factors["beta"], self.q)

    @checks_arguments
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return random sparse filters, their responses made sparse, and β matched to both."""
        known = given(init, self.shapes, self.V.dtype)
        start = super().start({name: known[name] for name in ("W", "H") if name in known}, rng)
        n, kind = self.rank, self.V.dtype
        start |= {
            "theta": np.zeros((n, 1), kind),
            "beta": matched_slopes(responses(start["W"].T, self.V), self.q),
        }
        if self.teacher is not None:
            start |= {"w_out": np.zeros((n, 1), kind), "theta_out": np.zeros((1, 1), kind)}
        return start | {name: X for name, X in known.items() if name not in ("W", "H")}


def matched_slopes(P: Array, q: int) -> Array:
    """Return β with ‖(βp)^q‖ = 1 for each row p, 1 where p is zero.

    Then small codes are powers, far from saturation.

    Examples
    --------
    >>> matched_slopes(np.array([[0.0, 4.0]]), 3)
    array([[0.25]])
    """
    return np.array([[matched_slope(p, q)] for p in P], P.dtype)
