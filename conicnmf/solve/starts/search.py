"""Search over the sparseness cones: for a start, and in each visit of a block.

The lower bound on sparseness cuts the factor's space into cones whose boundaries can be sampled.
Each component is given a number of directions on its cone, and combinations of one direction for each
component are judged: for a start by the loss of the best coefficients, in a block, where the other
factor is held, by that of the best lengths.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.geometry.band import project_band
from conicnmf.geometry.rows import per_row
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Quadratic
from conicnmf.settings import Count
from conicnmf.solve.monitor import CountBar
from conicnmf.solve.programs.sharpen import sparseness_bounds
from conicnmf.solve.starts.simple import Random, Start
from conicnmf.types import Array, Factors

_Choice: TypeAlias = NDArray[np.intp]
"""One of the sampled directions for each component."""
_Judge: TypeAlias = Callable[[_Choice], tuple[float, Array]]
"""The value of a combination, and the numbers that attain it."""


@dataclass(frozen=True)
class ConeSearch(Start):
    """Sample the sparseness cones of one factor and start from the best combination.

    As `SparsityMaximization(search=…)` it looks round the present point in each visit of a block.

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
        drawn = Random().factors(problem, rng)
        pool = self._directions(block, block.rows(drawn), rng)
        other = _partner(problem, block)
        # A search may leave aside what has no quadratic form.
        other = replace(
            other, penalties=tuple(p for p in other.penalties if "orthant" in p.abilities)
        )
        chosen, coefficients = self._best(block, _by_coefficients(block, other, pool), rng)
        return other.put(block.put(drawn, pool[chosen]), coefficients)

    def near(self, held: Subproblem, B: Array, rng: np.random.Generator) -> Array:
        """Return the best combination of directions near B's, each at its best length.

        Only that of B's own directions is left out. `unsearchable` says which blocks can be searched.
        """
        pool = self._directions(held.block, B, rng)
        own = self.samples * np.arange(len(B))
        judge = _by_lengths(held, pool, self.samples)

        def others(chosen: _Choice) -> tuple[float, Array]:
            return (np.inf, np.zeros(len(B))) if (chosen == own).all() else judge(chosen)

        chosen, lengths = self._best(held.block, others, rng)
        return lengths[:, None] * pool[chosen]

    def _best(self, block: Block, judge: _Judge, rng: np.random.Generator) -> tuple[_Choice, Array]:
        """Return the combination of least value, and the numbers that attain it."""
        rank = block.shape[0]
        total = self.samples**rank if self.method == "enumerate" else self.budget
        if total > self.budget:
            raise InputError(
                f"enumerating {self.samples} samples for {rank} components takes {total} "
                f"combinations, more than budget={self.budget}; take fewer samples, raise the "
                "budget or use method='sample'"
            )
        bar = CountBar("searching cones", total) if self.progress else None
        best, lowest = None, np.inf
        for chosen in self._combinations(rank, rng):
            value, numbers = judge(chosen)
            if best is None or value < lowest:
                best, lowest = (chosen, numbers), value
            if bar is not None:
                bar.step()
        if bar is not None:
            bar.close()
        assert best is not None
        return best

    def _combinations(self, rank: int, rng: np.random.Generator) -> Iterator[_Choice]:
        """Yield indices into the pool, one direction for each component."""
        offsets = self.samples * np.arange(rank)
        if self.method == "enumerate":
            for choice in itertools.product(range(self.samples), repeat=rank):
                yield offsets + np.array(choice)
        else:
            for choice in rng.integers(self.samples, size=(self.budget, rank)):
                yield offsets + choice

    def _directions(self, block: Block, B: Array, rng: np.random.Generator) -> Array:
        """Return `samples` unit directions on the cone of each component, rotations of B's first."""
        bound = sparseness_bounds(block)[0]
        rows = np.repeat(B, self.samples, axis=0)
        turned = rng.standard_normal(rows.shape)
        turned[:: self.samples] = 0.0  # the component itself is among its samples
        sizes = np.linalg.norm(rows, axis=1, keepdims=True) / np.sqrt(rows.shape[1])
        spread = rng.uniform(0.0, 3.0, size=(len(rows), 1))
        levels = (np.repeat(per_row(level, len(B)), self.samples) for level in bound.band())
        turned = rows + spread * sizes * turned
        _, units = project_band(turned if block.nonneg else np.abs(turned), *levels)
        return units if block.nonneg else np.copysign(units, turned)


def unsearchable(block: Block) -> Iterator[str]:
    """Yield every reason why combinations of directions of a block cannot be judged.

    Blocks without a lower bound on sparseness are not searched.
    """
    bounds = sparseness_bounds(block)
    if bounds and any(bound.each != "component" for bound in bounds):
        yield f"search needs bounds on the sparseness of components, and {block.name} has others"
    if bounds and not {"quadratic", "grams"} & block.abilities:
        yield f"search needs an objective that is a quadratic in {block.name}"


def _by_coefficients(block: Block, other: Block, pool: Array) -> _Judge:
    """Judge combinations by the loss of the best coefficients."""

    def judge(chosen: _Choice) -> tuple[float, Array]:
        found = [_minimum(form, other.nonneg) for form in forms(chosen)]
        codes = np.hstack([B for _, B in found])
        return sum(value for value, _ in found), codes

    fits = (addend for addend in block.addends if isinstance(addend, Fit))
    # A mask is of the size of the factor, and not of all directions.
    masked = any(fit.place(block.name)[2].mask is not None for fit in fits)
    if "quadratic" in other.abilities and not masked:  # one Gram matrix for all directions
        whole = other.given(block.put({}, pool)).quadratic()

        def forms(chosen: _Choice) -> list[Quadratic]:
            return [Quadratic(whole.G[np.ix_(chosen, chosen)], whole.C[chosen], 0.0)]

    else:

        def forms(chosen: _Choice) -> list[Quadratic]:
            held = other.given(block.put({}, pool[chosen]))
            return [form for _, form in held.columnwise(valued=False)]

    return judge


def _by_lengths(held: Subproblem, pool: Array, samples: int) -> _Judge:
    """Judge combinations by the loss of the best lengths, which is a small quadratic in these."""
    form = held.quadratic() if "quadratic" in held.block.abilities else held.stacked()
    D = pool.reshape(-1, samples, pool.shape[1])
    rank = len(D)
    Q = np.block([[(D[j] * form.G[..., j, k]) @ D[k].T for k in range(rank)] for j in range(rank)])
    c = np.einsum("jat,jt->ja", D, form.C).reshape(-1, 1)

    def judge(chosen: _Choice) -> tuple[float, Array]:
        small = Quadratic(Q[np.ix_(chosen, chosen)], c[chosen], 0.0)
        value, lengths = _minimum(small, nonneg=held.block.nonneg)
        return value, lengths[:, 0]

    return judge


def _minimum(form: Quadratic, nonneg: bool) -> tuple[float, Array]:
    """Return the least value of a quadratic, but for its constant, and where it is."""
    if nonneg:
        B = nnls_gram(form.G, form.C)
    else:
        B = (np.linalg.pinv(form.G, hermitian=True) @ form.C.T[:, :, None])[:, :, 0].T
    # At the minimum the quadratic is −½⟨C, B⟩.
    return -0.5 * float(np.vdot(form.C, B)), B


def _bounded_block(problem: Problem) -> Block:
    for block in problem.blocks:
        bounds = sparseness_bounds(block)
        if bounds and bounds[0].each == "component":
            return block
    raise InputError(
        "ConeSearch needs a lower bound on the sparseness of W's columns or H's rows; without one "
        "start from Random() or NNDSVD()"
    )


def _partner(problem: Problem, block: Block) -> Block:
    other = problem.partner(block)
    if other is None or not {"quadratic", "grams"} & other.abilities:
        raise InputError(
            f"ConeSearch needs {block.name} to be one of two factors of a squared loss; start from "
            "Random() instead"
        )
    return other
