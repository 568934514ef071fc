"""Non-negative double SVD for every shape: one matrix, coupled views, offsets, three factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from conicnmf.errors import InputError
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.solve.needs import MOST_ENTRIES
from conicnmf.solve.starts.offsets import Centered, offsets_of
from conicnmf.solve.starts.simple import STARTS, Random, Start
from conicnmf.solve.starts.singular import leading_singular
from conicnmf.solve.starts.views import Stack, stack_of
from conicnmf.types import Array, Factors, stored

_SWEEPS = 50


@dataclass(frozen=True)
class NNDSVD(Start):
    """Non-negative parts of the leading singular vectors.

    Views that share a factor are stacked, each by the weight of its loss; offsets begin at the
    smallest entries (at the means where factors may be negative) and are taken off first; a middle
    factor is fitted to the two others by least squares. Neither sparse data nor stacks are formed.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of V, or small random numbers. Methods that multiply
        cannot leave zero, so "mean" is the default.

    References
    ----------
    Boutsidis and Gallopoulos, SVD based initialization: a head start for non-negative matrix
    factorization, Pattern Recognition 2008.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> cn.factorize(V, 2).solve(cn.HALS(), init=NNDSVD()).status.name
    'CONVERGED'
    """

    fill: Literal["zero", "mean", "random"] = "mean"

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Split each pair of singular vectors into its dominant signed half."""
        begun: Factors = {}
        rests: list[tuple[Fit, Any]] = []
        for fit in problem.fits:
            own, rest = offsets_of(problem, fit)
            begun |= own
            rests.append((fit, rest))
        stack = stack_of(problem, rests)
        _check_signs(rests)
        W, H = halves(*leading_singular(stack.operator, stack.rank, rng), stack.rank)
        parts = stack.split(W, H)
        mean = float(np.mean([rest.mean() for _, rest in rests]))
        for name, X in parts.items():
            begun[name] = self._filled(X, mean, rng).astype(problem.dtype)
        for block in problem.blocks:
            if block.name in stack.middle:
                begun = block.put(begun, self._middle(block, begun, stack, rng))
        if set(begun) == set(problem.shapes):
            return begun
        # Expressions that are kept as they are may have variables beside what they compare.
        return Random().factors(problem, rng) | begun

    def _filled(self, X: Array, mean: float, rng: np.random.Generator) -> Array:
        X = X.copy()
        empty = X == 0
        if self.fill == "mean":
            X[empty] = mean
        elif self.fill == "random":
            X[empty] = mean / 100 * rng.random(int(empty.sum()))
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


STARTS.add("NNDSVD", NNDSVD)


def halves(U: Array, s: Array, Vt: Array, rank: int) -> tuple[Array, Array]:
    """Return non-negative W and H from singular vectors, zero beyond the rank the data can give."""
    W, H = np.zeros((len(U), rank)), np.zeros((rank, Vt.shape[1]))
    for j, (u, v) in enumerate(zip(U.T, Vt, strict=True)):
        pairs = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        sizes = [float(np.linalg.norm(left) * np.linalg.norm(right)) for left, right in pairs]
        # Halves that are equal but for rounding must not be chosen by it.
        left, right = pairs[int(sizes[1] > (1 + 1e-8) * sizes[0])]
        norms = float(np.linalg.norm(left)), float(np.linalg.norm(right))
        if 0 in norms:
            continue
        size = np.sqrt(s[j] * norms[0] * norms[1])
        W[:, j], H[j] = size * left / norms[0], size * right / norms[1]
    return W, H


def _least_squares(block: Block, begun: Factors) -> Array:
    """Return the middle factor of the lowest loss, or one of the right size where that is large."""
    held, B = block.given(begun), block.rows(begun)
    if "vectorized" in block.abilities and B.size <= MOST_ENTRIES:
        whole = held.vectorized()
        lower = 0.0 if block.nonneg else -np.inf
        return hals_sweeps(whole.G, whole.C, B.reshape(-1, 1), _SWEEPS, lower)[0].reshape(B.shape)
    # Along a single direction the squared loss is a parabola: slopes at 0 and 1 give its bottom.
    if "gradient" not in block.abilities:
        return B
    low, high = (float(np.vdot(held.loss_gradient(t * B), B)) for t in (0.0, 1.0))
    return B * (low / (low - high)) if low < min(0.0, high) else B


def _check_signs(rests: list[tuple[Fit, Any]]) -> None:
    for fit, rest in rests:
        if not isinstance(rest, Centered) and stored(rest).min(initial=0.0) < 0:
            raise InputError(
                f"NNDSVD needs {fit.name} >= 0, got negative entries; use Random() instead"
            )
