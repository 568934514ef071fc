"""`Problem`: named variables, an objective that is a sum, and constraints, however it is stated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import cvxpy as cp
import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.addends import Addend, Chain, Coupling, Fit
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem, constraints_of, penalties_of
from conicnmf.model.constraints.joint import merged_bounds, met
from conicnmf.model.digest import Digest, digest_of_model
from conicnmf.model.names import with_labels
from conicnmf.model.partners import nonneg_around, partners_of, scale_free_pairs
from conicnmf.model.problem_text import in_words, of_several
from conicnmf.model.reading import has_parameters, read_problem
from conicnmf.model.terms import Loss, Term
from conicnmf.model.units import Units, find_units, require_sizes
from conicnmf.model.variables import Source, Variable
from conicnmf.settings import AS_GIVEN, InitSignature, checks_arguments
from conicnmf.types import Array, Data, Factors

if TYPE_CHECKING:
    from conicnmf.results import Result
    from conicnmf.solve.methods.base import AnySolver


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Problem(BaseProblem):
    """Minimize losses of products of variables plus penalties, subject to constraints.

    Parameters
    ----------
    objective : cvxpy.Minimize
        For example ``cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * cp.sum(H))``.
    constraints : list
        CVXPY constraints that mention one variable each, and bounds on `sparseness`. Both may contain
        CVXPY parameters, whose values are read when the problem is solved.
    feature_names, sample_names : list of str, or dict by the name of the data, optional
        What rows and columns of V are called in results, tables and reports; see `named`.

    Attributes
    ----------
    variables : dict of str to Variable
        Every variable by name, with its shape and its terms.
    addends : tuple of Addend
        What the objective is a sum of, apart from penalties: fits of data, and couplings.
    offset : float
        The constant of the objective.

    See Also
    --------
    factorize : the same from terms instead of expressions.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np, conicnmf as cn
    >>> V = np.ones((5, 4))
    >>> W, H = cp.Variable((5, 2), nonneg=True), cp.Variable((2, 4), nonneg=True)
    >>> cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [cn.sparseness(W, axis=0) >= 0.6])
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative(), Sparseness(min=0.6, max=1.0, each='component')
      H: NonNegative()
    """

    variables: dict[str, Variable]
    addends: tuple[Addend, ...]
    offset: float = 0.0
    sources: dict[str, Source] = field(default_factory=dict)
    """The user's CVXPY variable of each name."""

    units: Units = field(default_factory=Units)
    """What the variables of a normalized problem are to be multiplied by."""

    kind = "factorization"

    __signature__ = InitSignature()

    def __new__(cls, *statement: Any, **named: Any) -> Self:
        """Keep a statement with parameters as it is: their values are known when it is solved."""
        from conicnmf.model.parametric import ParametricProblem

        kept = cls is Problem and has_parameters(statement, named)
        return object.__new__(ParametricProblem if kept else cls)  # type: ignore[return-value]

    @checks_arguments
    def __init__(
        self,
        objective: Annotated[Any, AS_GIVEN],
        constraints: Annotated[Any, AS_GIVEN] = (),
        *,
        feature_names: Annotated[Any, AS_GIVEN] = None,
        sample_names: Annotated[Any, AS_GIVEN] = None,
    ) -> None:
        read = read_problem(objective, constraints)
        self._set(read.variables, read.addends, read.offset, read.sources)
        with_labels(self, feature_names, sample_names)

    @classmethod
    def of(
        cls, variables: Sequence[Variable], addends: Sequence[Addend], offset: float = 0.0
    ) -> Problem:
        """Return the problem with these variables and addends."""
        problem = object.__new__(cls)
        problem._set({v.name: v for v in variables}, tuple(addends), offset, {})
        return problem

    def normalized(self) -> Self:
        """Return the problem in units in which its numbers are about one.

        Its factors are those of this problem divided by powers of two, which are in `units`.

        Examples
        --------
        >>> import numpy as np, conicnmf as cn
        >>> problem = cn.factorize(np.full((3, 2), 2.0**40), 1, H=[cn.L1(1.0)]).normalized()
        >>> problem.V.max(), problem.H, problem.units.powers
        (np.float64(1.0), (L1(weight=8.673617379884035e-19),), {'W': 20, 'H': 20})
        """
        units = find_units(self.variables, self.addends)
        if units.plain and self.units.plain:
            return self
        variables = {name: units.variable(v) for name, v in self.variables.items()}
        addends = tuple(units.addend(addend) for addend in self.addends)
        offset = units.within(self.offset)
        problem = object.__new__(type(self))
        problem._set(variables, addends, offset, self.sources, units)
        return problem

    def _set(
        self,
        variables: dict[str, Variable],
        addends: tuple[Addend, ...],
        offset: float,
        sources: dict[str, Source],
        units: Units = Units(),  # noqa: B008 - it is frozen
    ) -> None:
        fields = (variables, addends, offset, sources, units)
        for name, value in zip(self.__dataclass_fields__, fields, strict=True):
            object.__setattr__(self, name, value)
        for variable in variables.values():
            if units.plain:
                require_sizes(variable, self.dtype)
            merged_bounds(constraints_of(variable.terms))

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each variable."""
        return {name: variable.shape for name, variable in self.variables.items()}

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """The fits of data, those that couplings stand for included."""
        found = [addend.fit if isinstance(addend, Coupling) else addend for addend in self.addends]
        return tuple(fit for fit in found if isinstance(fit, Fit))

    @property
    def data(self) -> list[Any]:
        """The data of all fits, or the terms where these hold them."""
        return [fit.V for fit in self.fits] or [v.terms for v in self.variables.values()]

    @cached_property
    def digest(self) -> Digest:
        """The data, losses and terms, part by part; how they were stated does not count."""
        return {"kind": type(self).__name__} | digest_of_model(
            self.variables.values(), self.addends, self.offset
        )

    @property
    def fit(self) -> Fit:
        """The only fit; a problem with several has no single V, rank or loss."""
        if len(self.fits) != 1:
            raise InputError(f"the problem has {len(self.fits)} fits; name one of problem.fits")
        return self.fits[0]

    @property
    def V(self) -> Data:
        """The data of the only fit, features × samples."""
        return self.fit.V

    @property
    def loss(self) -> Loss | Coupling:
        """The loss of the only fit, or the expression that stands for it."""
        if len(self.addends) == 1 and isinstance(self.addends[0], Coupling):
            return self.addends[0]
        return self.fit.loss

    @property
    def rank(self) -> int:
        """The largest number of components that any variable has."""
        return max(block.shape[0] for block in self.blocks)

    @property
    def W(self) -> tuple[Term, ...]:
        """The terms on W, seen with components as rows."""
        return self._terms("W")

    @property
    def H(self) -> tuple[Term, ...]:
        """The terms on H."""
        return self._terms("H")

    def _terms(self, name: str) -> tuple[Term, ...]:
        if name not in self.variables:
            listed = ", ".join(self.variables)
            raise InputError(f"the problem has no variable {name}; its variables are {listed}")
        return self.variables[name].terms

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the data."""
        kinds = [fit.V.dtype for fit in self.fits]
        return np.result_type(*kinds) if kinds else np.dtype(float)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """One block a variable; variables that more addends mention come later in a sweep."""
        blocks = [
            Block(
                name,
                variable.rows_shape,
                variable.flipped,
                tuple(addend for addend in self.addends if name in addend.variables),
                tuple(met(constraints_of(variable.terms))),
                penalties_of(variable.terms),
                nonneg_around=nonneg_around(name, self.fits, self.variables),
            )
            for name, variable in self.variables.items()
        ]
        return tuple(sorted(blocks, key=lambda block: len(block.addends)))

    def source(self, key: Any) -> tuple[str, Source] | None:
        """Return the name here of a user's CVXPY variable, given it or its own name, and its source.

        Where the problem has a variable of that name itself, that one is meant, as it is printed.
        """
        if isinstance(key, str):
            known = {s.name: (name, s) for name, s in self.sources.items() if s.name}
            return None if key in self.variables else known.get(key)
        if not isinstance(key, cp.Variable):
            return None
        pairs = ((name, s) for name, s in self.sources.items() if s.variable.id == key.id)
        return next(pairs, None)

    def assign(self, result: Result | Factors) -> None:
        """Write a result into the CVXPY variables that the problem was stated with.

        Solving leaves them alone. Afterwards every expression of them has a value.

        Examples
        --------
        >>> import cvxpy as cp, numpy as np, conicnmf as cn
        >>> W, H = cp.Variable((4, 1), nonneg=True), cp.Variable((1, 3), nonneg=True)
        >>> loss = cp.sum_squares(np.ones((4, 3)) - W @ H)
        >>> problem = cn.Problem(cp.Minimize(loss))
        >>> problem.assign(problem.solve())
        >>> bool(loss.value < 1e-9)
        True
        """
        if not self.sources:
            raise InputError(
                "assign writes into CVXPY variables, and this problem was stated from terms; read "
                'result["W"] instead'
            )
        factors = result if isinstance(result, dict) else result.factors
        for name, source in self.sources.items():
            source.write(name, self.shapes[name], factors.get(name))

    def subproblems(self, factors: Factors) -> list[tuple[Subproblem, Array]]:
        """Return each block with the others held, and its own variable as rows."""
        return [(block.given(factors), block.rows(factors)) for block in self.blocks]

    def partner(self, block: Block) -> Block | None:
        """Return the block of the other variable of an isolated product of two, if it is one."""
        return self._partners.get(block.name)

    @cached_property
    def scale_free_pairs(self) -> list[tuple[Block, Block]]:
        """The isolated products of two of which only the product counts, the earlier block first."""
        return scale_free_pairs(self.blocks, self._partners)

    @cached_property
    def _partners(self) -> dict[str, Block | None]:
        return partners_of(self.blocks)

    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""
        return self.total(sum(addend.value(factors) for addend in self.addends), factors)

    def total(self, addends: float, factors: Factors) -> float:
        """Return the objective given the sum of the addends."""
        own = sum(block.penalty(block.rows(factors)) for block in self.blocks)
        return addends + own + self.offset

    def restated(self, factors: Factors) -> float:
        """Return the objective from plain residuals, or from CVXPY's expressions."""
        return self.total(sum(addend.restated(factors) for addend in self.addends), factors)

    @cached_property
    def unit(self) -> float:
        """The sum of the addends at zero, and of the data that penalties reconstruct."""
        fitted = sum(abs(addend.zero) for addend in self.addends)
        return fitted + sum(
            penalty.squares(np.zeros(block.shape))[1]
            for block in self.blocks
            for penalty in block.penalties
            if "squares" in penalty.abilities
        )

    def relative_error(self, factors: Factors) -> float:
        """Return Σ‖V − model‖²/Σ‖V‖² over all fits, weighted entries where there are weights."""
        pairs = [addend.squares(factors) for addend in self.addends]
        pairs += [
            penalty.squares(block.rows(factors))
            for block in self.blocks
            for penalty in block.penalties
            if "squares" in penalty.abilities
        ]
        found = [pair for pair in pairs if pair is not None]
        whole = sum(size for _, size in found)
        return sum(error for error, _ in found) / whole if whole else float("nan")

    def relative_errors(self, factors: Factors) -> dict[str, float]:
        """Return ‖V − model‖²/‖V‖² of each fit by its name."""
        pairs = {addend.name: addend.squares(factors) for addend in self.addends}
        return {
            name: pair[0] / pair[1] if pair[1] else float("nan")
            for name, pair in pairs.items()
            if pair is not None
        }

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        caps = {
            f"{of_several(addend, self)}loss <= {addend.cap:g}": max(
                0.0, addend.value(factors) / addend.cap - 1
            )
            for addend in self.addends
            if np.isfinite(addend.cap)
        }
        return caps | {
            f"{block.name}: {constraint}": block.violation_of(constraint, block.rows(factors))
            for block in self.blocks
            for constraint in block.constraints
        }

    def violation(self, factors: Factors) -> float:
        """Return the largest violation of any constraint, without naming them."""
        if any(np.isfinite(addend.cap) for addend in self.addends):
            return super().violation(factors)
        return max(block.violation(block.rows(factors)) for block in self.blocks)

    def collapsed(self, factors: Factors) -> bool:
        """Whether a piece of a variable is zero where a constraint forbids zero."""
        return any(block.collapsed(block.rows(factors)) for block in self.blocks)

    @cached_property
    def products(self) -> tuple[tuple[str, Chain], ...]:
        """The products of each fit; an offset added to a product has no components."""
        return tuple(
            (fit.name, chain)
            for fit in self.fits
            for chain in fit.chains
            if len(chain.names) > 1 or (chain.names and len(fit.chains) == 1)
        )

    def components(self, factors: Factors) -> list[tuple[Array, Array]]:
        """Return the two sides of each product."""
        return [chain.pair(factors) for _, chain in self.products]

    @property
    def component_labels(self) -> tuple[str, ...]:
        """The names of the data that the products of `components` stand for."""
        return tuple(name for name, _ in self.products)

    def component_sides(self) -> dict[str, str]:
        """Return where the components of each variable are; offsets have none."""
        sides = {b.name: "columns" if b.flipped else "rows" for b in self.blocks if not b.is_extra}
        return {name: sides[name] for name in self.variables if name in sides}

    @checks_arguments
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a start brought into the constraint set, and to where the objective is finite."""
        from conicnmf.solve.starts import as_start, feasible_start, in_domain

        return in_domain(self, feasible_start(self, as_start(init, self).factors(self, rng), rng))

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return the methods for blocks, the fastest first."""
        from conicnmf.solve.choice import preferred

        return preferred(self)

    def __repr__(self) -> str:
        return in_words(self)
