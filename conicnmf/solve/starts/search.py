"""Global search over the sparseness cones for a starting point of a small problem.

The lower bound on sparseness cuts the factor's space into cones whose boundaries can be sampled.
Each component is given a number of directions on its cone; combinations of one direction for each
component are judged by the loss of the best non-negative coefficients, and the best one is
where a local method starts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.geometry.band import project_band
from conicnmf.geometry.rows import per_row
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.settings import Count
from conicnmf.solve.monitor import CountBar
from conicnmf.solve.programs.sharpen import sparseness_bounds
from conicnmf.solve.starts.simple import Random, Start
from conicnmf.types import Array, Factors


@dataclass(frozen=True)
class ConeSearch(Start):
    """Sample the sparseness cones of one factor and start from the best combination.

    Parameters
    ----------
    samples : int
        Directions for each component.
    method : {"sample", "enumerate"}
        Draw random combinations, or go through all samples ** rank of them.
    budget : int
        The largest number of combinations to evaluate.
    progress : bool
        Show a progress bar.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = cn.datasets.paatero(20, 15).V
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    >>> problem.solve(cn.HALS(), init=ConeSearch(samples=5, budget=50)).status.kind
    'converged'
    """

    samples: Count = 100
    method: Literal["sample", "enumerate"] = "sample"
    budget: Count = 10_000
    progress: bool = False

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Return the best combination of directions with its best coefficients."""
        block = _bounded_block(problem)
        rank = block.shape[0]
        if self.method == "enumerate" and self.samples**rank > self.budget:
            raise InputError(
                f"enumerating {self.samples} samples for {rank} components takes "
                f"{self.samples**rank} combinations, more than budget={self.budget}; take fewer "
                "samples, raise the budget or use method='sample'"
            )
        drawn = Random().factors(problem, rng)
        pool = _directions(block, block.rows(drawn), self.samples, rng)
        other = _partner(problem, block)
        chosen, coefficients = self._best(block, other, pool, rng)
        return other.put(block.put(drawn, pool[chosen]), coefficients)

    def _best(
        self, block: Block, other: Block, pool: Array, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], Array]:
        """Judge combinations through the Gram matrix of all directions, computed once."""
        everything = block.put({}, pool)
        # A search may leave aside what has no quadratic form.
        plain = tuple(p for p in other.penalties if "orthant" in p.abilities)
        quadratic = replace(other, penalties=plain).given(everything).quadratic()
        G, C = quadratic.G, quadratic.C
        best, lowest = None, np.inf
        total = min(self.budget, self.samples ** block.shape[0])
        bar = CountBar("searching cones", total) if self.progress else None
        for chosen in self._combinations(block.shape[0], rng):
            H = nnls_gram(G[np.ix_(chosen, chosen)], C[chosen])
            # At the minimum the quadratic is −½⟨C, H⟩.
            value = -0.5 * float(np.vdot(C[chosen], H))
            if value < lowest:
                best, lowest = (chosen, H), value
            if bar is not None:
                bar.step()
        if bar is not None:
            bar.close()
        assert best is not None
        return best

    def _combinations(self, rank: int, rng: np.random.Generator) -> Iterator[NDArray[np.intp]]:
        """Yield indices into the pool, one direction for each component."""
        offsets = self.samples * np.arange(rank)
        if self.method == "enumerate":
            for choice in itertools.product(range(self.samples), repeat=rank):
                yield offsets + np.array(choice)
        else:
            for choice in rng.integers(self.samples, size=(self.budget, rank)):
                yield offsets + choice


def _bounded_block(problem: Problem) -> Block:
    for block in problem.blocks:
        bounds = sparseness_bounds(block)
        if bounds and bounds[0].each == "component" and block.nonneg:
            return block
    raise InputError(
        "ConeSearch needs a lower bound on the sparseness of W's columns or H's rows, with "
        "NonNegative; without one start from Random() or NNDSVD()"
    )


def _partner(problem: Problem, block: Block) -> Block:
    other = problem.partner(block)
    if other is None or "quadratic" not in other.abilities:
        raise InputError(
            f"ConeSearch needs {block.name} to be one of two factors of a squared loss without "
            "weights; start from Random() instead"
        )
    return other


def _directions(block: Block, B: Array, samples: int, rng: np.random.Generator) -> Array:
    """Return `samples` unit directions on the cone of each component, rotations of B's first."""
    bound = sparseness_bounds(block)[0]
    rows = np.repeat(B, samples, axis=0)
    turned = rng.standard_normal(rows.shape)
    turned[::samples] = 0.0  # the component itself is among its samples
    sizes = np.linalg.norm(rows, axis=1, keepdims=True) / np.sqrt(rows.shape[1])
    spread = rng.uniform(0.0, 3.0, size=(len(rows), 1))
    levels = (np.repeat(per_row(level, len(B)), samples) for level in bound.band())
    return project_band(rows + spread * sizes * turned, *levels)[1]
