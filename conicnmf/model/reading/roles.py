"""Which variable plays which role: how it is called, which way its components run."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.model.addends import Chain, Ref
from conicnmf.model.reading.chains import ReadChain, ReadRef, is_matmul, read_chain
from conicnmf.model.variables import given_name
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Role:
    """A variable as the problem holds it.

    `turned` when the problem holds the transpose of the user's variable, `columns` when components
    are columns of what the problem holds, as in W; `letter` is what such a variable is called.
    """

    variable: cp.Variable
    turned: bool = False
    columns: bool = False
    letter: str = "X"

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of what the problem holds."""
        rows, columns = self.variable.shape
        return (columns, rows) if self.turned else (rows, columns)

    @property
    def as_rows(self) -> bool:
        """Whether a component is a row of the user's variable."""
        return (not self.columns) != self.turned


def chain_roles(chain: ReadChain) -> list[Role]:
    """Return the roles of the variables of a product, from their places in it."""
    refs = chain.refs
    if len(refs) == 1:
        return [_lone(chain, refs[0])]
    ends = {0: (True, "W"), len(refs) - 1: (False, "H")}
    return [
        Role(ref.variable, ref.flipped, *ends.get(place, (False, "S")))
        for place, ref in enumerate(refs)
    ]


def _lone(chain: ReadChain, ref: ReadRef) -> Role:
    """Return the role of a single variable among constants: offsets, or a factor with a known other."""
    place = next(k for k, factor in enumerate(chain.factors) if factor is ref)
    left = place == 0 and len(chain.factors) > 1
    thin = 1 in ref.shape
    letter = ("b" if left else "c") if thin else ("W" if left else "H")
    return Role(ref.variable, ref.flipped, left, letter)


def is_product(expression: cp.Expression) -> bool:
    """Whether the expression is a matrix product of functions of one variable each."""
    if not is_matmul(expression):
        return False
    left, right = (side.variables() for side in expression.args)
    return len(left) == len(right) == 1 and left[0].id != right[0].id


def product_chain(product: cp.Expression) -> ReadChain:
    """Return the product of two variables in any expression of them, such as (P W) @ square(H).

    What stands round the variables is left out where it is no product itself; then the shapes of
    what is left need not fit.
    """
    chain = read_chain(product)
    if chain is not None:
        return chain
    refs = []
    for axis, side in zip((1, 0), product.args, strict=True):
        variable = side.variables()[0]
        refs.append(ReadRef(variable, _is_turned(side, variable, axis)))
    return ReadChain(tuple(refs))


def named(roles: dict[int, Role]) -> dict[int, str]:
    """Return a name for each variable: the user's own, or one of its role.

    Two variables of one product are W and H, whatever the user calls them, unless that is W the
    right one or H the left one. So is a single variable, by the side on which it stands.
    """
    letters = {id_: role.letter for id_, role in roles.items()}
    given = {id_: given_name(role.variable) for id_, role in roles.items()}
    swapped = any(given[id_] in {"W", "H"} - {letter} for id_, letter in letters.items())
    if sorted(letters.values()) == ["H", "W"] and not swapped:
        return letters
    if len(roles) == 1:
        return {id_: "H" if role.letter in "Hc" else "W" for id_, role in roles.items()}
    names: dict[int, str] = {}
    for id_, own in given.items():
        if own and own not in names.values():
            names[id_] = own
    for id_, role in roles.items():
        if id_ not in names:
            same = [other for other in roles.values() if other.letter == role.letter]
            names[id_] = _free(role.letter, set(names.values()), alone=len(same) == 1)
    return {id_: names[id_] for id_ in roles}


def _free(letter: str, taken: set[str], alone: bool) -> str:
    if alone and letter not in taken:
        return letter
    return next(name for name in (f"{letter}{k}" for k in range(1, 1000)) if name not in taken)


def as_chain(chain: ReadChain, names: dict[int, str], roles: dict[int, Role]) -> Chain:
    """Return the product over the variables as the problem holds them."""
    factors: list[Ref | Array] = []
    for factor in chain.factors:
        if isinstance(factor, ReadRef):
            id_ = factor.variable.id
            factors.append(Ref(names[id_], factor.flipped != roles[id_].turned, factor.mask))
        else:
            factors.append(factor)
    return Chain(tuple(factors), chain.scale)


def _is_turned(side: cp.Expression, variable: cp.Variable, axis: int) -> bool:
    """Whether components run along the variable's other axis than they do in the product.

    One entry is changed: it moves one component only, the one of its own index, unless the
    expression mixes components; then the shapes decide.
    """
    shape = variable.shape
    rank = side.shape[axis]
    place = (0, min(1, shape[1] - 1))
    if shape[0] == rank and shape[1] == rank and place[1]:
        base = np.random.default_rng(0).random(shape)
        moved = base.copy()
        moved[place] += 0.5
        change = _at(side, variable, moved) - _at(side, variable, base)
        touched = np.flatnonzero(np.abs(change).any(axis=1 - axis))
        return bool(touched.tolist() == [place[1 - axis]])
    return bool(shape[axis] != rank and shape[1 - axis] == rank)


def _at(side: cp.Expression, variable: cp.Variable, X: Array) -> Array:
    return np.asarray(side.tree_copy({id(variable): cp.Constant(X)}).value)
