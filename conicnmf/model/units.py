"""Units in which the numbers of a problem are about one.

Solvers compare numbers with tolerances and add them up in sums of squares; both go wrong where the
data are tiny or huge. So a problem is divided by powers of two before any solver sees it, and what
is found is multiplied again. Powers of two change no digit: V and V·2ᵏ are solved in the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conicnmf.model.addends import Addend, Chain, Fit
from conicnmf.model.terms import Constraint, Penalty, Term
from conicnmf.model.variables import Variable
from conicnmf.types import Data, Factors, stored


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
        own = math.ldexp(1.0, -self.powers[variable.name])
        return replace(variable, terms=tuple(self._term(term, own) for term in variable.terms))

    def _term(self, term: Term, own: float) -> Term:
        if isinstance(term, Penalty):
            return term.scaled(own).times(math.ldexp(1.0, -self.objective))
        assert isinstance(term, Constraint)
        return term.scaled(own)

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
    fits = [addend for addend in addends if isinstance(addend, Fit)]
    terms = [term for variable in variables.values() for term in variable.terms]
    divides = all(_divides(term) for term in (*terms, *(fit.loss for fit in fits)))
    if not fits or len(fits) < len(addends) or not divides:
        return Units()
    stated = {name: max(sizes) for name, v in variables.items() if (sizes := list(_sizes(v.terms)))}
    for kept in _fewer(stated):
        powers = _shared(fits, kept)
        if powers is not None:
            size = _sum(fits[0].chains[0], powers)
            own = {name: powers.get(name, 0) for name in variables}
            return Units(own, round(fits[0].loss.degree * size))
    return Units()


def _fewer(stated: dict[str, int]) -> Iterator[dict[str, int]]:
    """Yield the sizes, and fewer of them: an offset may differ in size from its product."""
    yield stated
    for left_out in reversed(stated):
        yield {name: power for name, power in stated.items() if name != left_out}
    yield {}


def _shared(fits: Sequence[Fit], stated: Mapping[str, int]) -> dict[str, int] | None:
    """Return powers with which all products of a fit have one size, nothing where there are none."""
    powers = dict(stated)
    found = [power for fit in fits if (power := _power(stored(fit.V))) is not None]
    for fit in fits:
        closed = [chain for chain in fit.chains if set(chain.names) <= set(powers)]
        own = _power(stored(fit.V))
        if own is None:  # data that are zero have no size but that of the other data
            own = max(found, default=0)
        size = _sum(closed[0], powers) if closed else own
        if not all(_share(chain, size, powers) for chain in fit.chains):
            return None
    return powers


def _divides(term: Term) -> bool:
    """Whether a term knows itself in other units, and a penalty its multiples."""
    needed = {"scaled", "times"} if isinstance(term, Penalty) else {"scaled"}
    return needed <= term.abilities


def _sizes(terms: Iterable[Term]) -> Iterable[int]:
    """Yield the powers of the sizes that constraints name."""
    for term in terms:
        if isinstance(term, Constraint) and "size" in term.abilities:
            size = term.size()
            if size > 0:
                yield math.frexp(size)[1] - 1


def _power(values: Data) -> int | None:
    """Return the power of two at or below the largest magnitude, nothing where all are zero."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return math.frexp(largest)[1] - 1 if largest else None


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
    """Return X·2ᵖ, sparse or dense; X itself where that is the same."""
    return X * X.dtype.type(math.ldexp(1.0, power)) if power else X
