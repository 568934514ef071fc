"""Projective NMF: V ≈ W Wᵀ V with one non-negative factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.constraints import NonNegative
from conicnmf.model.known import as_terms
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.penalties import SelfFit
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Constraint
from conicnmf.model.variables import Variable
from conicnmf.settings import AS_GIVEN, Count, checks_arguments
from conicnmf.types import Array, Data, Factors, stored
from conicnmf.validate import as_data

Constraints: TypeAlias = Annotated[Sequence[Constraint], AS_GIVEN]
"""Further constraints on W; `with_orthant` reads them."""


class ProjectiveNMF(Problem):
    """Minimize ‖V − WWᵀV‖² over W ≥ 0.

    The columns of W come out nearly orthogonal, so each row of V belongs to one part. `ProjectiveRule`
    is the rule of projective NMF, `ProjectionRule` the non-negative linear Hebbian network,
    `OnlineHebbian` its version for a stream. V Vᵀ is formed only where that is cheaper than products
    with V.

    Parameters
    ----------
    V : array or sparse matrix
        Non-negative data, features × samples.
    rank : int
    constraints : list of Constraint
        On W, for example ``[Sparseness(min=0.8)]``; W ≥ 0 is always there.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.families.one_factor import ProjectiveNMF
    >>> V = np.repeat(np.eye(2), 3, axis=0) @ np.random.default_rng(0).random((2, 9))
    >>> result = cn.solve(ProjectiveNMF(V, 2), stop=500)
    >>> result.relative_error < 1e-3, (result.W.T > 0.5).astype(int).sum(axis=0).tolist()
    (True, [1, 1, 1, 1, 1, 1])
    """

    kind = "one-factor problem"

    @checks_arguments
    def __init__(self, V: Any, rank: Count, *, constraints: Constraints = ()) -> None:
        data = as_data(V)
        lowest = float(stored(data).min(initial=0.0))
        if lowest < 0:
            raise InputError(
                f"ProjectiveNMF needs V >= 0, got {lowest:g}; shift V, or state "
                "QuadraticProjection(V @ V.T, rank)"
            )
        term = SelfFit(data)
        terms = (*with_orthant(constraints), term)
        W = Variable.stated("W", (data.shape[0], rank), terms, flipped=True)
        self._set({"W": W}, (), 0.0, {})
        with_labels(self, *labels_of(V))

    @property
    def V(self) -> Data:
        """The data."""
        (term,) = self.blocks[0].penalties
        assert isinstance(term, SelfFit)
        return term.V

    @property
    def data_shapes(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The numbers of features and samples."""
        return {"V": self.V.shape}

    @property
    def models(self) -> Mapping[str, Callable[[Factors], tuple[Array, Array]]]:
        """W and WᵀV."""
        return {"V": lambda factors: (factors["W"], np.asarray(factors["W"].T @ self.V))}

    def __repr__(self) -> str:
        (m, n), block = self.V.shape, self.blocks[0]
        more = "".join(f", {c}" for c in block.constraints if c != NonNegative())
        return f"ProjectiveNMF: V ({m} × {n}) ≈ W Wᵀ V, rank {self.rank}, W ≥ 0{more}"


def with_orthant(constraints: Any) -> tuple[Any, ...]:
    """Return W ≥ 0 and the further constraints.

    Examples
    --------
    >>> from conicnmf.model.constraints import Sparseness
    >>> with_orthant([NonNegative(), Sparseness(min=0.5)])
    (NonNegative(), Sparseness(min=0.5, max=1.0, each='component'))
    """
    terms = as_terms("constraints", constraints)
    for term in terms:
        if not isinstance(term, Constraint):
            raise InputError(
                f"constraints takes constraints such as Sparseness(min=0.8), got {term!r}; CVXPY "
                "constraints go into Convex(lambda W: ...)"
            )
    orthant = NonNegative()
    return (orthant, *(term for term in terms if term != orthant))
