"""The global minimum of a small factorization, over both factors together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.errors import IncompatibleError
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.settings import Count, Weight, Whole, checks_arguments
from conicnmf.solve.choice import Stated
from conicnmf.solve.engine import solve
from conicnmf.solve.stop import MaxIter, RelDecrease
from conicnmf.study.bounds.block import (
    EXACT,
    GlobalMinimum,
    bands_of,
    begun,
    block_reasons,
    missed,
)
from conicnmf.study.bounds.cells import Cell, pair_scores
from conicnmf.study.bounds.search import Bounded, Node, branch_and_bound
from conicnmf.types import Array, Factors

_POLISHED = MaxIter(300) | RelDecrease(1e-8, patience=3)


@checks_arguments
def global_minimum(
    problem: Stated,
    factors: Factors | None = None,
    *,
    budget: Count = 5000,
    gap: Weight = 1e-3,
    seed: Whole = 0,
) -> GlobalMinimum:
    """Minimize over both factors of a small problem, with a proved bound on the gap.

    Directions of the components of one factor are split into cones. If w = Σ λᵢ vᵢ, then
    w hᵀ = Σ vᵢ gᵢᵀ with gᵢ = λᵢ h ≥ 0: non-negative least squares over all gᵢ is a lower bound,
    which becomes exact as the cones become narrow.

    Parameters
    ----------
    problem : Problem
        Two factors without penalties and a squared loss. One factor is non-negative without further
        constraints; the other may have a bound on the sparseness of its components. A few thousand
        cells are enough for rank one with up to four features, and for rank two with three or four.
    factors : dict of str to array, optional
        Where to start; by default the problem is solved first.
    budget : int
        The largest number of cells; the remaining gap is reported.
    gap : float
        Stop once the gap is at most this fraction of the objective.
    seed : int

    Returns
    -------
    GlobalMinimum

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((4, 6))
    >>> problem = cn.factorize(V, 1, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    >>> cn.global_minimum(problem).proved
    True
    """
    reasons = whole_reasons(problem)
    if reasons:
        raise IncompatibleError("branch and bound does not fit: " + "; ".join(reasons))
    given = solve(problem, seed=seed, throw=False).factors if factors is None else factors
    seen, units, begin = begun(problem, given, "global_minimum")
    relaxation = WholeRelaxation(seen, *_sides(seen), begin)
    B = relaxation.split.rows(begin)
    least = EXACT * seen.unit
    found = branch_and_bound(relaxation, relaxation.root, B, budget, gap, least)
    best = relaxation.completed(found.B)  # the last codes may still lower it
    value = seen.objective(best)
    proved = value - found.lower <= max(gap * abs(value), least)
    return GlobalMinimum(best, value, min(found.lower, value), found.cells, proved).stated(units)


def whole_reasons(problem: BaseProblem) -> list[str]:
    """Return every reason why both factors cannot be searched together."""
    if len(problem.blocks) != 2 or len(problem.fits) != 1:
        return ["it needs one data matrix and two factors"]
    if not any(block.orthant_only for block in problem.blocks):
        return ["no factor has NonNegative as its only constraint"]
    split, other = _sides(problem)
    found = block_reasons(split)
    found += [f"{block.name} has penalties" for block in (split, other) if block.penalties]
    if not {"quadratic", "grams"} & other.abilities:
        found.append(f"the loss is not a quadratic in {other.name}")
    return list(dict.fromkeys(found))


def _sides(problem: BaseProblem) -> tuple[Block, Block]:
    """Return the block whose directions are split, the shorter one of two, and the other."""
    first, second = problem.blocks
    ways = [(a, b) for a, b in ((first, second), (second, first)) if b.orthant_only]
    return min(ways, key=lambda way: way[0].shape[1])


@dataclass(frozen=True, eq=False)
class WholeRelaxation:
    """Both factors as non-negative least squares over sums of rays, with codes for each ray."""

    problem: BaseProblem
    split: Block
    other: Block
    begin: Factors

    @property
    def root(self) -> Node:
        """All directions of every component."""
        return (Cell.whole(self.split.shape[1], self.split.nonneg),) * self.split.shape[0]

    def bound(self, node: Node) -> Bounded:
        """Return the least value over codes of the rays that the planes leave."""
        bands = bands_of(self.split)
        weights = [cell.generators(band) for cell, band in zip(node, bands, strict=True)]
        D = np.concatenate([w @ cell.rays for w, cell in zip(weights, node, strict=True)])
        rows = np.concatenate([np.full(len(w), j) for j, w in enumerate(weights)])
        if len(node) == 1 and "quadratic" in self.other.abilities:
            return self._one(node[0], weights[0], D)
        lower, X = self._codes(D)
        codes = [w.T @ X[rows == j] for j, w in enumerate(weights)]
        B, slack = np.empty(self.split.shape), np.empty(len(node))
        for j, (code, cell) in enumerate(zip(codes, node, strict=True)):
            B[j], slack[j] = _leading(cell.rays.T @ code)
        far = missed(self.split, B)
        slack += np.linalg.norm(B, axis=1) ** 2 * far
        scores = [
            pair_scores(cell.rays, code, float(by))
            for code, cell, by in zip(codes, node, far, strict=True)
        ]
        return Bounded(lower, B, slack, tuple(scores))

    def _one(self, cell: Cell, weights: Array, D: Array) -> Bounded:
        """Return the bound of a single component w, which needs no codes.

        With the best codes, the loss at ‖w‖ = 1 is that of zero minus ½‖(Vᵀw)₊‖², and the norm is
        convex: for a sum of rays it is at most the sum of theirs.
        """
        form = self.other.given(self.split.put(self.begin, D)).quadratic()
        gains = np.linalg.norm(np.maximum(form.C, 0.0), axis=1)
        x = nnls_gram(form.G, gains[:, None])
        lower = form.constant + float(0.5 * x[:, 0] @ form.G @ x[:, 0] - gains @ x[:, 0])
        code = weights.T @ x
        B = code.T @ cell.rays
        return Bounded(lower, B, np.ones(1), (pair_scores(cell.rays, code, 1.0),))

    def _codes(self, D: Array) -> tuple[float, Array]:
        """Return the least value with the rows of D as components, and the codes."""
        held = self.other.given(self.split.put(self.begin, D))
        total, found = 0.0, []
        for _, form in held.columnwise():
            X = nnls_gram(form.G, form.C)
            total += form.value(X)
            found.append(X)
        return total, np.concatenate(found, axis=1)

    def settle(self, B: Array, polish: bool) -> tuple[float, Array]:
        """Bring B into the set; the other factor is solved for, or both to a local minimum."""
        split = self.split
        assert split.projection is not None
        if split.violation(B) > 0:
            B = split.projection(B)
        if split.violation(B) > 1e-9 or split.collapsed(B):
            return np.inf, B
        there = self.completed(B)
        if polish:
            W, H = (there[name] for name in self.problem.shapes)
            there = solve(self.problem, init=(W, H), stop=_POLISHED, throw=False).factors
            B = np.asarray(split.rows(there))
        return self.problem.objective(there), B

    def completed(self, B: Array) -> Factors:
        """Return both factors, the other one exact."""
        return self.other.put(self.split.put(self.begin, B), self._codes(B)[1])


def _leading(M: Array) -> tuple[Array, float]:
    """Return the direction of the best product that stands for M, and what is left of M's square."""
    values, vectors = np.linalg.eigh(M @ M.T)
    direction = vectors[:, -1] * np.sqrt(max(values[-1], 0.0))
    direction = direction if direction.sum() >= 0 else -direction
    return direction, float(values[:-1].clip(0).sum())
