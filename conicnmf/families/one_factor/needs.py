"""What the solvers of one-factor problems need of a problem: a reason for each way it fails them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conicnmf.families.one_factor.problem import OneFactorProblem
    from conicnmf.families.one_factor.quadratic import QuadraticProjection


def nonnegative_alone(problem: OneFactorProblem) -> Iterator[str]:
    """Yield the constraints beyond W ≥ 0."""
    for constraint in problem.constraints:
        yield f"it keeps W >= 0 and the norm alone, not {constraint}"


def quadratic(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason for reconstruction problems."""
    if problem.reconstructs:
        yield "it maximizes ½tr(WᵀAW), and this problem minimizes ‖V − WWᵀV‖²"


def reconstruction(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason for all but reconstruction problems."""
    if not problem.reconstructs:
        yield "it minimizes ‖V − WWᵀV‖², and this problem maximizes ½tr(WᵀAW)"


def orthonormal(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason for problems with a norm of their own."""
    if problem.norm is not None:
        yield "the natural gradient is that of orthonormal columns, and here wᵀBw = 1"


def negative_entries(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason when A has no negative entries to divide by."""
    if not problem.signed:
        yield "A has no negative entries, so the denominators A⁻W are zero"


def one_column(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason for several columns."""
    if problem.rank > 1:
        yield f"orthonormal columns are no convex set, and W has {problem.rank} of them"


def convex_gain(problem: QuadraticProjection) -> Iterator[str]:
    """Yield a reason when A cannot be made positive semi-definite without changing the problem."""
    if problem.reconstructs:
        return
    if problem.fixed is None:
        yield "A depends on W, so the linearized objective is no bound"
    elif (
        problem.rank == 1
        and not problem.convex
        and (problem.shift is None or not problem.scale_free)
    ):
        yield "A is not positive semi-definite, and a multiple of B cannot make it so here"


def bounded(problem: QuadraticProjection) -> Iterator[str]:
    """Yield a reason when the objective has no maximum because B is singular."""
    if problem.reconstructs or problem.fixed is None or problem.rank > 1:
        return
    if problem.unbounded is not None:
        yield (
            "there is w >= 0 with wᵀBw = 0 and wᵀAw > 0, so that the maximum is infinite; "
            "add a ridge to B"
        )


def cone_forms(problem: OneFactorProblem) -> Iterator[str]:
    """Yield the constraints that a cone program with tangent planes cannot hold."""
    for c in problem.constraints:
        if "cone" not in c.abilities:
            yield f"{c} has no cone form"
        elif not c.convex and "tangent" not in c.abilities:
            yield f"{c} is not convex and has no tangent planes"


def joint_projection(problem: OneFactorProblem) -> Iterator[str]:
    """Yield a reason unless all constraints have a known projection together."""
    if problem.projection is None:
        yield f"no joint projection is known for {' ∧ '.join(map(str, problem.every))}"
