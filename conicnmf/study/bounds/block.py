"""The global minimum of one block whose components have a bound on sparseness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conicnmf.errors import IncompatibleError, InputError
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.at_factors import as_factors
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Quadratic
from conicnmf.model.units import Units
from conicnmf.settings import Count, Weight, checks_arguments
from conicnmf.solve.choice import Stated
from conicnmf.study.bounds.cells import Cell, pair_scores
from conicnmf.study.bounds.search import Bounded, Node, branch_and_bound
from conicnmf.study.gradient_steps import by_projected_steps
from conicnmf.types import Array, Factors

EXACT = 1e-9
"""A part of the data's size below which there is nothing to prove."""


@dataclass(frozen=True, eq=False, repr=False)
class GlobalMinimum:
    """The best point found by branch and bound, and how far below it the minimum may be.

    Attributes
    ----------
    factors : dict of str to array
    objective : float
        At the factors.
    lower : float
        No feasible point has a lower objective.
    cells : int
        The parts that were bounded on the way.
    proved : bool
        Whether the gap is within the tolerance; otherwise the budget was used up.

    Examples
    --------
    >>> import numpy as np
    >>> found = GlobalMinimum({"W": np.ones((3, 1))}, 2.0, 1.5, cells=40, proved=False)
    >>> found.gap
    0.25
    """

    factors: Factors
    objective: float
    lower: float
    cells: int
    proved: bool

    @property
    def gap(self) -> float:
        """How far the bound is below the objective, as a part of the objective."""
        return (self.objective - self.lower) / (abs(self.objective) or 1.0)

    def stated(self, units: Units) -> GlobalMinimum:
        """Return the same for the problem that was stated, from one in these units."""
        return replace(
            self,
            factors=units.outward(self.factors),
            objective=units.stated(self.objective),
            lower=units.stated(self.lower),
        )

    def __repr__(self) -> str:
        said = "a global minimum" if self.proved else "the budget was spent"
        return (
            f"GlobalMinimum: {said}\n"
            f"  objective  {self.objective:.6g}\n"
            f"  at least   {self.lower:.6g}, {self.gap:.2g} of it below\n"
            f"  cells      {self.cells}"
        )


@checks_arguments
def global_block(
    problem: Stated,
    factors: Factors,
    variable: str,
    *,
    budget: Count = 5000,
    gap: Weight = 1e-3,
) -> GlobalMinimum:
    """Minimize over one variable with the others fixed, with a proved bound on the gap.

    The directions of each component are split into cones. In each cone, the bound on sparseness is
    replaced by a plane, so the block becomes a non-negative least-squares problem whose value is a
    lower bound.

    Parameters
    ----------
    problem : Problem
        The objective must be quadratic in the variable, and its components, non-negative or not,
        may have bounds on sparseness and no other constraint. Meant for components with about six
        entries.
    factors : dict of str to array
        The fixed variables, and the point where the search starts.
    variable : str
    budget : int
        The largest number of cells; the remaining gap is reported.
    gap : float
        Stop once the gap is at most this fraction of the objective.

    Returns
    -------
    GlobalMinimum

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((4, 6))
    >>> problem = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    >>> found = cn.global_block(problem, problem.solve().factors, "W")
    >>> found.proved, found.gap <= 1e-3
    (True, True)
    """
    names = [block.name for block in problem.blocks]
    if variable not in names:
        raise InputError(f"there is no variable {variable}; the variables are {', '.join(names)}")
    reasons = block_reasons(problem.blocks[names.index(variable)])
    if reasons:
        raise IncompatibleError("branch and bound does not fit: " + "; ".join(reasons))
    seen, units, factors = begun(problem, factors, "global_block")
    block = next(block for block in seen.blocks if block.name == variable)
    held = block.given(factors)
    B = block.rows(factors)
    relaxation = BlockRelaxation.of(held)
    least = EXACT * seen.unit
    found = branch_and_bound(relaxation, relaxation.root, B, budget, gap, least)
    best = block.put(factors, found.B)
    objective = seen.objective(best)
    left = found.value - found.lower
    proved = left <= max(gap * abs(found.value), least)
    return GlobalMinimum(best, objective, objective - left, found.cells, proved).stated(units)


def begun(problem: BaseProblem, factors: Any, asked: str) -> tuple[BaseProblem, Units, Factors]:
    """Return a problem whose numbers are about one, its units, and the factors to begin with."""
    read = as_factors(factors, problem.shapes, asked)
    for name, X in read.items():
        if not np.isfinite(X).all():
            raise InputError(
                f"{asked} needs finite factors, got NaN or infinity in {name}; take result.factors"
            )
    given: Factors = {name: np.asarray(X, dtype=float) for name, X in read.items()}
    seen = problem.normalized()
    return seen, seen.units, seen.units.inward(given)


def block_reasons(block: Block) -> list[str]:
    """Return every reason why the directions of a block cannot be searched."""
    found = []
    squares = {"quadratic", "grams"} & block.abilities
    if not squares or block.shaped:
        found.append(f"the objective is not a quadratic in {block.name}")
    if block.orthant[0] and not block.nonneg:
        found.append(f"{block.name} is signed and has a penalty with a corner at zero")
    others = [c for c in block.constraints if c not in block.bands]
    if not all(c.implies_nonnegative and "bounds" in c.abilities for c in others):
        found.append(f"{block.name} has constraints other than bounds on sparseness")
    if len(block.bands) > 1 or any(c.each != "component" for c in block.bands):
        found.append(f"{block.name} has no single bound on the sparseness of components")
    return found


def bands_of(block: Block) -> list[tuple[float, float]]:
    """Return the band of each component."""
    band = block.bands[0].band() if block.bands else (0.0, 1.0)
    low, high = (np.broadcast_to(level, block.shape[0]) for level in band)
    return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]


def missed(block: Block, B: Array) -> Array:
    """Return by how much the sparseness of each component misses its band."""
    return sum((c.violation(B) for c in block.bands), np.zeros(len(B)))


@dataclass(frozen=True, eq=False)
class BlockRelaxation:
    """A block as non-negative least squares over sums of rays."""

    held: Subproblem
    form: Quadratic
    bands: list[tuple[float, float]]

    @classmethod
    def of(cls, held: Subproblem) -> BlockRelaxation:
        """Return the relaxation of a block; every column of B gets its own matrix."""
        block = held.block
        parts = [form for _, form in held.columnwise()]
        stacks = [np.broadcast_to(p.G, (p.C.shape[1], *p.G.shape[-2:])) for p in parts]
        C = np.concatenate([p.C for p in parts], axis=1)
        form = Quadratic(np.concatenate(stacks), C, sum(p.constant for p in parts))
        return cls(held, form, bands_of(block))

    @property
    def root(self) -> Node:
        """All directions of every component."""
        block = self.held.block
        return (Cell.whole(block.shape[1], block.nonneg),) * block.shape[0]

    def bound(self, node: Node) -> Bounded:
        """Return the least value over sums of the rays that the planes leave."""
        weights = [cell.generators(band) for cell, band in zip(node, self.bands, strict=True)]
        rows = np.concatenate([np.full(len(w), j) for j, w in enumerate(weights)])
        D = np.concatenate([w @ cell.rays for w, cell in zip(weights, node, strict=True)])
        form = self.form
        Q = np.einsum("at,tab,bt->ab", D, form.G[:, rows[:, None], rows], D, optimize=True)
        c = np.einsum("at,at->a", D, form.C[rows])
        x = nnls_gram(Q, c[:, None])[:, 0]
        slope = Q @ x - c
        # What rounding leaves of a negative slope could lower the value in that direction.
        short = float(np.maximum(-slope, 0.0).max(initial=0.0)) * 2 * float(x.sum())
        lower = float(0.5 * x @ Q @ x - c @ x) + form.constant - short
        codes = [w.T @ x[rows == j] for j, w in enumerate(weights)]
        B = np.stack([code @ cell.rays for code, cell in zip(codes, node, strict=True)])
        scores = [
            pair_scores(cell.rays, code[:, None], 1.0)
            for code, cell in zip(codes, node, strict=True)
        ]
        slack = np.linalg.norm(B, axis=1) * missed(self.held.block, B)
        return Bounded(lower, B, slack, tuple(scores))

    def settle(self, B: Array, polish: bool) -> tuple[float, Array]:
        """Project B on the constraints, and go down from there."""
        block = self.held.block
        assert block.projection is not None
        if block.violation(B) > 0:
            B = block.projection(B)
        if polish:
            better = by_projected_steps(self.held, B)
            B = B if better is None else better
        inside = block.violation(B) <= 1e-9 and not block.collapsed(B)
        return (self.held.objective(B) if inside else np.inf), B
