"""Read the constraints of one factor on their lowered matrices, so that spelling does not matter."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.pnorm import Pnorm
from cvxpy.constraints.nonpos import Inequality

from conicnmf._types import Array
from conicnmf.constraints import Box, Convex, Fixed, NonNegative, NormBall, Simplex, Sparseness
from conicnmf.errors import InfeasibleError, ModelError
from conicnmf.recognise.curvature import culprit
from conicnmf.recognise.sparseness import SparsenessBound
from conicnmf.terms import Constraint, Each


@dataclass(frozen=True, eq=False)
class Lowered:
    """Rows A x = b (`equal`) or A x ≤ b over x = vec(X), columns of X stacked."""

    A: sp.csr_array
    b: Array
    equal: Array


def read_constraints(
    variable: cp.Variable, stated: list[cp.Constraint | SparsenessBound], component_axis: int
) -> list[Constraint]:
    """Return the terms of one factor, in the orientation of the user's variable.

    `component_axis` is the axis along which a component runs: 0 when it is a column.
    """
    lower, upper = _attribute_bounds(variable)
    terms: list[Constraint] = []
    others: list[cp.Constraint] = []
    for constraint in stated:
        if isinstance(constraint, SparsenessBound):
            each: Each = "component" if constraint.axis == component_axis else "sample"
            terms.append(Sparseness(constraint.min, constraint.max, each))
            continue
        _require_dcp(constraint)
        lowered = _lower(constraint, variable)
        if lowered is not None and _all_single(lowered.A):
            _tighten(lowered, lower, upper)
        else:
            others.append(constraint)
    entries = _entry_terms(lower, upper, variable)
    nonneg = bool((lower >= 0).all())
    return (
        entries
        + _merge_bands(terms)
        + [_read_other(other, variable, component_axis, nonneg) for other in others]
    )


def _require_dcp(constraint: cp.Constraint) -> None:
    if constraint.is_dcp():
        return
    for argument in constraint.args:
        if not argument.is_dcp():
            part = culprit(argument)
            raise ModelError(
                f"constraint {constraint} is not convex: {part} is {part.curvature.lower()}; "
                "constraints follow CVXPY's rules, convex <= concave, and reverse-convex ones are "
                "stated with cn.sparseness"
            )
    raise ModelError(
        f"constraint {constraint} is not convex: it must read convex <= concave or "
        "affine == affine; turn it round, or state sparseness with cn.sparseness"
    )


def _attribute_bounds(variable: cp.Variable) -> tuple[Array, Array]:
    lower = np.full(variable.shape, -np.inf)
    upper = np.full(variable.shape, np.inf)
    if variable.attributes.get("bounds"):
        given = variable.attributes["bounds"]
        lower = np.maximum(lower, given[0])
        upper = np.minimum(upper, given[1])
    if variable.is_nonneg():
        lower = np.maximum(lower, 0.0)
    if variable.is_nonpos():
        upper = np.minimum(upper, 0.0)
    return lower, upper


def _lower(constraint: cp.Constraint, variable: cp.Variable) -> Lowered | None:
    """Return the constraint as linear rows, or nothing when it is not linear."""
    if not all(argument.is_affine() for argument in constraint.args):
        return None
    bare = cp.Variable(variable.shape)
    copy = constraint.tree_copy({id(variable): bare})
    data = cp.Problem(cp.Minimize(0), [copy]).get_problem_data("CLARABEL", solver_opts={})[0]
    dims = data["dims"]
    if dims.soc or dims.psd or dims.exp or data["A"].shape[1] != bare.size:
        return None
    rows = sp.csr_array(data["A"])
    rows.eliminate_zeros()
    return Lowered(rows, np.asarray(data["b"]), np.arange(rows.shape[0]) < dims.zero)


def _all_single(A: sp.csr_array) -> bool:
    return bool((np.diff(A.indptr) == 1).all())


def _tighten(rows: Lowered, lower: Array, upper: Array) -> None:
    """Narrow the bounds, in place, by rows with one entry each."""
    entry = np.unravel_index(rows.A.indices, lower.shape, order="F")
    bound = rows.b / rows.A.data
    above = rows.equal | (rows.A.data > 0)
    below = rows.equal | (rows.A.data < 0)
    np.minimum.at(upper, tuple(axis[above] for axis in entry), bound[above])
    np.maximum.at(lower, tuple(axis[below] for axis in entry), bound[below])


def _entry_terms(lower: Array, upper: Array, variable: cp.Variable) -> list[Constraint]:
    """Return non-negativity, box and fixed entries as the fewest terms."""
    if (lower > upper).any():
        row, column = np.argwhere(lower > upper)[0]
        raise InfeasibleError(
            f"the constraints on {variable} contradict each other: entry ({row}, {column}) must be "
            f"at least {lower[row, column]:g} and at most {upper[row, column]:g}; relax one of them"
        )
    terms: list[Constraint] = []
    fixed = lower == upper
    if fixed.any():
        terms.append(Fixed(fixed, np.where(fixed, lower, 0.0)))
        lower = np.where(fixed, lower[~fixed].min(initial=0.0), lower)
        upper = np.where(fixed, np.inf, upper)
    if (lower >= 0).all():
        terms.append(NonNegative())
        lower = np.where(lower == 0, -np.inf, lower)
    if np.isfinite(lower).any() or np.isfinite(upper).any():
        terms.append(Box(_shared(lower), _shared(upper)))
    return terms


def _shared(bound: Array) -> Array | float:
    first = bound.flat[0]
    return float(first) if (bound == first).all() else bound


def _merge_bands(bands: list[Constraint]) -> list[Constraint]:
    """Join a lower and an upper bound on the same pieces into one band."""
    merged: dict[Each, Sparseness] = {}
    for band in bands:
        assert isinstance(band, Sparseness)
        known = merged.get(band.each, Sparseness(each=band.each))
        low, high = max(known.min, band.min), min(known.max, band.max)
        if low > high:
            raise InfeasibleError(
                f"the sparseness bounds contradict each other: at least {low:g} and at most "
                f"{high:g} for each {band.each}; lower the first or raise the second"
            )
        merged[band.each] = Sparseness(low, high, band.each)
    return list(merged.values())


def _read_other(
    constraint: cp.Constraint, variable: cp.Variable, component_axis: int, nonneg: bool
) -> Constraint:
    """Return a simplex, a norm ball, or the constraint as it is."""
    axes: dict[int, Each] = {component_axis: "component", 1 - component_axis: "sample"}
    for axis, each in axes.items():
        total = _sum_along(constraint, variable, axis) if nonneg else None
        if total is not None and total > 0:
            return Simplex(total, each)
        radius = _norm_along(constraint, variable, axis)
        if radius is not None and radius > 0:
            return NormBall(radius, each)

    def fn(X: cp.Expression) -> cp.Constraint:
        return constraint.tree_copy({id(variable): X})

    return Convex(fn, name=str(constraint))


def _sum_along(constraint: cp.Constraint, variable: cp.Variable, axis: int) -> float | None:
    """Return t when the constraint says that every column (axis 0) or row (1) sums to t."""
    rows = _lower(constraint, variable)
    if rows is None or not rows.equal.all() or rows.A.shape[0] != variable.shape[1 - axis]:
        return None
    pattern = np.indices(variable.shape)[1 - axis].ravel(order="F")
    scale = rows.A.data[0]
    owners = np.repeat(np.arange(rows.A.shape[0]), np.diff(rows.A.indptr))
    same = (
        rows.A.nnz == variable.size
        and np.array_equal(pattern[rows.A.indices], owners)
        and np.allclose(rows.A.data, scale)
        and np.allclose(rows.b, rows.b[0])
    )
    return float(rows.b[0] / scale) if same else None


def _norm_along(constraint: cp.Constraint, variable: cp.Variable, axis: int) -> float | None:
    """Return ρ when the constraint is cp.norm(X, 2, axis) <= ρ."""
    if not isinstance(constraint, Inequality):
        return None
    norm, bound = constraint.args
    known = isinstance(norm, Pnorm) and norm.p == 2 and norm.axis == axis
    if not known or norm.args[0] is not variable or not bound.is_constant():
        return None
    values = np.unique(np.asarray(bound.value))
    return float(values[0]) if values.size == 1 else None
