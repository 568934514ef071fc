"""What the solvers of projections need of a problem: a reason for each way it fails them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conicnmf.projections.statement import ProjectionStatement


def nonnegative_alone(view: ProjectionStatement) -> Iterator[str]:
    """Yield the constraints beyond W ≥ 0."""
    for constraint in view.constraints:
        yield f"it keeps W >= 0 and the norm alone, not {constraint}"


def quadratic(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason for reconstruction problems."""
    if view.reconstructs:
        yield "it maximizes ½tr(WᵀAW), and this problem minimizes ‖V − WWᵀV‖²"


def reconstruction(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason for all but reconstruction problems."""
    if not view.reconstructs:
        yield "it minimizes ‖V − WWᵀV‖², and this problem maximizes ½tr(WᵀAW)"


def orthonormal(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason for problems with a norm of their own."""
    if view.norm is not None:
        yield "the natural gradient is that of orthonormal columns, and here wᵀBw = 1"


def negative_entries(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason when A has no negative entries to divide by."""
    if not view.signed:
        yield "A has no negative entries, so the denominators A⁻W are zero"


def one_column(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason for several columns."""
    if view.rank > 1:
        yield f"orthonormal columns are no convex set, and W has {view.rank} of them"


def convex_gain(view: Any) -> Iterator[str]:
    """Yield a reason when A cannot be made positive semi-definite without changing the problem."""
    if view.reconstructs:
        return
    if view.fixed is None:
        yield "A depends on W, so the linearised objective is no bound"
    elif view.rank == 1 and not view.convex and (view.shift is None or not view.scale_free):
        yield "A is not positive semi-definite, and a multiple of B cannot make it so here"


def bounded(view: Any) -> Iterator[str]:
    """Yield a reason when the objective has no maximum because B is singular."""
    if view.reconstructs or view.fixed is None or view.rank > 1:
        return
    if view.unbounded is not None:
        yield (
            "there is w >= 0 with wᵀBw = 0 and wᵀAw > 0, so that the maximum is infinite; "
            "add a ridge to B"
        )


def cone_forms(view: ProjectionStatement) -> Iterator[str]:
    """Yield the constraints that a cone program with tangent planes cannot hold."""
    for c in view.constraints:
        if "cone" not in c.abilities:
            yield f"{c} has no cone form"
        elif not c.convex and "tangent" not in c.abilities:
            yield f"{c} is not convex and has no tangent planes"


def joint_projection(view: ProjectionStatement) -> Iterator[str]:
    """Yield a reason unless all constraints have a known projection together."""
    if view.projection is None:
        yield f"no joint projection is known for {' ∧ '.join(map(str, view.every))}"
