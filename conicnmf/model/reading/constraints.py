"""Read the constraints of one factor into terms; what is not known goes to the cone solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import cvxpy as cp
from cvxpy.constraints.finite_set import FiniteSet
from cvxpy.constraints.nonpos import Inequality

from conicnmf.errors import ModelError
from conicnmf.model.constraints import Convex, ReverseConvex
from conicnmf.model.curvature_parts import known_parts
from conicnmf.model.reading.as_stated import AsStated
from conicnmf.model.reading.bands import Bands
from conicnmf.model.reading.curvature import culprit, signed
from conicnmf.model.reading.entries import attribute_bounds, entry_terms, settle, tighten
from conicnmf.model.reading.linear_rows import Lowered, lower
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.one_factor import read_scale
from conicnmf.model.reading.pieces import Orders, Totals, norm_ball, whole_sum
from conicnmf.model.reading.sparseness import SparsenessBound
from conicnmf.model.terms import Constraint, Pieces
from conicnmf.types import Array

Stated: TypeAlias = "cp.Constraint | SparsenessBound"


@dataclass(frozen=True, eq=False)
class Conditions:
    """What is stated of one variable: bounds on entries, sparseness, and everything else."""

    variable: cp.Variable
    bounds: tuple[Array, Array]
    bands: list[SparsenessBound]
    others: list[tuple[cp.Constraint, Lowered | None]]
    scales: list[Constraint]
    reverse: list[cp.Constraint]


def sort_constraints(variable: cp.Variable, stated: list[Stated]) -> Conditions:
    """Check the constraints on one variable and merge those on single entries into bounds."""
    low, high = attribute_bounds(variable)
    bands: list[SparsenessBound] = []
    others: list[tuple[cp.Constraint, Lowered | None]] = []
    scales: list[Constraint] = []
    reverse: list[cp.Constraint] = []
    for constraint in stated:
        if isinstance(constraint, SparsenessBound):
            bands.append(constraint)
            continue
        scale = None if constraint.is_dcp() else read_scale(constraint, variable)
        if scale is not None:
            scales.append(scale)
            continue
        _require_known(constraint)
        if not constraint.is_dcp():
            reverse.append(constraint)
            continue
        rows = lower(constraint, variable)
        if rows is not None and rows.single:
            tighten(rows, low, high)
        else:
            others.append((constraint, rows))
    bounds = settle(low, high, str(variable))
    return Conditions(variable, bounds, bands, others, scales, reverse)


def constraint_terms(
    conditions: Conditions, component_axis: int, names: dict[int, str], priced: bool = False
) -> list[Constraint]:
    """Return the terms of one factor, in the orientation of the user's variable.

    `component_axis` is the axis along which a component runs: 0 when it is a column. `priced` says
    that the objective has penalties on the factor.
    """
    axes: dict[int, Pieces] = {component_axis: "component", 1 - component_axis: "sample"}
    terms = entry_terms(*conditions.bounds)
    terms += _of_columns(conditions, component_axis)
    nonneg = bool((conditions.bounds[0] >= 0).all())
    bands = Bands(conditions.variable.shape, axes)
    for bound in conditions.bands:
        bands.add(bound)
    # A band on entries of any sign is one on their magnitudes, of which other terms know nothing.
    alone = nonneg or not (conditions.others or conditions.scales or priced)
    reverse = [
        c for c in conditions.reverse if not (alone and bands.take(c, conditions.variable, nonneg))
    ]
    left = {
        index: constraint
        for index, (constraint, rows) in enumerate(conditions.others)
        if rows is not None or not bands.take(constraint, conditions.variable, nonneg)
    }
    terms += bands.terms()
    if nonneg:
        terms += _collected(Totals, conditions, axes, left)
    terms += _collected(Orders, conditions, axes, left)
    for index, constraint in left.items():
        rows = conditions.others[index][1]
        summed = None if rows is None else whole_sum(rows, conditions.variable.size)
        known = summed or norm_ball(constraint, conditions.variable, axes)
        if known is None and component_axis == 0:  # what is read there is about columns
            known = read_scale(constraint, conditions.variable)
        terms.append(known or _as_stated(Convex, constraint, conditions, names))
    terms += [_as_stated(ReverseConvex, each, conditions, names) for each in reverse]
    return terms


def _of_columns(conditions: Conditions, component_axis: int) -> list[Constraint]:
    """Return the norms and angles of columns, which must be what components are."""
    if conditions.scales and component_axis == 1:
        X = conditions.variable
        raise ModelError(
            f"{conditions.scales[0]} is about the columns of {X}, but it is to the right of another "
            f"factor, where a component is a row; bound the norm (<=) instead of fixing it, write "
            f"the transposed model with {X} on the left, or use cn.UnitNorm in cn.factorize"
        )
    return conditions.scales


def _require_known(constraint: cp.Constraint) -> None:
    """Raise unless a constraint is convex, or an inequality between convex and concave parts."""
    if isinstance(constraint, FiniteSet):
        raise ModelError(
            f"constraint {shown(constraint)} is not convex: it allows several separate values; "
            "bound the entries instead, or fix them"
        )
    if constraint.is_dcp():
        return
    try:
        parts = [part for side in constraint.args for part in known_parts(side)]
    except ModelError as error:
        part = culprit(next(side for side in constraint.args if not side.is_dcp()))
        raise ModelError(
            f"constraint {shown(constraint)} has unknown curvature: {shown(part)} is "
            f"{part.curvature.lower()}; both sides must be sums of convex and concave parts by "
            "CVXPY's rules, and sparseness is stated with cn.sparseness"
        ) from error
    if not isinstance(constraint, Inequality):
        listed = ", ".join(sorted({part.curvature.lower() for part in parts}))
        raise ModelError(
            f"constraint {shown(constraint)} must be an inequality, or affine == affine, got "
            f"{listed} parts; write <= or >="
        )


def _collected(
    kind: type[Totals] | type[Orders],
    conditions: Conditions,
    axes: dict[int, Pieces],
    left: dict[int, cp.Constraint],
) -> list[Constraint]:
    """Take the constraints that together say one thing of every piece out of those left."""
    terms: list[Constraint] = []
    for axis, each in axes.items():
        collected = kind(conditions.variable.shape, axis)
        taken = [
            index
            for index, (constraint, rows) in enumerate(conditions.others)
            if index in left and rows is not None and collected.take(rows)
        ]
        found = collected.term(each)
        if found is not None:
            terms.append(found)
            for index in taken:
                del left[index]
    return terms


def _as_stated(
    kind: type[Convex | ReverseConvex],
    constraint: cp.Constraint,
    conditions: Conditions,
    names: dict[int, str],
) -> Constraint:
    """Keep the constraint as it is, with the sign of its variable known to CVXPY's rules."""
    variable = conditions.variable
    form = constraint.tree_copy({id(variable): signed(variable, conditions.bounds)})
    if form.is_dcp():
        kind = Convex  # now that the signs are known
    return kind(AsStated(form, variable), name=shown(constraint, names))
