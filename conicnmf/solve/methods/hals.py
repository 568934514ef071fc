"""Hierarchical alternating least squares: one component after the other, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from conicnmf.kernels.descent import descend_band
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.large.descent import RowDescent
from conicnmf.model.terms import Quadratic
from conicnmf.settings import Count
from conicnmf.solve.methods.extrapolated import Extrapolated
from conicnmf.solve.needs import by_component, component_steps, joint_prox, uncapped
from conicnmf.types import Array

_UNSEEN = 1e-9
"""Curvatures below this part of the largest are those of atoms that the data do not see."""
_ROUNDS, _SETTLED = 10, 0.01
"""Where components are mixed: how often `sweeps` are made, and the part of the first change below
which more of them gain little."""


@dataclass(frozen=True)
class HALS(Extrapolated):
    """Minimize over one component at a time, exactly; the objective never rises.

    The loss is a multiple of ‖b − target‖² in one component b, so its constrained minimum is the
    projection of the target on the component's constraints, whether convex or not. With a penalty
    such as `TotalVariation` it is the penalty's proximal step.

    Parameters
    ----------
    sweeps : int
        How many times the components of a factor are updated before the other factor's turn. If a
        constant or a third factor stands between two factors, their components are mixed; then
        this is repeated until they have settled, at most ten times.
    extrapolate : bool
        Before the other factor is updated, continue by a fraction β of the last change. β grows
        while the objective falls; an iteration that would raise the objective is undone and β is
        reduced.

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

    needs: ClassVar = (
        uncapped,
        component_steps,
        by_component,
        joint_prox,
    )

    def minimize(self, held: Subproblem, B: Array) -> tuple[Array, float]:
        """Lower the block, and release its quadratic, which is as large as the factor."""
        if "quadratic" not in held.block.abilities:
            return self._minimize_entries(held, B)
        quadratic = held.quadratic()
        new = self.descend(held.block, quadratic, B)
        return new, quadratic.value(new) + sum(p.value(new) for p in held.block.shaped)

    def lower_rows(self, rows: RowDescent) -> tuple[Any, float]:
        """Lower rows that are in many strips; return them and the objective of their block."""
        return rows.run(self.sweeps)

    def _minimize_entries(self, held: Subproblem, B: Array) -> tuple[Array, float]:
        """Lower a factor that stands between two others, entry by entry."""
        whole = held.vectorized()
        lower = 0.0 if held.block.orthant_only else -np.inf

        def visit(b: Array) -> Array:
            return hals_sweeps(whole.G, whole.C, b, self.sweeps, lower)

        new = _until_settled(visit, whole, B.reshape(-1, 1))
        return new.reshape(B.shape), whole.value(new)

    def descend(self, block: Block, quadratic: Quadratic, B: Array) -> Array:
        """Visit every component `sweeps` times, more often where they are mixed."""
        if not block.mixed:
            return self._visit(block, quadratic, B)
        return _until_settled(lambda X: self._visit(block, quadratic, X), quadratic, B)

    def _visit(self, block: Block, quadratic: Quadratic, B: Array) -> Array:
        if not block.shaped and block.orthant_only:
            return hals_sweeps(quadratic.G, quadratic.C, B, self.sweeps)
        if not block.shaped and block.only_band is not None:
            return descend_band(quadratic.G, quadratic.C, B, *block.only_band, self.sweeps)
        return minimize_components(block, quadratic, B, self.sweeps)


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


def minimize_components(block: Block, quadratic: Quadratic, B: Array, sweeps: int) -> Array:
    """Return B after exact updates of one component after the other.

    In component j the quadratic is ½G_jj‖b − target‖², so with the constraints and the shaped
    penalties its minimizer is their proximal step of length 1/G_jj from the target.
    """
    assert block.prox is not None
    G, C = quadratic.G, quadratic.C
    B = B.copy()
    # Of a zero atom only the price of its row is left; any larger curvature will do there.
    floor = _UNSEEN * (np.diag(G).max() or 1.0) if block.penalties else 0.0
    curvatures = np.maximum(np.diag(G), floor)
    for _ in range(sweeps):
        for j in np.flatnonzero(curvatures > 0):
            own = slice(j, j + 1)
            last = B[own].copy()
            B[j] += (C[j] - G[j] @ B) / curvatures[j]
            B[own] = block.prox(B, 1 / float(curvatures[j]), own)
            for c in () if block.zero_allowed else block.constraints:
                B[own] = c.of(own).kept_alive(B[own], last)  # f is not higher there
    return B
