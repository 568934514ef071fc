"""Read an objective and constraints over any number of variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from conicnmf.errors import ModelError
from conicnmf.model.addends import Addend, Chain, Coupling, Fit
from conicnmf.model.losses import Frobenius
from conicnmf.model.reading.cap import with_cap
from conicnmf.model.reading.constraints import Conditions, constraint_terms, sort_constraints
from conicnmf.model.reading.fits import read_fits
from conicnmf.model.reading.generic import Bounds, ReadCoupling, read_coupling
from conicnmf.model.reading.naming import shown
from conicnmf.model.reading.one_factor import read_operator_term
from conicnmf.model.reading.parts import Part, split
from conicnmf.model.reading.penalties import read_penalties
from conicnmf.model.reading.read_fit import ReadFit
from conicnmf.model.reading.roles import Role, as_chain, chain_roles, named
from conicnmf.model.reading.statement import about, checked, target_of, variables_of
from conicnmf.model.reading.vectors import as_matrices
from conicnmf.model.terms import Term
from conicnmf.model.variables import Source, Variable
from conicnmf.types import Data
from conicnmf.validate import as_data


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement read into variables with their terms and into addends."""

    variables: dict[str, Variable]
    addends: tuple[Addend, ...]
    offset: float
    sources: dict[str, Source]


def read_problem(objective: Any, constraints: Any = ()) -> Reading:
    """Read an objective and constraints.

    The left factor of a product is W, the right one H; where both are written transposed, the
    product is that of the transposed model.
    """
    target = target_of(objective)
    stated = checked(constraints)
    target, stated, own = as_matrices(target, stated, variables_of(target, stated))
    found = target.variables()
    joint = [c for c in stated if isinstance(c, cp.Constraint) and len(c.variables()) > 1]
    stated = [c for c in stated if not any(c is other for other in joint)]
    conditions = {v.id: sort_constraints(v, about(v, stated)) for v in found}
    bounds = {id_: condition.bounds for id_, condition in conditions.items()}
    parts = split(target)
    fits, coupling, single = _read_parts(parts.joint, parts.single, bounds)
    for constraint in joint:
        fits = with_cap(fits, constraint)
    roles = _roles(found, fits, coupling)
    names = named(roles)
    variables = {
        names[id_]: _variable(role, names, conditions[id_], single) for id_, role in roles.items()
    }
    addends = _addends(fits, coupling, names, roles)
    offset = parts.offset + sum(fit.offset for fit in fits)
    sources = {names[id_]: Source(own[id_], role.turned) for id_, role in roles.items()}
    return Reading(variables, addends, offset, sources)


def _read_parts(
    joint: list[Part], single: list[Part], bounds: Bounds
) -> tuple[list[ReadFit], ReadCoupling | None, list[Part]]:
    """Return the parts that are fits, what is left of several variables, and of one variable."""
    for coefficient, part in joint:
        if not 0 < abs(coefficient) < np.inf:
            raise ModelError(
                f"the loss must have a finite weight other than 0, got {coefficient:g} times "
                f"{shown(part)}; leave the factor out"
            )
    fits, rest = read_fits(joint)
    # Data seen through a known matrix, V ≈ D H, are a fit; H near a constant is a penalty.
    seen, own = read_fits(single, lambda fit: all(len(c.factors) > 1 for c in fit.chains))
    return fits + seen, read_coupling(rest, bounds) if rest else None, own


def _roles(
    found: list[cp.Variable], fits: list[ReadFit], coupling: ReadCoupling | None
) -> dict[int, Role]:
    """Return the role of each variable, in the order in which the products name them."""
    chains = [chain for fit in fits for chain in fit.chains]
    if coupling is not None and coupling.product is not None:
        chains.append(coupling.product)
    roles: dict[int, Role] = {}
    # A product of several variables says more of a variable than one with constants.
    for chain in sorted(chains, key=lambda chain: len(chain.refs) == 1):
        for role in chain_roles(chain):
            roles.setdefault(role.variable.id, role)
    if len(found) == 1 and not roles:
        return {found[0].id: Role(found[0], columns=True, letter="W")}
    return roles | {v.id: Role(v) for v in found if v.id not in roles}


def _variable(
    role: Role, names: dict[int, str], conditions: Conditions, single: list[Part]
) -> Variable:
    """Return a variable with everything that is stated of it alone."""
    id_ = role.variable.id
    priced = any(part.variables()[0].id == id_ for _, part in single)
    own: list[Term] = list(constraint_terms(conditions, int(role.as_rows), names, priced))
    left: list[Part] = []
    for coefficient, part in single:
        if part.variables()[0].id == id_:
            alone = len(names) == 1
            term = read_operator_term(coefficient, part, int(role.as_rows), alone)
            own += [] if term is None else [term]
            left += [(coefficient, part)] if term is None else []
    own += read_penalties(left, conditions.bounds, names, int(role.as_rows))
    terms = tuple(own) if role.as_rows else tuple(term.transposed() for term in own)
    return Variable(names[id_], role.shape, terms, role.columns)


def _addends(
    fits: list[ReadFit],
    coupling: ReadCoupling | None,
    names: dict[int, str],
    roles: dict[int, Role],
) -> tuple[Addend, ...]:
    count = len(fits) + (coupling is not None and coupling.V is not None)
    labels = iter(["V"] if count == 1 else [f"V{k}" for k in range(1, count + 1)])
    found: list[Addend] = []
    for fit in fits:
        chains = tuple(as_chain(chain, names, roles) for chain in fit.chains)
        data = as_data(fit.V)
        label = next(labels)
        fit.loss.check(data.shape)
        fit.loss.check_data(data, label)
        found.append(Fit(data, fit.loss, chains, label))
    if coupling is not None:
        found.append(_coupled(coupling, labels, names, roles))
    return tuple(found)


def _coupled(
    coupling: ReadCoupling, labels: Any, names: dict[int, str], roles: dict[int, Role]
) -> Coupling:
    """Return the expression over the problem's variables, with what it compares for reports."""
    places = {names[v.id]: (v, roles[v.id].turned) for v in coupling.form.variables()}
    if coupling.product is None or coupling.V is None:
        return Coupling(coupling.form, places, text=shown(coupling.form, names))
    chain: Chain = as_chain(coupling.product, names, roles)
    data: Data = as_data(coupling.V)
    label = next(labels)
    fit = Fit(data, Frobenius(), (chain,), label)
    return Coupling(coupling.form, places, fit, label, shown(coupling.form, names))
