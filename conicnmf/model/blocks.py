"""One variable's part of a problem, in one orientation: a component in each row of B.

The block of H in V ≈ W H minimizes the loss of V ≈ W B, the block of W that of Vᵀ ≈ Hᵀ B with
B = Wᵀ; no solver knows which variable it holds. A variable may stand in several addends of the
objective: their forms add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conicnmf.model.addends import Addend, Chain, Fit, Kind, Ref
from conicnmf.model.constraints.joint import JointProjection, find_projection, merged_bounds
from conicnmf.model.holding import LARGE
from conicnmf.model.proximal import JointProx, find_prox
from conicnmf.model.subproblem import Subproblem
from conicnmf.model.terms import Constraint, Loss, Penalty, Term
from conicnmf.types import Array, Data, Factors

__all__ = ["Block", "Subproblem", "constraints_of", "fitted_block", "penalties_of"]


@dataclass(frozen=True, eq=False)
class Block:
    """One variable's part of a problem; `given` holds the others."""

    name: str
    shape: tuple[int, int]
    flipped: bool
    addends: tuple[Addend, ...]
    constraints: tuple[Constraint, ...]
    penalties: tuple[Penalty, ...]
    uncapped: bool = False
    """Whether caps on addends are left aside, as on the way to a first feasible point."""
    nonneg_around: bool = True
    """Whether all that the variable is multiplied by is non-negative."""
    kind: Kind | None = None
    """The kind of majorizers that stand for the addends, if they do."""

    def given(self, factors: Factors) -> Subproblem:
        """Return the block with the other variables held at these factors."""
        views = [addend.view(self.name, self.flipped, factors) for addend in self.addends]
        return Subproblem(self, tuple(views))

    def rows(self, factors: Factors) -> Array:
        """Return the block's variable with its components as rows."""
        X = factors[self.name]
        return np.ascontiguousarray(X.T) if self.flipped else X

    def put(self, factors: Factors, B: Array) -> Factors:
        """Return the factors with B in the place of the variable."""
        # It stays a view of B, so that looking at the block again copies nothing.
        return {**factors, self.name: B.T if self.flipped else B}

    @cached_property
    def abilities(self) -> frozenset[str]:
        """The forms that every addend of the block has."""
        if not self.addends:
            return frozenset(
                {"gradient", "expression", "quadratic", "vectorized", "reduced", "ratio"}
            )
        return frozenset.intersection(*map(self.forms, self.addends))

    def forms(self, addend: Addend) -> frozenset[str]:
        """Return the forms that an addend, or its majorizers, have in this block."""
        if self.kind is None:
            return addend.abilities(self.name)
        return addend.majorizers(self.name, self.kind)

    @cached_property
    def majorized(self) -> tuple[Block, ...]:
        """The same block with majorizers in place of its addends, for each kind that all have."""
        kinds: list[Kind] = ["weighted", "quadratic"]
        # A product of non-negative factors alone can be bounded entry by entry.
        kinds += ["separable"] if self.nonneg and self.nonneg_around else []
        kept = tuple(p for p in self.penalties if "majorize" not in p.abilities)
        kinds = kinds if self.kind is None and self.addends else []
        blocks = [
            replace(self, kind=kind, penalties=kept if kind == "quadratic" else self.penalties)
            for kind in kinds
        ]
        return tuple(block for block in blocks if all(map(block.forms, self.addends)))

    @cached_property
    def any_sign(self) -> Block:
        """The block, its cones of magnitudes stated for any sign where other terms depend on signs."""
        cones = [c for c in self.constraints if c.orthant_only and c.sign_free]
        if (
            self.nonneg
            or not cones
            or all(t.sign_free for t in (*self.constraints, *self.penalties))
        ):
            return self
        able = [c for c in cones if "any_sign" in c.abilities]
        stated = tuple(c.any_sign() if c in able else c for c in self.constraints)
        return replace(self, constraints=stated)

    @cached_property
    def separable(self) -> Block | None:
        """The block with sums over entries in place of its addends, where all have such."""
        return next((block for block in self.majorized if block.kind == "separable"), None)

    @cached_property
    def scored(self) -> Block | None:
        """The block with squares that have the slopes of its addends, where all have such.

        They need not lie above the addends, so who lowers them has to look at these again.
        """
        block = replace(self, kind="scored")
        fit = self.kind is None and self.addends and all(map(block.forms, self.addends))
        return block if fit else None

    @cached_property
    def capped(self) -> bool:
        """Whether an addend must stay at or below a cap."""
        return not self.uncapped and any(np.isfinite(addend.cap) for addend in self.addends)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds on the entries that all constraints together allow."""
        return merged_bounds(self.constraints)

    @cached_property
    def nonneg(self) -> bool:
        """Whether the constraints keep every entry at or above zero."""
        return bool((self.bounds[0] >= 0).all())

    @cached_property
    def orthant_only(self) -> bool:
        """Whether the constraints say B ≥ 0 and nothing else."""
        lower, upper = self.bounds
        boxes = all("bounds" in c.abilities for c in self.constraints)
        return boxes and bool((lower == 0).all() and (upper == np.inf).all())

    @cached_property
    def projection(self) -> JointProjection | None:
        """The projection on all constraints together, if one is known."""
        return find_projection(self.constraints)

    @cached_property
    def shaped(self) -> tuple[Penalty, ...]:
        """The penalties that are more than a slope and a curvature on the entries of B."""
        return tuple(p for p in self.penalties if p not in self._plain)

    @cached_property
    def _plain(self) -> tuple[Penalty, ...]:
        known = [p for p in self.penalties if "orthant" in p.abilities]
        # A slope has a kink at zero, where entries may be negative.
        return tuple(p for p in known if self.nonneg or not p.orthant()[0])

    @cached_property
    def prox(self) -> JointProx | None:
        """The proximal step of constraints and shaped penalties together, if one is known."""
        return find_prox(self.constraints, self.shaped)

    @cached_property
    def by_component(self) -> bool:
        """Whether the feasible set is a product over components."""
        return all(c.each in ("entry", "component") for c in self.constraints)

    @cached_property
    def binding(self) -> tuple[Constraint, ...]:
        """The constraints, without those that say B ≥ 0 where another one implies it."""
        orthants = [c for c in self.constraints if is_orthant(c)]
        others = tuple(c for c in self.constraints if c not in orthants)
        implied = any(c.implies_nonnegative for c in others)
        return others if implied or not orthants else (orthants[0], *others)

    @cached_property
    def reverse_convex(self) -> tuple[Constraint, ...]:
        """The constraints that convex steps must approximate by tangent planes."""
        return tuple(c for c in self.constraints if not c.convex)

    @cached_property
    def bands(self) -> tuple[Constraint, ...]:
        """The constraints that are bands of Hoyer sparseness."""
        return tuple(c for c in self.constraints if "band" in c.abilities)

    @cached_property
    def only_band(self) -> tuple[Array, Array] | None:
        """The band of each component where there is nothing else but B ≥ 0, else nothing."""
        others = [c for c in self.constraints if c not in self.bands]
        orthant = all(c.implies_nonnegative and "bounds" in c.abilities for c in others)
        alone = len(self.bands) == 1 and self.bands[0].each == "component"
        return self.bands[0].band() if alone and self.nonneg and orthant else None

    @cached_property
    def scale_free(self) -> bool:
        """Whether each component of a feasible B may be multiplied alone, and costs the same.

        A set that links components may allow multiples of all of B and yet not these.
        """
        free = all(c.scale_free for c in self.constraints)
        return free and self.by_component and not self.penalties

    @cached_property
    def zero_forbidding(self) -> tuple[Constraint, ...]:
        """The constraints that do not allow components that are zero."""
        return tuple(c for c in self.constraints if not c.zero_allowed(self.shape))

    @property
    def zero_allowed(self) -> bool:
        """Whether every constraint allows components that are zero."""
        return not self.zero_forbidding

    @cached_property
    def zero_in_convex_part(self) -> bool:
        """Whether the convex constraints allow components that are zero; a cap may not, so no."""
        convex = (c for c in self.constraints if c.convex)
        return not self.capped and all(c.zero_allowed(self.shape) for c in convex)

    @cached_property
    def unit(self) -> float:
        """The size of the data as the block sees it: rounding is relative to this."""
        return sum(abs(addend.zero) for addend in self.addends)

    @cached_property
    def orthant(self) -> tuple[float, float]:
        """Total (slope, curvature) of the penalties that are no more than that."""
        pairs = [penalty.orthant() for penalty in self._plain]
        return sum(slope for slope, _ in pairs), sum(curvature for _, curvature in pairs)

    def penalty(self, B: Array) -> float:
        """Return the sum of this block's penalties."""
        return sum(penalty.value(B) for penalty in self.penalties)

    def violation(self, B: Array) -> float:
        """Return the largest violation of any constraint."""
        return max((self.violation_of(c, B) for c in self.constraints), default=0.0)

    def violation_of(self, constraint: Constraint, B: Array) -> float:
        """Return the largest violation of one of the constraints."""
        return float(constraint.violation(B).max(initial=0.0))

    def foresee(self, new: Array, last: Array, ahead: Array) -> None:
        """Prepare for measures of a new point, and for holding one ahead while others are lowered."""

    def nearest_by(self, nearest: Callable[[Block, Array], Array], B: Array) -> Array:
        """Return a point of all constraints near B, by a function that finds such."""
        return nearest(self, B)

    def lengths(self, B: Array) -> Array:
        """Return the norm of each component."""
        if B.size <= LARGE:
            return np.asarray(np.linalg.norm(B, axis=1))
        # Row by row: the squares of all rows together would be another factor.
        return np.concatenate([np.linalg.norm(b[None], axis=1) for b in B])

    def ahead(self, new: Array, last: Array, beta: float) -> Array:
        """Return where one gets who goes on from the last point through the new one, β as far.

        It is brought back into the constraints. Where these have no projection, the new point is as
        far as it goes.
        """
        if self.projection is None:
            return new
        farther: Array = new - last
        farther *= beta
        farther += new
        if farther.size > LARGE and self.projection.each in ("entry", "component"):
            for rows in (slice(i, i + 1) for i in range(len(farther))):
                farther[rows] = self.projection(farther, rows)
        else:
            farther = self.projection(farther)
        return new if self.collapsed(farther) else farther

    @cached_property
    def zero_forbidden(self) -> set[int]:
        """The axes along which no piece may be zero: 1 for components, 0 for samples."""
        axes = {"component": 1, "sample": 0}
        return {axes[c.each] for c in self.zero_forbidding if c.each in axes}

    @cached_property
    def is_extra(self) -> bool:
        """Whether the variable is an offset added to other products, where zero is a fair value."""
        fits = [addend for addend in self.addends if isinstance(addend, Fit)]
        offsets = (len(fit.chains) > 1 and len(fit.place(self.name)[0].names) == 1 for fit in fits)
        return bool(self.addends) and len(fits) == len(self.addends) and all(offsets)

    @cached_property
    def mixed(self) -> bool:
        """Whether a product has more than two factors, so that what is between mixes components."""
        fits = [addend for addend in self.addends if isinstance(addend, Fit)]
        return any(len(fit.place(self.name)[0].factors) > 2 for fit in fits)

    def collapsed(self, B: Array) -> bool:
        """Whether a piece is zero where a constraint forbids zero."""
        return any(bool(c.dead(B).any()) for c in self.zero_forbidding)

    def convex_at(self, B: Array) -> Block:
        """Return the block with convex parts of its sets that hold B: same zeros, same peaks.

        Penalties that are constant there are left out.
        """
        steps = [p for p in self.penalties if "constant_on" in p.abilities]
        if not steps and not any("convex_at" in c.abilities for c in self.constraints):
            return self
        own = [c.convex_at(B) if "convex_at" in c.abilities else c for c in self.constraints]
        kept = tuple(p for p in self.penalties if p not in steps)
        where = (p.constant_on(B) for p in steps)
        return replace(self, constraints=(*own, *where), penalties=kept)

    def kept_alive(self, B: Array, last: Array) -> Array:
        """Return B with a tenth of the last piece in place of one that must not be zero and is."""
        for constraint in self.zero_forbidding:
            B = constraint.kept_alive(B, last)
        return B


def is_orthant(constraint: Constraint) -> bool:
    """Whether a constraint says B ≥ 0 and nothing else."""
    if not constraint.implies_nonnegative or "bounds" not in constraint.abilities:
        return False
    return bool((constraint.bounds()[1] == np.inf).all() and (constraint.bounds()[0] == 0).all())


def constraints_of(terms: Sequence[Term]) -> tuple[Constraint, ...]:
    """Return the constraints among the terms."""
    return tuple(term for term in terms if isinstance(term, Constraint))


def penalties_of(terms: Sequence[Term]) -> tuple[Penalty, ...]:
    """Return the penalties among the terms."""
    return tuple(term for term in terms if isinstance(term, Penalty))


def fitted_block(
    name: str, Y: Data, A: Array, loss: Loss, terms: Sequence[Term]
) -> tuple[Block, Subproblem]:
    """Return the block of Y ≈ A B for a constant A, and the same with A held.

    Examples
    --------
    >>> from conicnmf.model.losses import Frobenius
    >>> _, held = fitted_block("H", np.eye(2), np.ones((2, 1)), Frobenius(), ())
    >>> held.objective(np.ones((1, 2)))
    2.0
    """
    shape = (A.shape[1], Y.shape[1])
    addend = Fit(Y, loss, (Chain((A, Ref(name))),))
    own = constraints_of(terms), penalties_of(terms)
    block = Block(name, shape, False, (addend,), *own, nonneg_around=addend.nonneg_constants)
    return block, block.given({})
