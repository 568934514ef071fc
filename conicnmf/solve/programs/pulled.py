"""The loss in splitting methods: its minimizer while every copy of the factor pulls at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from conicnmf.kernels.separable import minimize_separable
from conicnmf.model.blocks import Subproblem
from conicnmf.model.terms import Quadratic, Separable
from conicnmf.types import Array

_FLOOR = 0.02
_LOOSE = 0.3
"""How strongly copies pull at columns of different weights, compared with columns of one. Of 0.1 to 3
it was best over draws of seeds 77 to 79."""

_LEAST = float(np.finfo(np.float32).tiny)
"""Below this ρ is zero in single precision."""


class Pulled(Protocol):
    """A loss with the weight ρ of its ties to the copies."""

    @property
    def rho(self) -> float:
        """How strongly a copy pulls."""

    def value(self, B: Array) -> float:
        """Return the loss at B."""

    def minimizer(self, pull: Array) -> Array:
        """Return the B of least loss(B) + ½ρ‖B‖² for each copy − ⟨pull, B⟩."""


def pulled(held: Subproblem, copies: int) -> Pulled:
    """Return the loss of a held block, tied to so many copies."""
    if "quadratic" in held.block.abilities:
        return _PulledQuadratic(held.quadratic(), copies)
    if "grams" in held.block.abilities:
        return _PulledColumns(held.stacked(), copies)
    return _PulledSum(held.separable(), copies)


def _rho(values: Array, copies: int) -> float:
    """Return √(λ_min λ_max), which suits well-conditioned G; the floor keeps it from vanishing."""
    middle = np.sqrt(max(float(values[0]), 0.0) * float(values[-1]))
    return max(max(middle, _FLOOR * float(values.mean())) / copies or 1.0, _LEAST)


@dataclass(eq=False)
class _PulledQuadratic:
    """½⟨B, GB⟩ − ⟨C, B⟩: one small matrix serves all columns."""

    whole: Quadratic
    copies: int

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        return np.linalg.eigh(self.whole.G)

    @cached_property
    def rho(self) -> float:
        """The middle of the spectrum."""
        return _rho(self._spectrum[0], self.copies)

    @cached_property
    def _inverse(self) -> Array:
        values, vectors = self._spectrum
        inverse = (vectors / (values + self.copies * self.rho)) @ vectors.T
        return np.asarray(inverse, dtype=self.whole.G.dtype)

    def value(self, B: Array) -> float:
        return self.whole.value(B)

    def minimizer(self, pull: Array) -> Array:
        return np.asarray(self._inverse @ (self.whole.C + pull))


@dataclass(eq=False)
class _PulledColumns:
    """The same with a matrix for each column, as weights and masks have it."""

    whole: Quadratic
    copies: int

    @cached_property
    def rho(self) -> float:
        """The middle of the spectrum of their mean, each divided by its size, times a usual size.

        Where weights differ much, a few heavy columns would hold all others at their copies.
        """
        sizes = np.trace(self.whole.G, axis1=1, axis2=2) / self.whole.G.shape[-1]
        seen = sizes > 0
        if not seen.any():
            return 1.0
        mean = (self.whole.G[seen] / sizes[seen][:, None, None]).mean(axis=0)
        usual = float(np.exp(np.log(sizes[seen]).mean()))
        return max(_LOOSE * usual * _rho(np.linalg.eigvalsh(mean), self.copies), _LEAST)

    @cached_property
    def _inverse(self) -> Array:
        tie = self.copies * self.rho * np.eye(self.whole.G.shape[-1])
        return np.asarray(np.linalg.inv(self.whole.G + tie))

    def value(self, B: Array) -> float:
        return self.whole.value(B)

    def minimizer(self, pull: Array) -> Array:
        target = np.ascontiguousarray((self.whole.C + pull).T)
        found = np.matmul(self._inverse, target[:, :, None])[:, :, 0]
        return np.ascontiguousarray(found.T, dtype=pull.dtype)


@dataclass(eq=False)
class _PulledSum:
    """A sum over entries: the ties make it one with another slope and more curvature."""

    whole: Separable
    copies: int

    @cached_property
    def rho(self) -> float:
        """The curvature where the sum touches the loss, averaged over entries by their squares."""
        base = self.whole.base
        bent = np.asarray(sum(e * w for e, w in self.whole.slopes.items()))
        # An entry near zero is bent without limit, and would hold all the others.
        mean = float(np.vdot(bent, base)) / (float(np.vdot(base, base)) or 1.0)
        return max(mean / self.copies or 1.0, _LEAST)

    def value(self, B: Array) -> float:
        return self.whole.value(B)

    def minimizer(self, pull: Array) -> Array:
        base, slopes = self.whole.base, dict(self.whole.slopes)
        tie = self.copies * self.rho * base
        slopes[1.0] = slopes[1.0] + tie if 1.0 in slopes else tie
        slopes[0.0] = slopes[0.0] - pull if 0.0 in slopes else -pull
        found = minimize_separable(base, slopes)
        return np.asarray(found, dtype=base.dtype)
