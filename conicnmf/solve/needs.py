"""What solvers need of a block: every way in which it fails them, as sentences.

They alone feed the error text, `Problem.explain`, what `compare` skips and the solver table of the
documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conicnmf.model.addends import Addend, Fit
from conicnmf.model.blocks import Block, is_orthant
from conicnmf.model.terms import Constraint, Penalty
from conicnmf.types import stored


@dataclass(frozen=True)
class LossWith:
    """Every addend of the block has one of these abilities."""

    abilities: tuple[str, ...]
    because: str

    def __call__(self, block: Block) -> Iterator[str]:
        """Yield a reason for each addend that has none of the abilities."""
        forms = " or ".join(self.abilities)
        for addend in block.addends:
            if not block.forms(addend) & set(self.abilities):
                yield f"{_where(addend, block)} has no {forms} form, {self.because}"


def _where(addend: Addend, block: Block) -> str:
    """Return the loss, or the place in the product that takes its forms away."""
    if isinstance(addend, Fit) and addend.loss.abilities - addend.abilities(block.name):
        return f"{addend.loss} at {block.name}'s place in {addend}"
    return str(addend.loss if isinstance(addend, Fit) else addend)


@dataclass(frozen=True)
class PenaltiesWith:
    """Every penalty has one of these abilities."""

    abilities: tuple[str, ...]
    because: str

    def __call__(self, block: Block) -> Iterator[str]:
        """Yield a reason for each penalty with none of the abilities."""
        for penalty in block.penalties:
            if not penalty.abilities & set(self.abilities):
                forms = " or ".join(self.abilities)
                yield f"{penalty} on {block.name} has no {forms} form, {self.because}"


MOST_ENTRIES = 2000
"""Up to this many entries of a middle factor are updated one by one through their Gram matrix."""


def component_steps(block: Block) -> Iterator[str]:
    """Yield why neither components nor, in the middle of a product, entries have exact steps."""
    if "quadratic" in block.abilities:
        return
    if "vectorized" not in block.abilities:
        yield from LossWith(("quadratic",), "which component-wise steps need")(block)
        return
    place = f"{block.name} is between two factors, where its entries depend on each other"
    if (size := block.shape[0] * block.shape[1]) > MOST_ENTRIES:
        yield f"{place}: at most {MOST_ENTRIES} are updated one by one, and it has {size}"
    if block.constraints and not block.orthant_only:
        stated = ", ".join(map(str, block.constraints))
        yield f"{place}: only NonNegative or no constraint is possible there, not {stated}"
    for penalty in block.shaped:
        yield f"{place}, and {penalty} has no closed form there"


def conic_constraints(block: Block) -> Iterator[str]:
    """Yield the constraints a cone program with tangent planes cannot hold."""
    for constraint in block.constraints:
        if "cone" not in constraint.abilities:
            yield f"{constraint} on {block.name} has no cone form"
        elif not constraint.convex and "tangent" not in constraint.abilities:
            yield f"{constraint} on {block.name} is not convex and has no tangent planes"


def cones_on_orthant(block: Block) -> Iterator[str]:
    """Yield the constraints that are cones for B ≥ 0 only, on a factor that may be negative."""
    for constraint in block.constraints:
        if constraint.orthant_only and not block.nonneg:
            yield f"{constraint} on {block.name} is a cone only together with NonNegative"


def other_cones_on_orthant(block: Block) -> Iterator[str]:
    """Yield the same but for constraints that can be stated on magnitudes."""
    for constraint in block.constraints:
        if constraint.orthant_only and not constraint.sign_free and not block.nonneg:
            yield f"{constraint} on {block.name} is a cone only together with NonNegative"


def signed_blocks_are_sign_free(block: Block) -> Iterator[str]:
    """Yield what cannot be stated on the magnitudes of a signed factor with a sparseness band."""
    if not signed(block):
        return
    for term in (*block.constraints, *block.penalties):
        if not term.sign_free:
            yield (
                f"{term} on {block.name} cannot be stated on magnitudes; add NonNegative, or give the "
                "sparseness of whole components a band instead of one value"
            )
    yield from LossWith(("reduced",), f"which the magnitudes of {block.name} need")(block)


def signed(block: Block) -> bool:
    """Whether a factor that may be negative has a constraint that is a cone on its magnitudes."""
    return not block.nonneg and any(c.orthant_only and c.sign_free for c in block.constraints)


def joint_projection(block: Block) -> Iterator[str]:
    """Yield a reason unless all constraints have a known projection together."""
    if block.projection is None:
        together = " ∧ ".join(map(str, block.constraints))
        yield f"no joint projection is known for {together} on {block.name}"


def joint_prox(block: Block) -> Iterator[str]:
    """Yield why constraints and penalties have no known proximal step together."""
    if not block.shaped:
        yield from joint_projection(block)
        return
    form = "prox_nonneg" if block.nonneg else "prox"
    lacking = [p for p in block.shaped if form not in p.abilities]
    for penalty in lacking:
        yield f"{penalty} on {block.name} has no {form} form, which exact steps need"
    if block.prox is None and not lacking:
        together = " ∧ ".join(map(str, (*block.constraints, *block.shaped)))
        yield f"no joint proximal step is known for {together} on {block.name}"


def by_component(block: Block) -> Iterator[str]:
    """Yield the constraints and penalties that tie components together."""
    stated: list[Constraint | Penalty] = [*block.constraints, *block.shaped]
    for term in stated:
        if term.each not in ("entry", "component"):
            yield f"{term} on {block.name} links components"


def exact_columns(block: Block) -> Iterator[str]:
    """Yield why least squares over the columns have no exact solution."""
    stated = " ∧ ".join(map(str, block.binding))
    if tied := [penalty for penalty in block.shaped if "ties" in penalty.abilities]:
        for constraint in block.binding:
            if "bounds" not in constraint.abilities:
                both = f"{constraint} and {tied[0]}"
                yield f"no exact least squares are known for {both} on {block.name}"
        return
    if whole_least_squares(block) is not None:
        return
    if len(block.binding) > 1:
        yield f"no exact least squares are known for {stated} on {block.name}"
    for constraint in block.binding[:1]:
        if constraint.each not in ("entry", "sample"):
            yield f"{constraint} on {block.name} links samples"
        elif "least_squares" not in constraint.abilities:
            yield f"no exact least squares are known for {constraint} on {block.name}"


def whole_least_squares(block: Block) -> Constraint | None:
    """Return the constraint that has exact least squares of all columns together with B ≥ 0."""
    if len(block.binding) != 2 or not block.nonneg or "quadratic" not in block.abilities:
        return None
    orthant, other = block.binding
    exact = is_orthant(orthant) and "least_squares_nonneg" in other.abilities
    return other if exact else None


def orthant_penalties(block: Block) -> Iterator[str]:
    """Yield the magnitudes penalized on a factor that may be negative, where they have a kink."""
    for penalty in block.penalties:
        if "orthant" in penalty.abilities and penalty.orthant()[0] and not block.nonneg:
            yield f"{penalty} on {block.name} is smooth only together with NonNegative"


def nonnegative_only(block: Block) -> Iterator[str]:
    """Yield a reason unless the block is constrained to B ≥ 0 and nothing else."""
    if not block.orthant_only:
        stated = ", ".join(map(str, block.constraints)) or "no constraint"
        yield f"{block.name} must be constrained by NonNegative alone, not {stated}"


def one_addend(block: Block) -> Iterator[str]:
    """Yield a reason when the block has several losses, or none."""
    if len(block.addends) != 1:
        yield f"{block.name} appears in {len(block.addends)} losses, and only one is supported"


def nonnegative_data(block: Block) -> Iterator[str]:
    """Yield a reason when the data have negative entries."""
    for addend in block.addends:
        if isinstance(addend, Fit):
            low = stored(addend.V).min(initial=0.0)
            if low < 0:
                V = addend.name
                yield f"{V} has negative entries (smallest {low:g}), and the updates need {V} >= 0"


def nonnegative_around(block: Block) -> Iterator[str]:
    """Yield a reason when what a variable is multiplied by, or added to, may be negative."""
    if not block.nonneg_around:
        yield f"what {block.name} is multiplied with may be negative, and the updates need it >= 0"


def bounded_gains(block: Block) -> Iterator[str]:
    """Yield the gains on a factor that may grow without end, while the other one shrinks."""
    for penalty in block.penalties:
        fixed = getattr(penalty, "fixed", None) if "operator" in penalty.abilities else None
        endless = fixed is not None and fixed.sign != -1
        if endless and block.addends and all(c.scale_free for c in block.constraints):
            yield f"nothing bounds {penalty} on {block.name}; add NormBall() or other bounds on it"


def without_kinks(block: Block) -> Iterator[str]:
    """Yield the losses with kinks, which gradient steps would come to and not leave."""
    for fit in (addend for addend in block.addends if isinstance(addend, Fit)):
        if "smoothed" in fit.loss.abilities:
            yield (
                f"{fit.loss} has kinks, where gradient steps end too early; write "
                "Smoothing(ProjectedGradient())"
            )


def uncapped(block: Block) -> Iterator[str]:
    """Yield a reason when a loss has a cap."""
    for addend in block.addends:
        if np.isfinite(addend.cap):
            yield f"a cap on the loss ({addend.cap:g}) needs a cone program in each step"
