"""`check_constraint`: a constraint must be the set it says it is."""

from __future__ import annotations

from collections.abc import Iterable

import cvxpy as cp
import numpy as np

from conicnmf.model.terms import Constraint, Example
from conicnmf.settings import Whole, checks_arguments
from conicnmf.testing._expect import expect, expect_abilities, expect_close, untouched
from conicnmf.testing._geometry import (
    BY_CVXPY,
    INSIDE,
    check_cone,
    check_convex_part,
    check_nonneg_projection,
    check_projection,
    check_projection_within,
    check_tangent,
    nearest_by_cvxpy,
    worst,
)
from conicnmf.types import Array

_OUTSIDE = 1e-6
_POINTS = 6


@checks_arguments
def check_constraint(constraint: type[Constraint] | Iterable[Example], *, seed: Whole = 0) -> None:
    """Check that membership, cone, projection, tangent planes and convexity agree.

    Parameters
    ----------
    constraint : Constraint class or list of Example
        Instances, each with a point inside and one outside; a class gives them by `examples()`.
        The claims `convex`, `each`, `orthant_only` and `sign_free` are put to the test as well.
    seed : int
        Fixes the random points.

    Raises
    ------
    AssertionError
        With a sentence that names the broken promise.

    Examples
    --------
    >>> import conicnmf as cn
    >>> check_constraint(cn.NormBall)
    >>> class Folded(cn.NonNegative):
    ...     def project(self, B):
    ...         return abs(B)
    >>> check_constraint(Folded)
    Traceback (most recent call last):
    AssertionError: Folded() has a point nearer than its projection: 1.88 away, not 2
    """
    examples = list(constraint.examples() if isinstance(constraint, type) else constraint)
    expect(examples, f"{constraint} has no examples(); give at least one Example(term, in, out)")
    rng = np.random.default_rng(seed)
    for example in examples:
        term = example.constraint
        _membership(example)
        _abilities(example)
        points = _points(example, rng)
        members = _members(example, points)
        if "cone" in term.abilities:
            check_cone(term, [*example[1:], *points, *members])
        if "project" in term.abilities:
            check_projection(term, points, members)
        if "project_nonneg" in term.abilities:
            check_nonneg_projection(term, points, members)
        if "project_within" in term.abilities:
            check_projection_within(term, points, members)
        if "tangent" in term.abilities and not term.convex:
            check_tangent(term, members, points)
        if "convex_at" in term.abilities:
            check_convex_part(term, members, points)
        _product(term, points)
        _transposes(term, points)
        _signs(term, points)
        _convexity(term, members, rng)


def _membership(example: Example) -> None:
    constraint, inside, outside = example
    constraint.check((inside.shape[0], inside.shape[1]))
    with untouched(f"{constraint}.violation", inside, outside):
        near, far = worst(constraint, inside), worst(constraint, outside)
    expect(near <= INSIDE, f"{constraint} has violation {near:.3g} at its own inside point")
    expect(far > _OUTSIDE, f"{constraint} has violation {far:.3g} at its own outside point")
    dimensions = np.ndim(constraint.violation(inside))
    expect(dimensions == 1, f"{constraint}.violation must return one number for each piece")


def _abilities(example: Example) -> None:
    constraint, inside, _ = example
    expect_abilities(
        constraint,
        {
            "cone": lambda: constraint.cone(cp.Variable(inside.shape)),
            "project": lambda: constraint.project(inside),
            "project_nonneg": lambda: constraint.project_nonneg(np.abs(inside)),
            "project_within": lambda: constraint.project_within(inside, inside - 1, inside + 1),
            "tangent": lambda: constraint.tangent(inside),
            "convex_at": lambda: constraint.convex_at(inside),
        },
    )
    usable = constraint.abilities & {"cone", "project"}
    expect(usable, f"{constraint} needs a cone or a project method, or no solver can keep it")


def _points(example: Example, rng: np.random.Generator) -> list[Array]:
    """Return points around the examples at several distances, and round zero."""
    constraint, inside, outside = example
    size = max(np.abs(inside).max(), np.abs(outside).max())
    reach = size * np.geomspace(0.1, 3, _POINTS)
    drawn = [outside, -outside, size * rng.standard_normal(inside.shape)]
    drawn += [inside + far * rng.standard_normal(inside.shape) for far in reach]
    return [np.abs(X) if constraint.orthant_only else X for X in drawn]


def _members(example: Example, points: list[Array]) -> list[Array]:
    """Return points of the set, by its projection or by CVXPY."""
    constraint, inside, _ = example
    if "project" in constraint.abilities:
        return [inside, *(constraint.project(X.copy()) for X in points)]
    if not constraint.convex:
        planes = constraint.tangent(inside) if "tangent" in constraint.abilities else None
        return [inside, *(nearest_by_cvxpy(X, constraint, planes=planes) for X in points)]
    return [inside, *(nearest_by_cvxpy(X, constraint) for X in points)]


def _product(constraint: Constraint, points: list[Array]) -> None:
    """Expect each piece to be judged and projected as if it were alone."""
    if constraint.each not in ("component", "sample"):
        return
    axis = 0 if constraint.each == "component" else 1
    numbered = constraint.of(slice(0, 1)) is not constraint  # and has no numbers for more pieces
    both = points[0] if numbered else np.concatenate(points[:2], axis=axis)
    split = np.split(both, both.shape[axis], axis=axis)
    own = [constraint.of(slice(j, j + 1)) if axis == 0 else constraint for j in range(len(split))]
    where = f'{constraint} says each="{constraint.each}", but a piece alone'
    alone = np.concatenate([c.violation(piece) for c, piece in zip(own, split, strict=True)])
    expect_close(alone, constraint.violation(both), 1e-9, f"{where} is judged differently", 1.0)
    if "project" in constraint.abilities:
        each = [c.project(piece) for c, piece in zip(own, split, strict=True)]
        moved = np.concatenate(each, axis=axis)
        expect_close(moved, constraint.project(both), 1e-9, f"{where} is projected differently")


def _transposes(constraint: Constraint, points: list[Array]) -> None:
    """Expect a term on entries or on the whole factor to follow the factor's transpose."""
    turned = constraint.transposed()
    where = f"{constraint}.transposed()"
    for X in points:
        here = worst(constraint, X)
        expect_close(worst(turned.transposed(), X), here, 1e-9, f"{where} twice differs", 1.0)
        # Terms on components or samples apply to the block already and stay as they are.
        if constraint.each != "entry" and turned is constraint:
            continue
        Xt = np.ascontiguousarray(X.T)
        expect_close(worst(turned, Xt), here, 1e-9, f"{where} is another set", 1.0)
        if "project" in constraint.abilities:
            projected = turned.project(Xt).T
            expect_close(projected, constraint.project(X), 1e-9, f"{where} projects elsewhere")


def _signs(constraint: Constraint, points: list[Array]) -> None:
    """Expect a constraint that says signs do not matter to judge magnitudes alike."""
    for X in points if constraint.sign_free else []:
        gap = abs(worst(constraint, np.abs(X)) - worst(constraint, -X))
        expect(
            gap <= INSIDE, f"{constraint} says it is sign-free, but signs change it by {gap:.3g}"
        )


def _convexity(constraint: Constraint, members: list[Array], rng: np.random.Generator) -> None:
    """Try to falsify the claim of convexity between points of the set."""
    if not constraint.convex:
        return
    allowed = 1e-8 if "project" in constraint.abilities else BY_CVXPY
    for _ in range(4 * len(members)):
        i, j = rng.integers(len(members), size=2)
        share = rng.random()
        between = worst(constraint, share * members[i] + (1 - share) * members[j])
        expect(
            between <= allowed,
            f"{constraint} says it is convex, but a point between two of its points has violation "
            f"{between:.3g}",
        )
