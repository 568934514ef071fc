"""Both factors at once as a smooth non-linear program, a baseline for small problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.results import Status
from conicnmf.solve.methods.base import Solver, Sweep
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    cones_on_orthant,
    conic_constraints,
    uncapped,
)
from conicnmf.solve.programs.backends import solve_once
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors


def nlp_backend() -> str | None:
    """Return an installed non-linear solver that CVXPY knows, if there is one."""
    return next((name for name in ("IPOPT", "UNO") if name in cp.installed_solvers()), None)


def nlp_installed(block: Block) -> Iterator[str]:
    """Yield a reason when no non-linear solver is installed."""
    if nlp_backend() is None:
        yield "no non-linear solver is installed; pip install 'conicnmf[nlp]' brings one"


def no_other_cones(block: Block) -> Iterator[str]:
    """Yield the second-order cones that have no smooth form here."""
    for constraint in block.constraints:
        if "smooth" not in constraint.abilities and "cone" in constraint.abilities:
            parts = constraint.cone(cp.Variable(block.shape))
            if any(isinstance(part, cp.SOC) for part in parts):
                yield f"{constraint} on {block.name} is a cone without a smooth form"


def smooth_reverse(block: Block) -> Iterator[str]:
    """Yield what is not convex and has kinks, which CVXPY keeps from non-linear solvers."""
    X = cp.Variable(block.shape, nonneg=block.nonneg)
    for constraint in block.reverse_convex:
        smooth = constraint.smooth(X) if "smooth" in constraint.abilities else []
        if not smooth or not all(part.is_dnlp() for part in smooth):
            yield (
                f"{constraint} on {block.name} is not convex and not smooth; write squares in place "
                "of norms"
            )
    for penalty in block.penalties:
        if (
            "smooth" in penalty.abilities
            and not cp.Problem(cp.Minimize(penalty.smooth(X))).is_dnlp()
        ):
            yield f"{penalty} on {block.name} is not convex and has kinks"


@dataclass(frozen=True)
class JointNLP(Solver[Problem, None]):
    """Solve for W and H together with a non-linear solver, through CVXPY.

    The product is not convex, and neither is a lower bound on sparseness; bounds on sparseness are
    passed on as (Σb)² ≤ c²Σb² or ≥, other constraints and penalties as you wrote them. The program
    has the size of the data: use it for small problems, to see how good the alternating methods are.
    It ends after 1000 iterations of the non-linear solver.

    Parameters
    ----------
    backend : str, optional
        A non-linear solver CVXPY knows, such as UNO or IPOPT; by default one that is installed.

    Examples
    --------
    >>> import conicnmf as cn
    >>> cn.JointNLP(backend="UNO").name
    'JointNLP'
    """

    backend: str | None = None

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = (
        uncapped,
        nlp_installed,
        LossWith(("expression",), "which a non-linear program needs"),
        PenaltiesWith(("expression", "smooth"), "which a non-linear program needs"),
        conic_constraints,
        no_other_cones,
        smooth_reverse,
        cones_on_orthant,
    )
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(1)

    def sweep(self, problem: Problem, factors: Factors, memo: None) -> Sweep[None]:
        """Solve the whole problem from the given factors."""
        variables = {name: cp.Variable(X.shape, value=X) for name, X in factors.items()}
        backend = str(self.backend or nlp_backend())
        record = solve_once(_program(problem, variables), backend, nlp=True)
        answered = record.ok or record.limited
        if not answered or any(v.value is None for v in variables.values()):
            return Sweep(factors, memo, status=Status.BACKEND_FAILED, inner=(record,))
        found = {name: v.value.astype(factors[name].dtype) for name, v in variables.items()}
        for block in problem.blocks:
            found = block.put(found, _polished(block, block.rows(found)))
        status = Status.CONVERGED if record.ok else Status.MAX_ITER
        return Sweep(found, memo, status=status, inner=(record,))


def _program(problem: Problem, variables: dict[str, cp.Variable]) -> cp.Problem:
    """Return the stated problem, with smooth forms of constraints that have one."""
    objective = sum(addend.stated(variables) for addend in problem.addends)
    constraints: list[cp.Constraint] = []
    for block in problem.blocks:
        X = variables[block.name]
        B = X.T if block.flipped else X
        for penalty in block.penalties:
            convex = "expression" in penalty.abilities
            objective = objective + (penalty.expression(B) if convex else penalty.smooth(B))
        for constraint in block.constraints:
            smooth = "smooth" in constraint.abilities
            constraints += constraint.smooth(B) if smooth else constraint.cone(B)
    return cp.Problem(cp.Minimize(objective), constraints)


def _polished(block: Block, B: Array) -> Array:
    """Remove what the solver leaves of the last digits, where the projection is known."""
    return B if block.projection is None else block.projection(np.ascontiguousarray(B))
