"""What a solver needs against what a problem's terms can do: every mismatch, as sentences.

`mismatches` alone feeds the error text, `Problem.explain`, what `compare` skips and the solver
table of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from conicnmf._types import stored
from conicnmf.blocks import Block, Blocks
from conicnmf.constraints import NonNegative, Sparseness

Need = Callable[[Any], Iterator[str]]
"""A requirement on one block (on the whole problem where that has no blocks); it yields a
reason for each way this fails it."""


class HasNeeds(Protocol):
    """A solver, as far as this module is concerned."""

    @property
    def name(self) -> str:
        """The name users know the solver by."""

    @property
    def needs(self) -> Sequence[Need]:
        """The requirements on each block."""


@dataclass(frozen=True)
class LossWith:
    """The loss has one of these abilities; told once, for H."""

    abilities: tuple[str, ...]
    because: str

    def __call__(self, block: Block) -> Iterator[str]:
        """Yield a reason unless the loss has one of the abilities."""
        if block.name == "H" and not block.loss.abilities & set(self.abilities):
            yield f"{block.loss} has no {' or '.join(self.abilities)} form, {self.because}"


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


def conic_constraints(block: Block) -> Iterator[str]:
    """Yield the constraints a cone program with tangent planes cannot hold."""
    for constraint in block.constraints:
        if "cone" not in constraint.abilities:
            yield f"{constraint} on {block.name} has no cone form"
        elif not constraint.convex and "tangent" not in constraint.abilities:
            yield f"{constraint} on {block.name} is not convex and has no tangent planes"


def only_sparseness_is_reverse(block: Block) -> Iterator[str]:
    """Yield the non-convex constraints that are not bounds on sparseness."""
    for constraint in block.reverse_convex:
        if not isinstance(constraint, Sparseness):
            yield f"{constraint} on {block.name} is not convex, and no bound on sparseness"


def cones_on_orthant(block: Block) -> Iterator[str]:
    """Yield the constraints that are cones for B ≥ 0 only, on a factor that may be negative."""
    for constraint in block.constraints:
        if constraint.orthant_only and not block.nonneg:
            yield f"{constraint} on {block.name} is a cone only together with NonNegative"


def other_cones_on_orthant(block: Block) -> Iterator[str]:
    """Yield the same but for sparseness bands, which can be stated on magnitudes."""
    others = tuple(c for c in block.constraints if not isinstance(c, Sparseness))
    yield from cones_on_orthant(replace(block, constraints=others))


def signed_blocks_are_sign_free(block: Block) -> Iterator[str]:
    """Yield what cannot be stated on the magnitudes of a signed factor with a sparseness band."""
    if not signed(block):
        return
    for constraint in block.constraints:
        if not constraint.sign_free:
            yield f"{constraint} on {block.name} cannot be stated on magnitudes; add NonNegative"
    if "reduced" not in block.loss.abilities:
        yield f"{block.loss} has no reduced form, which the magnitudes of {block.name} need"


def signed(block: Block) -> bool:
    """Whether a block has a bound on the sparseness of a factor that may be negative."""
    return not block.nonneg and any(isinstance(c, Sparseness) for c in block.constraints)


def joint_projection(block: Block) -> Iterator[str]:
    """Yield a reason unless all constraints have a known projection together."""
    if block.projection is None:
        together = " ∧ ".join(map(str, block.constraints))
        yield f"no joint projection is known for {together} on {block.name}"


def by_component(block: Block) -> Iterator[str]:
    """Yield the constraints that tie components together."""
    for constraint in block.constraints:
        if constraint.each not in ("entry", "component"):
            yield f"{constraint} on {block.name} ties components together"


def orthant_penalties(block: Block) -> Iterator[str]:
    """Yield the magnitudes penalised on a factor that may be negative, where they have a kink."""
    for penalty in block.penalties:
        if "orthant" in penalty.abilities and penalty.orthant()[0] and not block.nonneg:
            yield f"{penalty} on {block.name} is smooth only together with NonNegative"


def nonnegative_only(block: Block) -> Iterator[str]:
    """Yield a reason unless the block is constrained to B ≥ 0 and nothing else."""
    if not block.constraints or not all(isinstance(c, NonNegative) for c in block.constraints):
        stated = ", ".join(map(str, block.constraints)) or "no constraint"
        yield f"{block.name} must be constrained by NonNegative alone, not {stated}"


def nonnegative_data(block: Block) -> Iterator[str]:
    """Yield a reason when the data have negative entries; told once, for H."""
    smallest = stored(block.Y).min(initial=0.0)
    if block.name == "H" and smallest < 0:
        yield f"V has negative entries (smallest {smallest:g}), and the updates need V >= 0"


def uncapped(block: Block) -> Iterator[str]:
    """Yield a reason when the loss has a cap; told once, for H."""
    if block.name == "H" and np.isfinite(block.loss.cap):
        yield f"a cap on the loss ({block.loss.cap:g}) needs a cone program in each step"


def mismatches_of_block(block: Block, solver: HasNeeds) -> list[str]:
    """Return every reason why a solver does not fit one block."""
    return [reason for need in solver.needs for reason in need(block)]


def mismatches(blocks: Blocks, solver: HasNeeds) -> list[str]:
    """Return every reason why a solver does not fit, none when it does."""
    return [reason for block in blocks for reason in mismatches_of_block(block, solver)]
