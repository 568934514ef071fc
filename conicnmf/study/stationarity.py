"""How far one block could still lower the objective near a point, by routes of the certificate's own.

A cone program with planes at the point comes first: what it finds is feasible, so what it gains is
really there to be had. Where that would have the size of large data, programs of the factor's size on
majorizers of the loss stand for it. Signed factors with bands are solved for their magnitudes, and
projected gradient steps serve where no cone program can be written. Where none of this serves, it is
tried in a convex part of the set, say with the same zeros; at last steps are brought back into the
set by projections on one constraint after the other. Where entries have a cost that jumps at zero,
single ones that come or go are tried as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conicnmf.errors import InfeasibleError
from conicnmf.model.addends import Fit
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.constraints import Fixed
from conicnmf.model.terms import Reduced
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.solve.needs import (
    cones_on_orthant,
    conic_constraints,
    signed,
    signed_blocks_are_sign_free,
)
from conicnmf.solve.programs.backends import chain
from conicnmf.solve.programs.model import PlainProgram
from conicnmf.solve.programs.signed import guessed_signs, magnitudes
from conicnmf.solve.programs.tangent import planes_at
from conicnmf.study.gradient_steps import by_alternating_steps, by_projected_steps
from conicnmf.study.single_entries import by_single_rows
from conicnmf.types import Array

_HALVINGS = 10
_LARGE, _MAJORIZERS, _LIFT = 2000, 4, 1e-3

Route = Callable[[Subproblem, Array], Array | None]
"""Return a point that may be better than B, nothing where the route cannot be taken."""


def remaining_descent(held: Subproblem, B: Array, on_support: bool = False) -> tuple[float, str]:
    """Return by how much the objective still falls near B, and by which route; inf where none serves.

    With `on_support` the entries that are zero stay zero.
    """
    if on_support:
        block = held.block
        held = held.on(replace(block, constraints=(*block.constraints, Fixed(B == 0, 0.0))))
    held = held.on(held.block.any_sign)
    routes: dict[str, Route] = {
        "gain of a cone solver with planes at the result": _by_cone_program,
        "gain of cone solvers on majorizers of the loss": _by_majorizers,
        "gain of a cone solver with the signs of the result": _by_magnitudes,
        "gain of projected gradient steps": by_projected_steps,
    }
    part = held.on(held.block.convex_at(B))
    tries = [
        (seen, route, name + where)
        for seen, where in ((held, ""), (part, ", in a convex part of the set"))
        for name, route in routes.items()
    ]
    tries += [(held, by_alternating_steps, "gain of steps with alternating projections")]
    found = float("inf"), "no independent method could solve the block"
    for seen, route, name in tries:
        try:
            better = route(seen, B)
        except InfeasibleError:  # round a B outside its constraints the part may be empty
            continue
        if better is not None:
            found = held.objective(B) - _lowest_between(held, B, better), name
            break
    return max(found, _gain_of_entries(held, B))


def _gain_of_entries(held: Subproblem, B: Array) -> tuple[float, str]:
    """Return what entries that come or go gain, where a penalty jumps at zero."""
    jumps = any("constant_on" in penalty.abilities for penalty in held.block.penalties)
    better = by_single_rows(held, B) if jumps else None
    if better is None:
        return -float("inf"), ""
    return held.objective(B) - held.objective(
        better
    ), "gain of entries that become zero or non-zero"


def _lowest_between(held: Subproblem, B: Array, end: Array) -> float:
    """Return the least objective at feasible points on the way; what was linearized bends there."""
    allowed = max(FEASIBLE, held.block.violation(B))
    points = (B + (end - B) / 2**k for k in range(_HALVINGS))
    values = [held.objective(P) for P in points if held.block.violation(P) <= allowed]
    return min([held.objective(B), *(value for value in values if np.isfinite(value))])


def _by_cone_program(held: Subproblem, B: Array) -> Array | None:
    """Solve the block by plain CVXPY, with everything that is not convex linearized at B."""
    block = held.block
    if any(conic_constraints(block)) or any(cones_on_orthant(block)):
        return None
    reduced = held.reduced()
    if reduced is None and ("expression" not in block.abilities or _is_large(block)):
        return None
    return _linearized(held, block, B, reduced)


def _is_large(block: Block) -> bool:
    """Whether a program of the size of the data would take long, and a smaller one is there."""
    fits = (addend for addend in block.addends if isinstance(addend, Fit))
    return bool(block.majorized) and sum(np.prod(fit.V.shape) for fit in fits) > _LARGE


def _by_majorizers(held: Subproblem, B: Array) -> Array | None:
    """Take a few steps to the minimum of majorizers, each by a program of the factor's size."""
    block = held.block
    if any(conic_constraints(block)) or any(cones_on_orthant(block)) or not block.majorized:
        return None
    seen = block.majorized[-1]
    # A sum over entries is a wall where it touches at zero: begin a little inside.
    lifted = np.maximum(B, _LIFT * float(np.abs(B).mean())) if seen.kind == "separable" else B
    for _ in range(_MAJORIZERS):
        above = held.majorized(lifted, seen)
        better = _linearized(above, seen, lifted, above.reduced())
        if better is None or not np.isfinite(held.objective(better)):
            return None
        lifted = better
    return lifted


def _by_magnitudes(held: Subproblem, B: Array) -> Array | None:
    """Do the same for the magnitudes of a signed factor, whose signs are kept."""
    block = held.block
    reasons = (*conic_constraints(block), *signed_blocks_are_sign_free(block))
    if not signed(block) or reasons:
        return None
    reduced, signs = held.reduced(), guessed_signs(held, B)
    if reduced is None:
        return None
    sizes = _linearized(held, magnitudes(block), np.abs(B), reduced.with_signs(signs))
    return None if sizes is None else signs * sizes


def _linearized(held: Subproblem, block: Block, B: Array, reduced: Reduced | None) -> Array | None:
    if any(not {"expression", "slope"} & p.abilities for p in block.penalties):
        return None
    convex = tuple(p for p in block.penalties if "expression" in p.abilities)
    slopes = [p.slope(B) for p in block.penalties if p not in convex]
    program = PlainProgram(replace(block, penalties=convex))
    linear = np.add.reduce(slopes) if slopes else None
    return program.solve(reduced or held, planes_at(block, B), chain("CLARABEL"), linear)[0]
