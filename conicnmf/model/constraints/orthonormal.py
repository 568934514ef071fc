"""Orthonormal components; non-negative ones are parts that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.terms import Constraint, Example
from conicnmf.settings import Positive
from conicnmf.types import Array


@dataclass(frozen=True)
class Orthonormal(Constraint):
    """Components have norm one, or another `length`, and are orthogonal to each other: WᵀW = I.

    Examples
    --------
    >>> Orthonormal().violation(np.array([[0.6, 0.8], [0.8, 0.6]])).round(2)
    array([0.96])
    """

    length: Positive = field(default=1.0, kw_only=True)

    def __repr__(self) -> str:
        return "Orthonormal()" if self.length == 1 else f"Orthonormal(length={self.length:g})"

    @property
    def convex(self) -> bool:
        """Orthonormal matrices are no convex set."""
        return False

    def check(self, shape: tuple[int, int]) -> None:
        """Raise where there are more components than dimensions, whichever way they run."""
        if 0 in shape:
            raise InputError(f"Orthonormal needs a factor with entries, got shape {shape}")

    def violation(self, B: Array) -> Array:
        """Return how far the largest entry of BBᵀ is from I, in units of the length."""
        gap = np.abs(B @ B.T / self.length**2 - np.eye(len(B))).max()
        return np.atleast_1d(gap)

    def project(self, B: Array) -> Array:
        """Return the nearest matrix with orthonormal rows, of any sign."""
        left, _, right = np.linalg.svd(B, full_matrices=False)
        return np.asarray(self.length * (left @ right), dtype=B.dtype)

    def separate(self, B: Array) -> Array:
        """Return a near B ≥ 0 with orthonormal rows: each column keeps its largest entry alone.

        Two non-negative components are orthogonal exactly when they share no place. A component
        that wins none becomes zero. Components are compared on one scale, else a large one would
        take every place.

        Examples
        --------
        >>> Orthonormal().separate(np.array([[3.0, 4.0, 1.0], [1.0, 0.0, 2.0]]))
        array([[0.6, 0.8, 0. ],
               [0. , 0. , 1. ]])
        """
        sizes = np.linalg.norm(B, axis=1, keepdims=True)
        unit = B / np.where(sizes > 0, sizes, 1.0)
        kept = np.zeros_like(B)
        places, winners = np.arange(B.shape[1]), unit.argmax(axis=0)
        kept[winners, places] = B[winners, places]
        norms = np.linalg.norm(kept, axis=1, keepdims=True)
        return np.asarray(kept * (self.length / np.where(norms > 0, norms, 1.0)))

    def approach(self, B: Array) -> Array:
        """Return B with largest singular value one: where rules that multiply may start."""
        square = float(np.linalg.eigvalsh(B @ B.T)[-1])
        return B * B.dtype.type(self.length / np.sqrt(square)) if square > 0 else B

    def size(self) -> float:
        """Return the length."""
        return self.length

    def scaled(self, c: float) -> Orthonormal:
        """Scale the length."""
        return replace(self, length=c * self.length)

    @classmethod
    def examples(cls) -> list[Example]:
        """Return orthonormal rows and rows that are not."""
        inside = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
        return [Example(cls(), inside, 2 * inside)]
