"""Starting factors before the constraints are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from conicnmf.errors import InputError
from conicnmf.model.known import with_defaults
from conicnmf.model.problem import Problem
from conicnmf.registry import Registry
from conicnmf.types import Array, Data, Factors, stored
from conicnmf.validate import as_matrix, check_choice


class Start:
    """A rule for starting factors; the same generator state gives the same factors."""

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Return W and H of the problem's shapes."""
        raise TypeError(f"{type(self).__name__} must define factors(problem, rng)")


@dataclass(frozen=True)
class Random(Start):
    """Independent entries, uniform on [0, 1) (normal for signed factors), scaled to fit V.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.factorize(np.ones((4, 3)), 2).solve(cn.HALS(), init=Random(), seed=7).seed
    7
    """

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Draw one variable after the other, then scale them."""
        drawn: Factors = {}
        for block in problem.blocks:
            shape = problem.variables[block.name].shape
            entries = rng.random(shape) if block.nonneg else rng.standard_normal(shape)
            drawn[block.name] = entries.astype(problem.dtype)
        return _scaled(problem, drawn)


@dataclass(frozen=True)
class NNDSVD(Start):
    """Non-negative parts of the leading singular vectors.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of V, or small random numbers. Methods that multiply
        cannot leave zero, so "mean" is the default.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((6, 5))
    >>> cn.factorize(V, 2).solve(cn.HALS(), init=NNDSVD()).status.name
    'CONVERGED'
    """

    fill: Literal["zero", "mean", "random"] = "mean"

    def __post_init__(self) -> None:
        check_choice("NNDSVD fill", self.fill, ("zero", "mean", "random"))

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Split each pair of singular vectors into its dominant signed half."""
        V, rank = _two_factors(problem)
        if stored(V).min(initial=0.0) < 0:
            raise InputError("NNDSVD needs V >= 0, got negative entries; use Random() instead")
        W, H = _nndsvd(V, rank, rng)
        mean = float(V.mean())
        for X in (W, H):
            empty = X == 0
            if self.fill == "mean":
                X[empty] = mean
            elif self.fill == "random":
                X[empty] = mean / 100 * rng.random(int(empty.sum()))
        return {"W": W.astype(V.dtype), "H": H.astype(V.dtype)}


@dataclass(frozen=True, eq=False, init=False)
class Given(Start):
    """Variables the user brings, by name or by CVXPY variable; a missing one is drawn at random.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> W = np.ones((4, 1))
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS(), init=Given(W=W), stop=0)
    >>> result.W.ravel()
    array([1., 1., 1., 1.])
    """

    values: Mapping[Any, Any]

    def __init__(self, *arrays: Any, **named: Any) -> None:
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            values = dict(arrays[0])
        else:
            values = dict(enumerate(arrays))  # in the order of the problem's variables
        object.__setattr__(self, "values", values | named)

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Check names and shapes, and copy."""
        drawn = Random().factors(problem, rng)
        for key, X in self.values.items():
            name, flipped = _named(problem, key)
            shape = problem.variables[name].shape
            if X is not None:
                given = as_matrix(X, f"start {name}", shape[::-1] if flipped else shape)
                drawn[name] = (given.T if flipped else given).astype(drawn[name].dtype)
        return drawn


def _named(problem: Problem, key: Any) -> tuple[str, bool]:
    """Return the name of a variable from its name or its CVXPY variable, and if it is turned."""
    source = problem.source(key)
    if source is not None:
        return source
    if isinstance(key, int) and key < len(problem.variables):
        return list(problem.variables)[key], False
    if isinstance(key, str) and key in problem.variables:
        return key, False
    raise InputError(
        f"a start names variables of the problem, got {key}; they are {', '.join(problem.variables)}"
    )


def _fault(thing: Any) -> str:
    fits = isinstance(thing, type) and issubclass(thing, Start)
    return "" if fits else "it is no class of a Start"


STARTS: Registry[type[Start]] = Registry("start", "conicnmf.starts", _fault)
for _kind in (Random, NNDSVD, Given):
    STARTS.add(_kind.__name__, _kind)


Init: TypeAlias = Start | Mapping[str, Any] | Sequence[Any] | str | None
"""What may stand for a start: a `Start`, its name, or arrays."""


def as_start(init: Any, problem: Problem | None = None) -> Start:
    """Return a start: as it is, by its name, from arrays, or `Random` for nothing.

    Arrays come as a mapping of names, or as a tuple in the order of the problem's variables.
    """
    if init is None:
        return Random()
    if isinstance(init, str):
        return with_defaults(STARTS.find(init), "the start")
    if isinstance(init, Start):
        return init
    if isinstance(init, Mapping):
        return Given(init)
    names = ("W", "H") if problem is None else tuple(problem.variables)
    if isinstance(init, (tuple, list)) and len(init) == len(names):
        return Given(*init)
    if isinstance(init, np.ndarray) and len(names) == 1:
        return Given({names[0]: init})
    raise InputError(
        "init must be a Start such as Random() or NNDSVD(), the name of one, or arrays such as a "
        f"pair ({', '.join(names)}), got {init!r}; known are {', '.join(STARTS.names())}"
    )


def _scaled(problem: Problem, drawn: Factors) -> Factors:
    """Scale all variables by the same number so that the models fit their data best."""
    cross = norm = 0.0
    for fit in problem.fits:
        L, R = fit.model(drawn)
        if (L.shape[0], R.shape[1]) != fit.V.shape:
            continue
        cross += float(np.einsum("ij,ij->", L.T @ fit.V, R))
        norm += float(np.einsum("ij,ij->", L.T @ L, R @ R.T))
    if norm == 0 or cross == 0:
        return drawn
    degree = max(len(chain.names) for fit in problem.fits for chain in fit.chains)
    root = problem.dtype.type(float(abs(cross) / norm) ** (1 / degree))
    return {name: root * X for name, X in drawn.items()}


def _two_factors(problem: Problem) -> tuple[Data, int]:
    """Return the data and the rank of a plain product of W and H."""
    if set(problem.variables) != {"W", "H"} or len(problem.fits) != 1:
        raise InputError(
            f"NNDSVD starts V ≈ W H, got {', '.join(map(str, problem.fits))}; use Random() instead"
        )
    return problem.V, problem.variables["W"].shape[1]


def _nndsvd(V: Data, rank: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the non-negative double SVD, zero beyond the rank the data can give."""
    m, n = V.shape
    W, H = np.zeros((m, rank)), np.zeros((rank, n))
    count = min(rank, m, n)
    if not stored(V).any():
        return W, H
    if count < min(m, n):
        U, s, Vt = svds(V.astype(np.float64), k=count, v0=rng.random(min(m, n)))
        order = np.argsort(-s)
        U, s, Vt = U[:, order], s[order], Vt[order]
    else:
        dense = V.toarray() if sp.issparse(V) else V
        U, s, Vt = np.linalg.svd(dense, full_matrices=False)
    for j in range(count):
        u, v = U[:, j], Vt[j]
        halves = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        left, right = max(
            halves, key=lambda half: np.linalg.norm(half[0]) * np.linalg.norm(half[1])
        )
        norms = float(np.linalg.norm(left)), float(np.linalg.norm(right))
        if 0 in norms:
            continue
        size = np.sqrt(s[j] * norms[0] * norms[1])
        W[:, j], H[j] = size * left / norms[0], size * right / norms[1]
    return W, H
