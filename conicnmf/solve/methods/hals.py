"""Hierarchical alternating least squares: one component after the other, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.kernels.descent import descend_band
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Quadratic
from conicnmf.settings import Count
from conicnmf.solve.methods.base import Context, Solver, Sweep, first_fit
from conicnmf.solve.needs import (
    PenaltiesWith,
    by_component,
    component_steps,
    joint_projection,
    orthant_penalties,
    uncapped,
)
from conicnmf.types import Array, Factors

_GROW, _CUT, _SPEED_UP_LIMIT = 1.05, 1.5, 1.01
_ROUNDS, _SETTLED = 10, 0.01
"""Where components are mixed: how often `sweeps` are made, and the part of the first change below
which more of them gain little."""


@dataclass(frozen=True, eq=False)
class _Pace:
    """The state of the extrapolation: where it looks ahead from, and how far."""

    ahead: Factors
    reached: Factors
    objective: float = np.inf
    beta: float = 0.5
    ceiling: float = 1.0


@dataclass(frozen=True)
class HALS(Solver[Problem, "_Pace | None"]):
    """Minimize over one component at a time by an exact projection; the objective never rises.

    The loss is a multiple of ‖b − target‖² in one component b, so its constrained minimum is the
    projection of the target on the component's constraints, whether convex or not.

    Parameters
    ----------
    sweeps : int
        How often the components are visited before the factor is switched. Where a constant or a
        third factor stands between two factors, it mixes their components, and this is repeated
        until they have settled, ten times at most.
    extrapolate : bool
        Go on a part β of the last change before the other factor is updated. β grows while the
        objective falls; an iteration that would raise it is undone and β is cut.

    References
    ----------
    Cichocki, Zdunek and Amari, Hierarchical ALS algorithms for NMF, ICA 2007.
    Ang and Gillis, Accelerating NMF algorithms by extrapolation, Neural Computation 2019.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 6))
    >>> cn.factorize(V, 2).solve(cn.HALS()).status.name
    'CONVERGED'
    """

    sweeps: Count = 3
    extrapolate: bool = True

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = (
        uncapped,
        component_steps,
        PenaltiesWith(("orthant",), "which component-wise steps need"),
        orthant_penalties,
        by_component,
        joint_projection,
    )

    def facing(self, block: Block) -> Block:
        """Return the block, majorized where the loss is no quadratic."""
        return first_fit(self, block)

    def start(self, problem: Problem, context: Context) -> None:
        """Begin without a direction to go on in."""

    def sweep(self, problem: Problem, factors: Factors, memo: _Pace | None) -> Sweep[_Pace | None]:
        """Update each variable and look ahead; undo all of it if the objective rose."""
        pace = memo or _Pace(factors, factors)
        beta = pace.beta if self.extrapolate and memo is not None else 0.0
        ahead, value = pace.ahead, np.inf
        reached: Factors = {}
        for block in problem.blocks:
            new, value = self._minimize(block.given(ahead), block.rows(ahead))
            reached |= block.put({}, new)
            last = block.rows({**factors, **pace.reached})
            before, ahead = ahead, block.put(ahead, _look_ahead(block, new, last, beta))
        # The last variable was fitted to the others looking ahead: together they are the iterate.
        found = block.put(before, new)
        if len(block.addends) == len(problem.addends):
            objective = problem.total(value - block.penalty(new), found)
        else:
            objective = problem.objective(found)
        if objective > pace.objective * (1 + 1e-14) + 1e-14 * problem.unit:
            calm = _Pace(factors, factors, pace.objective, beta / _CUT, beta)
            return Sweep(factors, calm, pace.objective)
        ceiling = min(1.0, _SPEED_UP_LIMIT * pace.ceiling)
        beta = min(ceiling, _GROW * pace.beta)
        _balance(problem, ahead, reached)
        found = {**ahead, block.name: reached[block.name]}
        return Sweep(found, _Pace(ahead, reached, objective, beta, ceiling), objective)

    def _minimize(self, held: Subproblem, B: Array) -> tuple[Array, float]:
        """Lower the block, through a majorizer where the loss itself is no quadratic."""
        if not any(component_steps(held.block)):
            return self._descended(held, B)
        majorizer = held.majorized(B, self.facing(held.block))
        new = self._descended(majorizer, B)[0]
        return new, held.objective(new)

    def _descended(self, held: Subproblem, B: Array) -> tuple[Array, float]:
        """Lower the block, and let go of its quadratic, which is as large as the factor."""
        if "quadratic" not in held.block.abilities:
            return self._minimize_entries(held, B)
        quadratic = held.quadratic()
        new = self.descend(held.block, quadratic, B)
        return new, quadratic.value(new)

    def _minimize_entries(self, held: Subproblem, B: Array) -> tuple[Array, float]:
        """Lower a factor that stands between two others, entry by entry."""
        whole = held.vectorized()
        lower = 0.0 if held.block.orthant_only else -np.inf

        def visit(b: Array) -> Array:
            return hals_sweeps(whole.G, whole.C, b, self.sweeps, lower)[0]

        new = _until_settled(visit, whole, B.reshape(-1, 1))
        return new.reshape(B.shape), whole.value(new)

    def descend(self, block: Block, quadratic: Quadratic, B: Array) -> Array:
        """Visit every component `sweeps` times, more often where they are mixed."""
        if not block.mixed:
            return self._visit(block, quadratic, B)
        return _until_settled(lambda X: self._visit(block, quadratic, X), quadratic, B)

    def _visit(self, block: Block, quadratic: Quadratic, B: Array) -> Array:
        if block.orthant_only:
            return hals_sweeps(quadratic.G, quadratic.C, B, self.sweeps)[0]
        if block.only_band is not None:
            return descend_band(quadratic.G, quadratic.C, B, *block.only_band, self.sweeps)
        return project_components(block, quadratic, B, self.sweeps)


def _until_settled(visit: Callable[[Array], Array], quadratic: Quadratic, B: Array) -> Array:
    """Return B after visits, until one moves little of what the first has moved.

    C in W C H makes components of W alike: the Gram matrix is nearly singular, and a few visits of
    one component after the other come nowhere near the minimum of the block.
    """
    weights = np.diag(quadratic.G)[:, None]
    moved: list[float] = []
    for _ in range(_ROUNDS):
        before, B = B, visit(B)
        moved.append(float(np.sum(weights * (B - before) ** 2)))
        if moved[-1] <= _SETTLED * moved[0]:
            break
    return B


def _balance(problem: Problem, ahead: Factors, reached: Factors) -> None:
    """Give both parts of a found component the same norm, where only their product counts.

    Extrapolation goes on in any direction that costs nothing, such as W → 0 with H → ∞.
    """
    for block, other in problem.scale_free_pairs:
        first, second = block.rows(ahead), other.rows(reached)
        sizes = np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)
        alive = (sizes[0] > 0) & (sizes[1] > 0)
        shift = np.sqrt(np.divide(sizes[1], sizes[0], out=np.ones_like(sizes[0]), where=alive))
        for point in (ahead, reached):  # array by array, so that few are alive at once
            point |= block.put({}, block.rows(point) * shift[:, None])
            point |= other.put({}, other.rows(point) / shift[:, None])


def _look_ahead(block: Block, new: Array, last: Array, beta: float) -> Array:
    """Go on from the last point through the new one, and back into the constraints."""
    if not beta:
        return new
    assert block.projection is not None
    ahead: Array = new - last
    ahead *= beta
    ahead += new
    ahead = block.projection(ahead)
    return new if block.collapsed(ahead) else ahead


def project_components(block: Block, quadratic: Quadratic, B: Array, sweeps: int) -> Array:
    """Return B after exact updates of one component after the other."""
    assert block.projection is not None
    G, C = quadratic.G, quadratic.C
    B = B.copy()
    for j in np.flatnonzero((np.diag(G) <= 0) & (C < 0).any(axis=1)):
        # Of a zero atom only the price of its row is left, which is least next to zero.
        short = B.copy()
        short[j] = 0.0
        short[j] = block.projection(short, slice(j, j + 1))[0]
        B = short if C[j] @ short[j] > C[j] @ B[j] and not block.collapsed(short) else B
    for _ in range(sweeps):
        for j in np.flatnonzero(np.diag(G) > 0):
            last = B[j].copy()
            B[j] += (C[j] - G[j] @ B) / G[j, j]
            B[j] = block.projection(B, slice(j, j + 1))[0]
            if not block.zero_allowed and not B[j].any():
                B[j] = last / 10  # as in `kept_alive`; f is not higher there
    return B
