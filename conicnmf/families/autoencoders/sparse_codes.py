"""Filters and codes of exact sparseness: the problem that NMFSC solves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conicnmf.families.autoencoders.inputs import (
    OfSamples,
    given,
    l1_ratio,
    off_sparseness,
    responses,
    samples_at,
    sum_squares,
)
from conicnmf.families.autoencoders.row_constraint import RowConstraint
from conicnmf.settings import Share, checks_arguments
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False, repr=False)
class SparseCodes(OfSamples):
    """V ≈ W H with exact sparseness of W's columns, H's rows or both; rows of H have norm one.

    Parameters
    ----------
    V : array or sparse matrix of shape (d, M)
    rank : int
    sparseness_w, sparseness_h : float or None
        Exact Hoyer sparseness; None leaves it free.
    nonneg : bool
        W ≥ 0 and H ≥ 0, or both signed.
    """

    sparseness_w: Share | None = None
    sparseness_h: Share | None = None
    nonneg: bool = True
    size: float = field(init=False)

    def check_settings(self) -> None:
        """Measure V once."""
        object.__setattr__(self, "size", sum_squares(self.V))
        some, remedy = self.size > 0, "zeros have no codes"
        self.require(some, "a V with a non-zero entry", "V", remedy=remedy)

    def __repr__(self) -> str:
        return (
            f"SparseCodes({self.V.shape[0]} × {self.V.shape[1]}, {self.rank} filters, "
            f"sp(W) = {self.sparseness_w}, sp(H) = {self.sparseness_h}, nonneg = {self.nonneg})"
        )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of W and H."""
        (d, M), n = self.V.shape, self.rank
        return {"W": (d, n), "H": (n, M)}

    @property
    def models(self) -> Mapping[str, Callable[[Factors], tuple[Array, Array]]]:
        """W and H, whatever else there is."""
        return {"V": lambda factors: (factors["W"], factors["H"])}

    @property
    def filter_constraint(self) -> RowConstraint:
        """What each filter must keep."""
        return RowConstraint(l1_ratio(self.V.shape[0], self.sparseness_w), None, not self.nonneg)

    @property
    def code_constraint(self) -> RowConstraint:
        """What each row of codes must keep."""
        return RowConstraint(l1_ratio(self.V.shape[1], self.sparseness_h), 1.0, not self.nonneg)

    def objective(self, factors: Factors) -> float:
        """Return ‖V − W H‖²."""
        return self.relative_error(factors) * self.size

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − W H‖²/‖V‖², a part of the samples at a time."""
        W, H = factors["W"], factors["H"]
        total, width = 0.0, max(1, (1 << 22) // self.V.shape[0])
        for begin in range(0, H.shape[1], width):
            part = slice(begin, begin + width)
            total += sum_squares(samples_at(self.V, part) - W @ H[:, part])
        return total / self.size

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return how far sparseness and norms are from what they must be."""
        W, H = np.ascontiguousarray(factors["W"].T), factors["H"]
        found = {}
        if self.sparseness_w is not None:
            found["W: sparseness"] = off_sparseness(W, self.sparseness_w)
        if self.sparseness_h is not None:
            found["H: sparseness"] = off_sparseness(H, self.sparseness_h)
        norms = np.sqrt(np.einsum("ij,ij->i", H, H))
        found["H: norms"] = float(np.abs(norms - 1).max())
        if self.nonneg:
            found["W, H: non-negative"] = float(max(0.0, -W.min(), -H.min()))
        return found

    def collapsed(self, factors: Factors) -> bool:
        """Whether a filter is zero."""
        return not bool((np.abs(factors["W"]).max(axis=0) > 0).all())

    @checks_arguments
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return random filters and their responses, both brought into shape."""
        known = given(init, self.shapes, self.V.dtype)
        draw = rng.random if self.nonneg else rng.standard_normal
        first = draw((self.rank, self.V.shape[0])).astype(self.V.dtype)
        B = np.ascontiguousarray(known["W"].T) if "W" in known else first
        if "H" not in known:  # then filters begin with one common norm
            B = replace(self.filter_constraint, norm=1.0).project(B)
        B = self.filter_constraint.project(B)
        P = responses(B, self.V)
        H = self.code_constraint.project(known.get("H", P))
        if "H" not in known:
            # The best common scale of the filters; H has one of its own.
            overlap = float(np.vdot(B @ B.T, H @ H.T))
            B *= B.dtype.type(abs(float(np.vdot(P, H))) / (overlap if overlap > 0 else 1.0) or 1.0)
        return {"W": B.T, "H": H}
