"""Units in which the numbers of a problem are about one.

Solvers compare numbers with tolerances and add them up in sums of squares; both go wrong where the
data are tiny or huge. So a problem is divided by powers of two before any solver sees it, and what
is found is multiplied again. Powers of two change no digit: V and V·2ᵏ are solved in the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.model.addends import Addend, Chain, Coupling, Fit
from conicnmf.model.terms import Constraint, Penalty, Term
from conicnmf.model.variables import Variable
from conicnmf.types import Data, Factors, power_of
from conicnmf.validate import has_square

_FAR = 20
"""Products of sizes so many powers of two from the data's are no sizes of this problem."""


@dataclass(frozen=True, eq=False)
class Units:
    """Powers of two, one for each variable and one for the objective.

    Examples
    --------
    >>> import numpy as np
    >>> Units({"H": 3}).outward({"W": np.ones(2), "H": np.ones(2)})
    {'W': array([1., 1.]), 'H': array([8., 8.])}
    """

    powers: Mapping[str, int] = field(default_factory=dict)
    objective: int = 0

    @property
    def plain(self) -> bool:
        """Whether nothing is divided."""
        return not self.objective and not any(self.powers.values())

    def inward(self, factors: Factors) -> Factors:
        """Return factors of the stated problem in these units."""
        return {name: _times(X, -self.powers.get(name, 0)) for name, X in factors.items()}

    def outward(self, factors: Factors) -> Factors:
        """Return factors in these units as the stated problem knows them."""
        return {name: _times(X, self.powers.get(name, 0)) for name, X in factors.items()}

    def stated(self, objective: float) -> float:
        """Return the stated objective."""
        return math.ldexp(objective, self.objective)

    def within(self, objective: float) -> float:
        """Return a stated objective in these units."""
        return math.ldexp(objective, -self.objective)

    def variable(self, variable: Variable) -> Variable:
        """Return a variable with its terms in these units."""
        own = math.ldexp(1.0, -self.powers.get(variable.name, 0))
        return replace(variable, terms=tuple(self._term(term, own) for term in variable.terms))

    def _term(self, term: Term, own: float) -> Term:
        if isinstance(term, Penalty):
            return term.scaled(own).times(math.ldexp(1.0, -self.objective))
        assert isinstance(term, Constraint)
        return term.scaled(own)

    def addend(self, addend: Addend) -> Addend:
        """Return an addend in these units."""
        if isinstance(addend, Fit):
            return self.fit(addend)
        assert isinstance(addend, Coupling)
        size = _size(addend, self.powers)
        made = addend.in_units(self.powers, size)
        assert made is not None
        form, power = made
        fit = None if addend.fit is None else self.fit(addend.fit)
        return replace(addend, form=2.0 ** (power - self.objective) * form, fit=fit)

    def fit(self, fit: Fit) -> Fit:
        """Return a fit with its data and its loss in these units."""
        power = _sum(fit.chains[0], self.powers)
        loss = fit.loss.scaled(math.ldexp(1.0, -power)).times(math.ldexp(1.0, -self.objective))
        return replace(fit, V=_times(fit.V, -power), loss=loss)


def find_units(variables: Mapping[str, Variable], addends: Sequence[Addend]) -> Units:
    """Return units for a problem; plain ones where a term does not know itself in others.

    A variable whose constraints name a size has that; the others share what is left of the data's.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> problem = cn.factorize(np.full((3, 2), 2.0**40), 1, W=[cn.UnitNorm()])
    >>> find_units(problem.variables, problem.addends)
    Units(powers={'W': 0, 'H': 40}, objective=80)
    """
    fits = [fit for addend in addends if (fit := _fit_of(addend)) is not None]
    terms = [term for variable in variables.values() for term in variable.terms]
    divides = all(_divides(term) for term in (*terms, *(fit.loss for fit in fits)))
    if not divides or (addends and not fits):
        return Units()
    if not fits:
        return _of_terms(variables)
    stated = _powers(variables, fits)
    for alike in (False, True) if len(fits) < len(addends) else (False,):
        powers = next(filter(None, (_shared(fits, kept, alike) for kept in _fewer(stated))), None)
        own = {name: (powers or {}).get(name, 0) for name in variables}
        objective = None if powers is None else _objective_power(addends, own)
        if objective is not None:
            return Units(own, objective)
    return Units()


def _fit_of(addend: Addend) -> Fit | None:
    """Return what an addend compares, as far as it is known."""
    if isinstance(addend, Coupling):
        return addend.fit
    return addend if isinstance(addend, Fit) else None


def _size(coupling: Coupling, powers: Mapping[str, int]) -> int:
    return 0 if coupling.fit is None else _sum(coupling.fit.chains[0], powers)


def _objective_power(addends: Sequence[Addend], powers: Mapping[str, int]) -> int | None:
    """Return the power of the first addend that compares data, nothing where units do not fit all."""
    found: list[tuple[bool, int]] = []
    for addend in addends:
        if isinstance(addend, Fit):
            found.append((False, round(addend.loss.degree * _sum(addend.chains[0], powers))))
            continue
        assert isinstance(addend, Coupling)
        made = addend.in_units(powers, _size(addend, powers))
        if made is None:
            return None
        found.append((addend.fit is None, made[1]))
    return min(found, key=lambda own: own[0])[1]


def _of_terms(variables: Mapping[str, Variable]) -> Units:
    """Return the units of a problem whose data are in penalties on its only variable."""
    if len(variables) != 1:
        return Units()
    ((name, variable),) = variables.items()
    held = [t for t in variable.terms if isinstance(t, Penalty) and "power" in t.abilities]
    size = _stated_size(variable.terms)
    free = size > 0 and all(penalty.degree for penalty in held)
    own = _exponent(size) if free else 0
    found = [p for penalty in held if (p := penalty.power(own)) is not None]
    return Units({name: own}, max(found)) if found else Units()


def _powers(variables: Mapping[str, Variable], fits: Sequence[Fit]) -> dict[str, int]:
    """Return the powers of the sizes that constraints name or guess.

    A guess that is far from one is believed where it is nearer to the data than one is, and none
    where all variables of a product have a size that is far from that of its data.
    """
    named = {name: _stated_size(v.terms) for name, v in variables.items()}
    stated = {name: _exponent(size) for name, size in named.items() if size > 0}
    data = [power for fit in fits if (power := power_of(fit.V)) is not None]
    middle = max(data, default=None, key=abs)
    guessed = {}
    for name, variable in variables.items():
        guess = 0.0 if name in stated else _guessed_size(variable.terms, variable.rows_shape)
        if guess > 0:
            power = _exponent(guess)
            far = middle is not None and abs(power - middle) > abs(middle)
            guessed[name] = 0 if far else power
    sizes = stated | guessed
    return sizes if all(_fitting(fit, sizes) for fit in fits) else stated


def _fitting(fit: Fit, sizes: Mapping[str, int]) -> bool:
    """Whether no product of a fit has a size that is far from that of the data."""
    own = power_of(fit.V)
    closed = [chain for chain in fit.chains if set(chain.names) <= set(sizes)]
    return own is None or all(abs(_sum(chain, sizes) - own) <= _FAR for chain in closed)


def _exponent(size: float) -> int:
    return math.frexp(size)[1] - 1


def _fewer(stated: dict[str, int]) -> Iterator[dict[str, int]]:
    """Yield the sizes, and fewer of them: an offset may differ in size from its product."""
    yield stated
    for left_out in reversed(stated):
        yield {name: power for name, power in stated.items() if name != left_out}
    yield {}


def _shared(
    fits: Sequence[Fit], stated: Mapping[str, int], alike: bool = False
) -> dict[str, int] | None:
    """Return powers with which all products of a fit have one size, nothing where there are none.

    Factors that are to be `alike`, because something ties them, have the same power.
    """
    powers = dict(stated)
    found = [power for fit in fits if (power := power_of(fit.V)) is not None]
    for fit in fits:
        closed = [chain for chain in fit.chains if set(chain.names) <= set(powers)]
        own = power_of(fit.V)
        if own is None:  # data that are zero have no size but that of the other data
            own = max(found, default=0)
        size = _sum(closed[0], powers) if closed else own
        free = sum(name not in powers for name in fit.chains[0].names)
        if alike and not closed:
            size -= (size - _sum(fit.chains[0], powers)) % free
        if not _within_range(size, own - size, fit.V):
            return None
        if not all(_share(chain, size, powers) for chain in fit.chains):
            return None
    return powers


def _within_range(size: int, left: int, V: Data) -> bool:
    """Whether a unit has a square, and what is left of the data in it."""
    return has_square(2.0**size, float) and has_square(2.0**left, V.dtype)


def _divides(term: Term) -> bool:
    """Whether a term knows itself in other units, and a penalty its multiples."""
    needed = {"scaled", "times"} if isinstance(term, Penalty) else {"scaled"}
    return needed <= term.abilities


def named_size(terms: Iterable[Term], shape: tuple[int, int]) -> float:
    """Return the largest size that constraints name, else the largest that they guess, else zero.

    Examples
    --------
    >>> import cvxpy as cp, conicnmf as cn
    >>> user = cn.Convex(lambda W: cp.sum(W) <= 3)
    >>> bound = cn.Box(0, 1e-9)
    >>> [named_size(terms, (1, 3)) for terms in ([user], [user, bound], [cn.NonNegative()])]
    [1.0, 1e-09, 0.0]
    """
    # A function that was written for other numbers says nothing against a bound.
    return _stated_size(terms) or _guessed_size(terms, shape)


def _stated_size(terms: Iterable[Term]) -> float:
    own = [term for term in terms if isinstance(term, Constraint)]
    return max((c.size() for c in own if "size" in c.abilities), default=0.0)


def require_sizes(variable: Variable, precision: Any) -> None:
    """Raise where a constraint names a size that numbers of the data's precision cannot hold.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.factorize(np.ones((3, 2), np.float32), 1, W=[cn.UnitNorm(length=1e-30)])
    Traceback (most recent call last):
    conicnmf.errors.InputError: UnitNorm(...) on W must name a size whose square is a normal ...
    """
    for term in variable.terms:
        size = _stated_size([term])
        if size and not has_square(size, precision):
            raise InputError(
                f"{term} on {variable.name} must name a size whose square is a normal number of "
                f"{precision}, got {size:.3g}; state the data and their bounds in other units, or "
                "leave the bound out"
            )


def _guessed_size(terms: Iterable[Term], shape: tuple[int, int]) -> float:
    own = [term for term in terms if isinstance(term, Constraint)]
    guesses = (c.guessed_size(shape) for c in own if "guessed_size" in c.abilities)
    return max(guesses, default=0.0)


def _share(chain: Chain, size: int, powers: dict[str, int]) -> bool:
    """Give the variables of a product without a power equal parts of what is left of `size`."""
    without = [name for name in chain.names if name not in powers]
    left = size - _sum(chain, powers)
    for place, name in enumerate(without):
        powers[name] = left // (len(without) - place)
        left -= powers[name]
    return left == 0


def _sum(chain: Chain, powers: Mapping[str, int]) -> int:
    return sum(powers.get(name, 0) for name in chain.names)


def _times(X: Data, power: int) -> Data:
    """Return X·2ᵖ, sparse or dense; X itself where that is the same.

    A sparse result shares the places of its entries with X, which would be a third of a copy.
    """
    if not power:
        return X
    factor = X.dtype.type(math.ldexp(1.0, power))
    if sp.issparse(X):
        return type(X)((X.data * factor, X.indices, X.indptr), shape=X.shape, copy=False)
    return X * factor
