"""Starts from the data of every shape: one matrix, coupled views, offsets, three factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from conicnmf.kernels.hals import hals_sweeps
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.solve.needs import MOST_ENTRIES
from conicnmf.solve.starts.offsets import offsets_of
from conicnmf.solve.starts.simple import Random, Start
from conicnmf.solve.starts.views import Stack, stack_of
from conicnmf.types import Array, Factors

_SWEEPS = 50


@dataclass(frozen=True)
class FromData(Start):
    """A subclass says with `ends` how a stack of data begins as W H; the rest is here.

    Views that share a factor are stacked, each by the weight of its loss; offsets begin at the
    smallest entries (at the means where factors may be negative) and are taken off first; a middle
    factor is fitted to the two others by least squares. Neither sparse data nor stacks are formed.
    """

    fill: Literal["zero", "mean", "random"] = "random"

    def ends(self, stack: Stack, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return W and H of the stack."""
        raise TypeError(f"{type(self).__name__} must define ends(stack, rng)")

    def level(self, X: Array, mean: float) -> float:
        """Return what zeros of X are filled by: its own mean, unless a subclass knows better."""
        return float(X.mean())

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Begin with the offsets, then the ends of the products, then what is between them."""
        begun: Factors = {}
        rests = []
        for fit in problem.fits:
            own, rest = offsets_of(problem, fit)
            begun |= own
            rests.append((fit, rest))
        stack = stack_of(problem, rests)
        parts = stack.split(*self.ends(stack, rng))
        mean = float(np.mean([view.rest.mean() for view in stack.views]))
        for name, X in parts.items():
            begun[name] = self._filled(X, self.level(X, mean), rng).astype(problem.dtype)
        for block in problem.blocks:
            if block.name in stack.middle:
                begun = block.put(begun, self._middle(block, begun, stack, rng))
        if set(begun) == set(problem.shapes):
            return begun
        # Expressions that are kept as they are may have variables other than what they compare.
        return Random().factors(problem, rng) | begun

    def _filled(self, X: Array, level: float, rng: np.random.Generator) -> Array:
        X = X.copy()
        empty = X == 0
        if self.fill == "mean":
            X[empty] = level
        elif self.fill == "random":
            X[empty] = level / 100 * rng.random(int(empty.sum()))
        return X

    def _middle(
        self, block: Block, begun: Factors, stack: Stack, rng: np.random.Generator
    ) -> Array:
        """Return the middle factor that fits the others best, never all zero."""
        begun = block.put(begun, np.ones(block.shape, dtype=stack.dtype))
        B = _least_squares(block, begun)
        if not block.nonneg:
            return B
        B = np.maximum(B, 0.0)
        return self._filled(B, float(B.mean()) or 1.0, rng).astype(stack.dtype)


def _least_squares(block: Block, begun: Factors) -> Array:
    """Return the middle factor of the lowest loss, or one of the right size where that is large."""
    held, B = block.given(begun), block.rows(begun)
    if "vectorized" in block.abilities and B.size <= MOST_ENTRIES:
        whole = held.vectorized()
        lower = 0.0 if block.nonneg else -np.inf
        return hals_sweeps(whole.G, whole.C, B.reshape(-1, 1), _SWEEPS, lower).reshape(B.shape)
    # Along a single direction the squared loss is a parabola: slopes at 0 and 1 give its bottom.
    if "gradient" not in block.abilities:
        return B
    low, high = (float(np.vdot(held.loss_gradient(t * B), B)) for t in (0.0, 1.0))
    return B * (low / (low - high)) if low < min(0.0, high) else B
