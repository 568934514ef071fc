"""Cone, projection and tangent planes of a constraint, each against another route."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence

import cvxpy as cp
import numpy as np

from conicnmf.model.constraints import Box, NonNegative
from conicnmf.model.terms import Constraint, Halfspaces, along, pieces
from conicnmf.testing._expect import expect, expect_close, untouched
from conicnmf.types import Array

INSIDE = 1e-9
BY_CVXPY = 1e-5
_CLEARLY_OUTSIDE = 1e-3
_BACKENDS = (
    ("ECOS", dict.fromkeys(("abstol", "reltol", "feastol"), 1e-11)),
    ("CLARABEL", dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)),
)


def worst(constraint: Constraint, B: Array) -> float:
    """Return the largest violation of any piece."""
    return float(np.max(constraint.violation(B), initial=0.0))


def nearest_by_cvxpy(X: Array, *constraints: Constraint, planes: Halfspaces | None = None) -> Array:
    """Return the point nearest to X in the cones of constraints and in half-spaces."""
    unit = float(np.abs(X).max()) or 1.0
    scaled = cp.Variable(X.shape, nonneg=any(c.orthant_only for c in constraints))
    B = unit * scaled
    held = [part for c in constraints if "cone" in c.abilities for part in c.cone(B)]
    if planes is not None:
        held = [*held, planes.products(B) >= planes.levels]
    distance = cp.norm(cp.vec(scaled - X / unit, order="F"), 2)
    program = cp.Problem(cp.Minimize(distance), held)
    for backend, goals in _BACKENDS:
        # CVXPY warns of the last digits; the caller's tolerance judges them.
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore")
            program.solve(solver=backend, **goals)
            break
    expect(B.value is not None, f"CVXPY found no point of the set: {program.status}")
    return np.asarray(B.value)


def check_cone(constraint: Constraint, points: Sequence[Array]) -> None:
    """Expect the cone to hold wherever there is no violation, and nowhere else if convex."""
    stated = constraint.cone(cp.Variable(points[0].shape))
    convex = all(part.is_dcp() for part in stated)
    expect(convex, f"{constraint}.cone breaks CVXPY's rules; it must be convex in B")
    hint = "" if constraint.orthant_only else "; if it is right for B >= 0, claim orthant_only"
    for X in points:
        violation = worst(constraint, X)
        gap = cone_gap(constraint, X)
        if violation <= INSIDE:
            fits = gap <= BY_CVXPY * max(1.0, float(np.abs(X).max()))
            expect(fits, f"{constraint}.cone fails by {gap:.3g} at a point of the set{hint}")
        elif constraint.convex and violation > _CLEARLY_OUTSIDE:
            held = f"{constraint}.cone holds where the violation is {violation:.3g}{hint}"
            expect(gap > INSIDE, held)


def cone_gap(constraint: Constraint, X: Array) -> float:
    """Return CVXPY's largest violation of the cone at X."""
    with np.errstate(divide="ignore", invalid="ignore"):  # CVXPY's residual divides by ‖0‖
        gaps = [part.violation() for part in constraint.cone(cp.Constant(X))]
    return max((float(np.max(gap, initial=0.0)) for gap in gaps), default=0.0)


def check_projection(
    constraint: Constraint, points: Sequence[Array], members: Sequence[Array]
) -> None:
    """Expect the nearest point of the set, in the precision given, and the same when repeated."""
    for X in points:
        with untouched(f"{constraint}.project", X):
            P = constraint.project(X)
        violation, size = worst(constraint, P), float(np.abs(X).max())
        expect(violation <= INSIDE, f"{constraint}.project leaves a violation of {violation:.3g}")
        expect_close(constraint.project(P), P, 1e-9, f"{constraint}.project moves its own point")
        reached = float(np.linalg.norm(X - P))
        best = min(float(np.linalg.norm(X - F)) for F in members)
        expect(
            reached <= best + 1e-9 * size,
            f"{constraint} has a point nearer than its projection: {best:.3g} away, not "
            f"{reached:.3g}",
        )
        if constraint.convex and "cone" in constraint.abilities:
            wanted = nearest_by_cvxpy(X, constraint)
            expect_close(P, wanted, BY_CVXPY, f"{constraint}.project and CVXPY disagree", size)
        _single_precision(constraint, X)


def check_nonneg_projection(
    constraint: Constraint, points: Sequence[Array], members: Sequence[Array]
) -> None:
    """Expect the nearest point of the set that has no negative entry."""
    inside = [M for M in members if M.min() >= 0]
    for X in points:
        with untouched(f"{constraint}.project_nonneg", X):
            P = constraint.project_nonneg(X)
        if not constraint.zero_allowed(P.shape) and not P.any(axis=along(constraint.each)).all():
            continue  # a set that is open at zero has no nearest point there
        lowest, violation = float(P.min()), worst(constraint, P)
        expect(lowest >= 0, f"{constraint}.project_nonneg leaves an entry of {lowest:.3g}")
        expect(
            violation <= INSIDE,
            f"{constraint}.project_nonneg leaves a violation of {violation:.3g}",
        )
        rivals = [*inside, *map(constraint.project_nonneg, members)]
        reached = float(np.linalg.norm(X - P))
        best = min(float(np.linalg.norm(X - F)) for F in rivals)
        expect(
            reached <= best + 1e-9 * float(np.abs(X).max()),
            f"{constraint} has a point nearer than project_nonneg: {best:.3g} away, not "
            f"{reached:.3g}",
        )
        if constraint.convex and "cone" in constraint.abilities:
            wanted = nearest_by_cvxpy(X, constraint, NonNegative())
            size = float(np.abs(X).max())
            sentence = f"{constraint}.project_nonneg and CVXPY disagree"
            expect_close(P, wanted, BY_CVXPY, sentence, size)


def check_projection_within(
    constraint: Constraint, points: Sequence[Array], members: Sequence[Array]
) -> None:
    """Expect the nearest point of the set within bounds that some of its points respect."""
    for X, M in zip(points, members, strict=False):
        size = float(np.abs(X).max())
        lower, upper = M - 0.1 * size, M + np.where(M.mean() < M, 0.05 * size, np.inf)
        with untouched(f"{constraint}.project_within", X, lower, upper):
            P = constraint.project_within(X, lower, upper)
        where = f"{constraint}.project_within"
        expect(bool((lower <= P).all() and (upper >= P).all()), f"{where} leaves the bounds")
        violation = worst(constraint, P)
        expect(violation <= INSIDE, f"{where} leaves a violation of {violation:.3g}")
        reached, known = (float(np.linalg.norm(X - F)) for F in (P, M))
        expect(
            reached <= known + 1e-9 * size,
            f"{constraint} has a point nearer than project_within: {known:.3g} away, not "
            f"{reached:.3g}",
        )
        if constraint.convex and "cone" in constraint.abilities:
            wanted = nearest_by_cvxpy(X, constraint, Box(lower, upper))
            expect_close(P, wanted, BY_CVXPY, f"{where} and CVXPY disagree", size)


def _single_precision(constraint: Constraint, X: Array) -> None:
    P = constraint.project(X.astype(np.float32))
    expect(P.dtype == np.float32, f"{constraint}.project turns float32 into {P.dtype}")
    violation = worst(constraint, P)
    expect(violation <= 1e-5, f"{constraint}.project of float32 has violation {violation:.3g}")


def check_tangent(
    constraint: Constraint, members: Sequence[Array], points: Sequence[Array]
) -> None:
    """Expect half-spaces that keep a member they were made at and hold points of the set only."""
    for P, X in zip(members, points, strict=False):
        planes = constraint.tangent(P)
        expect(
            planes.count == constraint.violation(P).size,
            f"{constraint}.tangent must return a half-space for each number of its violation",
        )
        kept = planes.slack(P).min() >= -1e-9 * np.abs(P).max()
        expect(kept, f"{constraint}.tangent cuts off the point it was made at")
        # The nearest point lies on the boundary, where a half-space that is too wide shows first.
        found = nearest_by_cvxpy(X, constraint, planes=planes)
        alive = np.ones(planes.count, dtype=bool)
        if planes.each != "factor":
            alive = np.linalg.norm(pieces(found, planes.each), axis=1) > 1e-4 * np.abs(X).max()
        violation = float(np.max(constraint.violation(found)[alive], initial=0.0))
        expect(
            violation <= BY_CVXPY,
            f"{constraint}.tangent holds a point with violation {violation:.3g}; its half-spaces "
            "must lie inside the set",
        )


def check_convex_part(
    constraint: Constraint, members: Sequence[Array], points: Sequence[Array]
) -> None:
    """Expect a convex set that holds the point it was made at and lies in the set."""
    for P, X in zip(members, points, strict=False):
        part, where = constraint.convex_at(P), f"{constraint}.convex_at"
        expect(part.convex, f"{where} returns {part}, which is not convex")
        size = max(float(np.abs(P).max()), 1e-9)
        expect(worst(part, P) <= BY_CVXPY * size, f"{where} leaves out the point it was made at")
        found = nearest_by_cvxpy(X, part)
        found[np.abs(found) <= BY_CVXPY * np.abs(X).max()] = 0.0  # what an interior point leaves
        violation = worst(constraint, found)
        expect(violation <= BY_CVXPY, f"{where} has a point outside of the set, by {violation:.3g}")
