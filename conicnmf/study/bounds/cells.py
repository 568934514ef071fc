"""Cones of directions of a component, cut by what its sparseness allows, and split in two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from conicnmf.geometry.cones import cone_ratio
from conicnmf.types import Array, Mask

_PARALLEL = 1e-12


@dataclass(frozen=True, eq=False)
class Cell:
    """All sums Σ λᵢ vᵢ with λ ≥ 0 of the rows vᵢ of `rays`, which have length one.

    Where an entry is `mixed`, it may have either sign, and two of the rays are ± its axis.
    """

    rays: Array
    mixed: Mask

    @classmethod
    def whole(cls, n: int, nonneg: bool) -> Cell:
        """Return the orthant, or the whole space."""
        axes = np.eye(n)
        return cls(axes if nonneg else np.vstack([axes, -axes]), np.full(n, not nonneg))

    def generators(self, band: tuple[float, float]) -> Array:
        """Return how rays are to be added so that the sums are those the band may allow.

        A row of the result holds the weights of the rays in one generator. For b = Σ λᵢ vᵢ of
        ‖b‖₁ ≤ c‖b‖ both sides are bounded by what is linear in λ: the entries of known sign on the
        left, Σ λᵢ on the right. So the relaxation is a cone, whose generators are the rays on
        the right side of a plane and what lies on it between two rays.
        """
        n = self.rays.shape[1]
        weights: Array = np.eye(len(self.rays))
        signs = np.where(self.mixed, 0.0, np.sign(self.rays.sum(axis=0)))
        low, high = (cone_ratio(n, s) for s in band)
        if band[0] > 0:
            weights = _cut(weights, self.rays @ signs - low)
        if band[1] < 1 and not self.mixed.any():
            # ‖b‖ ≥ ⟨u, b⟩ for any u of length one; the middle of the cell is the best of them.
            middle = self.rays.sum(axis=0)
            weights = _cut(weights, self.rays @ (high * middle / np.linalg.norm(middle) - signs))
        return weights

    def split(self, b: Array, scores: Array) -> tuple[Cell, Cell] | None:
        """Return two cells that make up this one: by a sign, or between the two rays of most score.

        Nothing is returned where the rays of the score have no direction between them.
        """
        if self.mixed.any():
            return self._by_sign(int(np.argmax(np.where(self.mixed, np.abs(b), -1.0))))
        i, k = np.unravel_index(int(np.argmax(scores)), scores.shape)
        middle = self.rays[i] + self.rays[k]
        if i == k or scores[i, k] <= 0 or 1 - self.rays[i] @ self.rays[k] < _PARALLEL:
            return None
        halves = []
        for dropped in (i, k):
            rays = self.rays.copy()
            rays[dropped] = middle / np.linalg.norm(middle)
            halves.append(replace(self, rays=rays))
        return halves[0], halves[1]

    def _by_sign(self, place: int) -> tuple[Cell, Cell]:
        mixed = self.mixed.copy()
        mixed[place] = False
        above, below = (Cell(self.rays[s * self.rays[:, place] >= 0], mixed) for s in (1, -1))
        return above, below


def _cut(weights: Array, height: Array) -> Array:
    """Return the generators of the part of a cone below a plane, given the heights of its rays."""
    heights = weights @ height
    above, below = np.flatnonzero(heights > 0), np.flatnonzero(heights <= 0)
    between = [
        heights[i] * weights[k] - heights[k] * weights[i]
        for i, k in product(above, below)
        if heights[k] < 0
    ]
    return np.vstack([weights[below], *between]) if len(between) else weights[below]


def pair_scores(rays: Array, codes: Array, missed: float) -> Array:
    """Return how much is lost by adding up rays two by two: by their angle and their weights.

    `codes` has a row for each ray: its weight, or one for each sample. What two rays contribute in
    the same ratio everywhere is one direction between them, which costs only what it `missed` of
    the constraints.
    """
    apart = 1 - np.clip(rays @ rays.T, -1.0, 1.0)
    products = codes @ codes.T
    squares = np.diagonal(products)
    bound = np.outer(squares, squares)
    free = np.maximum(bound - products**2, 0.0)
    return np.asarray(apart * np.sqrt(free + missed**2 * bound))
