"""Both factors at once as a smooth non-linear program, a baseline for small problems."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block, Blocks, Factors
from conicnmf.compat import (
    LossWith,
    PenaltiesWith,
    cones_on_orthant,
    conic_constraints,
    only_sparseness_is_reverse,
    uncapped,
)
from conicnmf.conic.backends import solve_once
from conicnmf.conic.cones import cone_constant
from conicnmf.constraints import Sparseness
from conicnmf.result import Status
from conicnmf.solvers.base import Context, Solver, Sweep
from conicnmf.stop import MaxIter, Stop


def nlp_backend() -> str | None:
    """Return an installed non-linear solver that CVXPY knows, if there is one."""
    return next((name for name in ("IPOPT", "UNO") if name in cp.installed_solvers()), None)


def nlp_installed(block: Block) -> Iterator[str]:
    """Yield a reason when no non-linear solver is installed; told once, for H."""
    if block.name == "H" and nlp_backend() is None:
        yield "no non-linear solver is installed; pip install 'conicnmf[nlp]' brings one"


def no_other_cones(block: Block) -> Iterator[str]:
    """Yield the second-order cones that have no smooth form here."""
    for constraint in block.constraints:
        if not isinstance(constraint, Sparseness) and "cone" in constraint.abilities:
            parts = constraint.cone(cp.Variable(block.shape))
            if any(isinstance(part, cp.SOC) for part in parts):
                yield f"{constraint} on {block.name} is a cone without a smooth form"


@dataclass(frozen=True)
class JointNLP(Solver):
    """Solve for W and H together with a non-linear solver, through CVXPY.

    The product is not convex, and neither is a lower bound on sparseness; bounds enter as
    (Σb)² ≤ c²Σb² and its opposite. The program has the size of the data: use it for small
    problems, to see how good the alternating methods are.

    Parameters
    ----------
    backend : str, optional
        A non-linear solver CVXPY knows, such as UNO or IPOPT; by default whichever is installed.

    Examples
    --------
    >>> import conicnmf as cn
    >>> cn.JointNLP(backend="UNO").name
    'JointNLP'
    """

    backend: str | None = None

    needs: ClassVar = (
        uncapped,
        nlp_installed,
        LossWith(("expression",), "which a non-linear program needs"),
        PenaltiesWith(("expression",), "which a non-linear program needs"),
        conic_constraints,
        no_other_cones,
        only_sparseness_is_reverse,
        cones_on_orthant,
    )
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(1)

    def start(self, blocks: Blocks, context: Context) -> float:
        """Keep the time by which the one iteration has to end."""
        return context.deadline

    def sweep(self, blocks: Blocks, factors: Factors, memo: float) -> Sweep:
        """Solve the whole problem from the given factors."""
        variables = {name: cp.Variable(X.shape, value=X) for name, X in factors.items()}
        left = memo - time.perf_counter()
        seconds = max(0.1, left) if np.isfinite(left) else None
        backend = str(self.backend or nlp_backend())
        record = solve_once(_program(blocks, variables), backend, seconds, nlp=True)
        if not record.ok or any(v.value is None for v in variables.values()):
            return Sweep(factors, memo, status=Status.BACKEND_FAILED, inner=(record,))
        found = {name: v.value.astype(factors[name].dtype) for name, v in variables.items()}
        for block in blocks:
            B = blocks.view(block, found)[1]
            found = blocks.put(block, found, _polished(block, B))
        return Sweep(found, memo, status=Status.CONVERGED, inner=(record,))


def _program(blocks: Blocks, variables: dict[str, cp.Variable]) -> cp.Problem:
    """Return the stated problem with smooth forms of the bounds on sparseness."""
    W, H = variables["W"], variables["H"]
    problem = blocks.problem
    objective = problem.loss.expression(problem.V, W, H)
    constraints: list[cp.Constraint] = []
    for block, B in ((blocks.W, W.T), (blocks.H, H)):
        objective = objective + sum(penalty.expression(B) for penalty in block.penalties)
        for constraint in block.constraints:
            if isinstance(constraint, Sparseness):
                constraints += _smooth_band(constraint, B)
            else:
                constraints += constraint.cone(B)
    return cp.Problem(cp.Minimize(objective), constraints)


def _smooth_band(band: Sparseness, B: cp.Expression) -> list[cp.Constraint]:
    """Return c‖b‖ between its bounds by squares, for every piece b ≥ 0."""
    rows = B if band.each == "component" else B.T
    low, high = (cone_constant(rows.shape[1], s) ** 2 for s in (band.min, band.max))
    parts: list[cp.Constraint] = []
    for j in range(rows.shape[0]):
        total, squares = cp.square(cp.sum(rows[j])), cp.sum_squares(rows[j])
        parts += [total <= low * squares] if band.min > 0 else []
        parts += [high * squares <= total] if band.max < 1 else []
    return parts


def _polished(block: Block, B: Array) -> Array:
    """Remove what the solver leaves of the last digits, where the projection is known."""
    return B if block.projection is None else block.projection(np.ascontiguousarray(B))
