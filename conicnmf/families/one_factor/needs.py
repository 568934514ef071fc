"""What the methods of one-factor problems ask of them: a reason for each way they fail it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conicnmf.families.one_factor.view import OneFactor
from conicnmf.solve.needs import conic_constraints


def nonnegative_alone(view: OneFactor) -> Iterator[str]:
    """Yield the constraints beyond W ≥ 0."""
    for constraint in view.others:
        yield f"it keeps only W >= 0 and the norm, not {constraint}"


def normalized(view: OneFactor) -> Iterator[str]:
    """Yield a reason where nothing keeps W from growing."""
    if not view.reconstructs and view.norm is None and view.parts is None:
        yield "nothing bounds ½tr(WᵀAW); add Orthonormal() or NormIn(B)"


def quadratic(view: OneFactor) -> Iterator[str]:
    """Yield a reason for reconstruction problems."""
    if view.reconstructs:
        yield "it maximizes ½tr(WᵀAW), and this problem minimizes ‖V − WWᵀV‖²"


def reconstruction(view: OneFactor) -> Iterator[str]:
    """Yield a reason for all but reconstruction problems."""
    if not view.reconstructs:
        yield "it minimizes ‖V − WWᵀV‖², and this problem maximizes ½tr(WᵀAW)"


def nonnegative_moments(view: OneFactor) -> Iterator[str]:
    """Yield a reason where V has negative entries."""
    if view.reconstructs and view.signed:
        yield "V has negative entries, and the rule multiplies; shift V"


def orthonormal(view: OneFactor) -> Iterator[str]:
    """Yield a reason for problems with a norm of their own."""
    if view.norm is not None:
        yield "the natural gradient is for orthonormal columns, and this problem has wᵀBw = 1"


def one_norm(view: OneFactor) -> Iterator[str]:
    """Yield a reason for several columns with a norm each, which would all become the same."""
    if view.norm is not None and view.rank > 1:
        yield f"with a separate norm for each of {view.rank} columns, all of them may be the same"


def negative_entries(view: OneFactor) -> Iterator[str]:
    """Yield a reason when A has no negative entries to divide by."""
    if not view.signed:
        yield "A has no negative entries, so the denominators A⁻W are zero"


def signed_halves(view: OneFactor) -> Iterator[str]:
    """Yield a reason where A⁺ and A⁻ are out of reach."""
    if view.fixed is not None and not view.fixed.splits:
        yield (
            f"it needs A⁺ − A⁻, and A ({view.size} × {view.size}) is known only through its products; "
            "give a sparse matrix or LowRank(G)"
        )


def known_operator(view: OneFactor) -> Iterator[str]:
    """Yield a reason when A cannot be made positive semi-definite without changing the problem."""
    if view.reconstructs:
        return
    if view.fixed is None:
        yield "A depends on W, so the linearized objective is not a bound"
    elif view.shift is None or (not view.convex and not view.scale_free):
        yield "A is not positive semi-definite, and adding a multiple of B cannot make it so"


def cone_forms(view: OneFactor) -> Iterator[str]:
    """Yield the constraints that a cone program with tangent planes cannot hold."""
    yield from conic_constraints(replace(view.block, constraints=view.others))


def joint_projection(view: OneFactor) -> Iterator[str]:
    """Yield a reason unless all constraints have a known projection together."""
    if view.projection is None:
        together = " ∧ ".join(map(str, view.block.constraints))
        yield f"no joint projection is known for {together}"
