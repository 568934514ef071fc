"""Small problems of many kinds, and data at the edge of what a solver may meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from conicnmf.model.constraints import (
    Box,
    Convex,
    NonNegative,
    NormBall,
    Simplex,
    Sparseness,
    UnitNorm,
)
from conicnmf.model.factorize import factorize
from conicnmf.model.losses import KullbackLeibler, WeightedFrobenius
from conicnmf.model.penalties import L1, L2, ConvexPenalty, NonZeros
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss, Term
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Array, Data

_RANK = 3
_FEATURES, _SAMPLES = 9, 7


def _steps(W: cp.Expression) -> cp.Constraint:
    return cp.abs(cp.diff(W, axis=0)) <= 0.6


def _roughness(W: cp.Expression) -> cp.Expression:
    return 0.1 * cp.sum_squares(cp.diff(W, axis=0))


def terms() -> dict[str, tuple[Sequence[Term], Sequence[Term]]]:
    """Return terms on (W, H) by name, for factors of any shape."""
    plus = NonNegative()
    return {
        "non-negative": ([plus], [plus]),
        "penalized": ([plus, L2(0.05)], [plus, L1(0.1)]),
        "priced": ([plus, UnitNorm()], [plus, NonZeros(0.02)]),
        "free": ([L2(0.1)], [L2(0.1)]),
        "boxed": ([Box(0, 0.4)], [plus]),
        "unit norm": ([plus, UnitNorm()], [plus]),
        "short": ([plus, NormBall(2.0)], [plus]),
        "sparse W": ([plus, Sparseness(min=0.5)], [plus]),
        "sparseness prescribed": ([plus], [plus, Sparseness(min=0.4, max=0.4)]),
        "dense H": ([plus], [plus, Sparseness(max=0.5)]),
        "sparse samples": ([plus], [plus, Sparseness(min=0.4, each="sample")]),
        "mixing": ([plus], [plus, Simplex(each="sample")]),
        "convex": ([plus, Convex(_steps), ConvexPenalty(_roughness)], [plus]),
    }


def low_rank(rows: int = _FEATURES, columns: int = _SAMPLES, seed: int = 3) -> Array:
    """Return non-negative data near rank three."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((rows, _RANK)) ** 2, rng.random((_RANK, columns))
    return W @ H + 0.02 * rng.random((rows, columns))


def edges() -> dict[str, tuple[Data, int]]:
    """Return data and rank at the edge: a solver must not break on them."""
    V = low_rank()
    zero_column, zero_row, twin = V.copy(), V.copy(), V.copy()
    zero_column[:, 2], zero_row[4], twin[:, 1] = 0.0, 0.0, V[:, 0]
    return {
        "one sample": (V[:, :1], 1),
        "a zero column": (zero_column, 2),
        "a zero row": (zero_row, 2),
        "a column twice": (twin, 2),
        "more components than samples": (V[:, :2], 4),
        "large numbers": (1e8 * V, 2),
        "small numbers": (1e-8 * V, 2),
    }


def regular_problems(solver: AnySolver, dtype: DTypeLike = np.float64) -> dict[str, Problem]:
    """Return the small problems that a solver fits."""
    V = low_rank().astype(dtype)
    weights = np.random.default_rng(5).random(V.shape) > 0.2
    plus = ([NonNegative()], [NonNegative()])
    stated = {name: state(V, _RANK, sides) for name, sides in terms().items()}
    stated["counts"] = state(V, _RANK, plus, KullbackLeibler())
    stated["sparse data"] = state(sp.csr_array(np.where(V > 0.3, V, 0)), _RANK, plus)
    stated["weighted"] = state(V, _RANK, plus, WeightedFrobenius(weights))
    stated["sparse weights"] = state(V, _RANK, plus, WeightedFrobenius(sp.csr_array(weights)))
    return {name: problem for name, problem in stated.items() if fits(problem, solver)}


def edge_problems(solver: AnySolver) -> dict[str, Problem]:
    """Return the edge cases under the first terms that a solver fits."""
    found: dict[str, Problem] = {}
    for name, (V, rank) in edges().items():
        plus = ([NonNegative()], [NonNegative()])
        plain = (state(V, rank, plus, loss) for loss in (None, KullbackLeibler()))
        choices = chain(plain, (state(V, rank, sides) for sides in terms().values()))
        problem = next((choice for choice in choices if fits(choice, solver)), None)
        if problem is not None:
            found[name] = problem
    return found


def state(
    V: Data, rank: int, sides: tuple[Sequence[Term], Sequence[Term]], loss: Loss | None = None
) -> Problem:
    """State a problem from terms on (W, H)."""
    return factorize(V, rank, loss=loss, W=sides[0], H=sides[1])


def fits(problem: Problem, solver: AnySolver) -> bool:
    """Whether nothing speaks against the solver."""
    return not solver.mismatches(problem)


def named(problem: Problem | Mapping[str, Problem]) -> dict[str, Problem]:
    """Return problems by name."""
    return dict(problem) if isinstance(problem, Mapping) else {"the problem": problem}
