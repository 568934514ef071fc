"""`LargeProblem`: a factorization of data in strips, and how its factors are held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.addends import Chain, Ref
from conicnmf.model.at_factors import Shapes
from conicnmf.model.blocks import Block, constraints_of
from conicnmf.model.constraints import NonNegative
from conicnmf.model.constraints.joint import merged_bounds
from conicnmf.model.holding import Holding
from conicnmf.model.known import as_loss, as_terms
from conicnmf.model.large.block import RowsBlock, StripBlock
from conicnmf.model.large.fit import StripFit
from conicnmf.model.large.moved import distance
from conicnmf.model.large.rows import find_cutter
from conicnmf.model.losses import Frobenius
from conicnmf.model.losses.weights import check_shape
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss, Penalty, Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.model.variables import Variable
from conicnmf.strips import Crew, Strips
from conicnmf.types import Data, Factors, stored

if TYPE_CHECKING:
    from conicnmf.solve.methods.base import AnySolver


class LargeProblem(Problem):
    """A factorization V ≈ W H with V and H in strips of columns, which a crew holds."""

    @cached_property
    def holding(self) -> Holding:  # type: ignore[override]
        """H is held by the crew."""
        return InStrips(self)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The block of W as always, that of H in strips."""
        W, H = super().blocks
        own = {field.name: getattr(H, field.name) for field in fields(H)}
        kind = StripBlock if all(map(of_one_sample, H.constraints)) else RowsBlock
        return W, kind(**own)

    def partner(self, block: Block) -> Block | None:
        """Return nothing: a dead component gets work by the residuals of strips, see `revived`."""
        return None

    @cached_property
    def scale_free_pairs(self) -> list[tuple[Block, Block]]:
        """W and H, where only their product counts."""
        W, H = self.blocks
        return [(W, H)] if W.scale_free and H.scale_free else []

    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a feasible start: arrays, or random numbers, strip by strip for H."""
        from conicnmf.solve.starts.strips import start_in_strips

        return start_in_strips(self, init, rng)

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return the methods for blocks; multiplicative updates come before methods with copies."""
        from conicnmf.solve.methods import Multiplicative

        listed = list(super().preferred())
        why = "W needs only sums over the samples, for losses other than squares too"
        plain = (Multiplicative(), why)
        at = next((i for i, (own, _) in enumerate(listed) if own.name == "Splitting"), len(listed))
        return [*listed[:at], plain, *listed[at:]]

    def refuses(self, solver: Any) -> list[str]:
        """Return why a solver cannot be sent to strips."""
        if not hasattr(solver, "look"):
            return [f"V and H are in strips, and {solver.name} needs all of their columns at once"]
        _, H = self.blocks
        if not isinstance(H, RowsBlock):
            return []
        tied = ", ".join(str(c) for c in H.constraints if not of_one_sample(c))
        if not hasattr(solver, "lower_rows"):
            return [f"{tied} on H links samples of many strips together, which HALS can handle"]
        if "quadratic" not in H.abilities or H.shaped:
            return [f"{tied} on H links samples of many strips together, which needs squares alone"]
        return []


@dataclass(frozen=True, eq=False)
class InStrips(Holding):
    """H is held by the crew of the data; a checkpoint keeps W, from which H is found again."""

    problem: LargeProblem
    exact = False

    @property
    def crew(self) -> Crew:
        """Who holds the strips."""
        found: Crew = self.problem.V.crew
        return found

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Release all strips at the end."""
        try:
            yield
        finally:
            self.crew.close()

    def read(self, factors: Any, shapes: Shapes, asked: str) -> Factors:
        """Check W as an array, and give H to the crew."""
        H = factors.get("H") if isinstance(factors, dict) else None
        if H is None or getattr(H, "shape", None) != shapes["H"]:
            return super().read(factors, shapes, asked)  # it says what is wrong
        own = {name: X for name, X in factors.items() if name != "H"}
        small = super().read(own, {"W": shapes["W"]}, asked)
        placed: Any = H if isinstance(H, Strips) else self.crew.place(H)
        return small | {"H": placed}

    def finite(self, point: dict[str, Any]) -> bool:
        """Whether squares of rows are finite, which the crew has counted."""
        return bool(np.isfinite(point["W"]).all() and np.isfinite(point["H"].squares).all())

    def norm(self, X: Any) -> float:
        """Return the Frobenius norm."""
        return float(np.sqrt(X.squares.sum())) if isinstance(X, Strips) else super().norm(X)

    def distance(self, X: Any, Y: Any) -> float:
        """Return the norm of the difference."""
        if isinstance(X, Strips):
            return distance(X, Y)
        return super().distance(X, Y)

    def packed(self, point: Factors) -> Factors:
        """Return W."""
        return {"W": point["W"]}

    def unpacked(self, arrays: Factors) -> Factors:
        """Find H for W again."""
        from conicnmf.solve.starts.strips import fitted_in_strips

        return fitted_in_strips(self.problem, arrays["W"])

    def delivered(self, point: dict[str, Any]) -> Factors:
        """Bring H to the user."""
        return {name: X.crew.gather(X) if isinstance(X, Strips) else X for name, X in point.items()}


def large_problem(
    crew: Crew, rank: int, loss: Any, W: Sequence[Term | str] | None, H: Sequence[Term | str] | None
) -> LargeProblem:
    """State V ≈ W H for the data of a crew.

    Examples
    --------
    >>> from conicnmf.strips import as_source
    >>> large_problem(as_source(np.ones((4, 6)), "3KB"), 2, None, None, None).shapes
    {'W': (4, 2), 'H': (2, 6)}
    """
    m, n = crew.reader.shape
    chosen = Frobenius() if loss is None else as_loss(loss).plainest
    weights = getattr(chosen, "weights", None)
    if weights is not None:
        check_shape(weights, crew.reader.shape)
        crew = crew.with_weights(weights)
    V = crew.data
    _check_data(V)
    _check_loss(chosen)
    variables = []
    for name, shape, terms in (("W", (m, rank), W), ("H", (rank, n), H)):
        stated = (NonNegative(),) if terms is None else as_terms(name, terms)
        variables.append(Variable.stated(name, shape, stated, name == "W"))
    _check_rows(variables[1].terms)
    fit = StripFit(V, chosen, (Chain((Ref("W"), Ref("H"))),))
    problem = LargeProblem.of(variables, (fit,))
    assert isinstance(problem, LargeProblem)
    return problem


def _check_rows(terms: Sequence[Term]) -> None:
    """Raise unless terms on H apply to single samples, or rows can be projected on all of them."""
    tied = [term for term in terms if not of_one_sample(term)]
    constraints = constraints_of(terms)
    lower, upper = merged_bounds(constraints)
    known = bool((lower == 0).all() and (upper == np.inf).all()) and bool(find_cutter(constraints))
    unknown = tied if not known else [term for term in tied if isinstance(term, Penalty)]
    if unknown:
        raise InputError(
            f"{unknown[0]} on H links samples, which are in different strips; use terms of entries or "
            "single samples, or one term on the rows of H ≥ 0 (bounds on sparseness, a norm or a "
            "simplex), or load V"
        )


def _check_loss(loss: Loss) -> None:
    if np.isfinite(loss.cap):
        raise InputError(
            f"{loss} does not work on data in strips; use a loss without a cap, or load V"
        )


def _check_data(V: Strips) -> None:
    finite = V.total(_all_finite) == V.crew.reader.count
    V.crew.rest()
    if not finite:
        raise InputError("V must be finite, got NaN or infinite entries; replace them first")


def _all_finite(V: Data) -> int:
    return int(np.isfinite(stored(getattr(V, "values", V))).all())
