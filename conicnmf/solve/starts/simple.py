"""Starting factors before the constraints are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.problem import Problem
from conicnmf.model.variables import Source
from conicnmf.registry import Registry, with_defaults
from conicnmf.settings import AS_GIVEN, Settings, is_mapping
from conicnmf.solve.starts.missing import without_missing
from conicnmf.types import Array, Factors
from conicnmf.validate import as_matrix, as_numbers


class Start(Settings):
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
        return _scaled(problem, _drawn(problem, rng))


@dataclass(frozen=True, eq=False, init=False)
class Given(Start):
    """Your own arrays, by name or by CVXPY variable; the others are drawn at random.

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
        if len(arrays) == 1 and is_mapping(arrays[0]):
            values = dict(arrays[0])
        else:
            values = dict(enumerate(arrays))  # in the order of the problem's variables
        object.__setattr__(self, "values", values | named)

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Check names and shapes, and copy."""
        drawn, given = _drawn(problem, rng), Factors()
        for key, X in self.values.items():
            name, source = _named(problem, key)
            if X is not None:
                own = _as_held(X, name, problem.variables[name].shape, source)
                given |= problem.units.inward({name: own.astype(drawn[name].dtype)})
        # The scale of what is drawn takes a pass over the data, and matters where something is missing.
        return given if drawn.keys() <= given.keys() else _scaled(problem, drawn) | given


def _as_held(X: Any, name: str, shape: tuple[int, int], source: Source | None) -> Array:
    """Return a start as the problem holds it, once it has the shape of the user's variable."""
    if source is None:
        return as_matrix(X, f"start {name}", shape)
    label, wanted = f"start {source.name or name}", source.variable.shape
    if len(wanted) == 2:
        return source.inward(as_matrix(X, label, wanted))
    vector = as_numbers(X, label)
    if vector.shape != wanted:
        raise InputError(f"{label} must have shape {wanted}, got {vector.shape}; reshape it")
    return source.inward(as_matrix(vector.reshape(-1, 1), label, (vector.size, 1)))


def _named(problem: Problem, key: Any) -> tuple[str, Source | None]:
    """Return the name of a variable from a key, and its source where the key is the user's."""
    source = problem.source(key)
    if source is not None:
        return source
    if isinstance(key, int) and key < len(problem.variables):
        return list(problem.variables)[key], None
    if isinstance(key, str) and key in problem.variables:
        return key, None
    raise InputError(
        f"a start names variables of the problem, got {key}; its variables are {_listed(problem)}"
    )


def _listed(problem: Problem) -> str:
    """Return the names of the variables, each with the user's own name for it."""
    own = {name: source.name for name, source in problem.sources.items()}
    return ", ".join(
        f"{name} ({own[name]})" if own.get(name, name) not in ("", name) else name
        for name in problem.variables
    )


def _fault(thing: Any) -> str:
    fits = isinstance(thing, type) and issubclass(thing, Start)
    return "" if fits else "it is not a class of a Start"


STARTS: Registry[type[Start]] = Registry("start", "conicnmf.starts", _fault)
for _kind in (Random, Given):
    STARTS.add(_kind.__name__, _kind)


Init: TypeAlias = Annotated[Start | Mapping[Any, Any] | Sequence[Any] | str | None, AS_GIVEN]
"""What may stand for a start: a `Start`, its name, or arrays; `as_start` reads it."""


def as_start(init: Any, problem: Problem | None = None) -> Start:
    """Return a start, given as an object, by its name or as arrays; `Random` if there is none.

    Arrays come as a mapping of names, or as a tuple in the order of the problem's variables.
    """
    if init is None:
        return Random()
    if isinstance(init, str):
        named: Start = with_defaults(STARTS.find(init), "start")
        return named
    if isinstance(init, Start):
        return init
    if is_mapping(init):
        return Given(init)
    names = ("W", "H") if problem is None else tuple(problem.variables)
    if isinstance(init, (tuple, list)) and len(init) == len(names):
        return Given(*init)
    if isinstance(init, np.ndarray) and len(names) == 1:
        return Given({names[0]: init})
    raise InputError(
        "init must be a Start such as Random() or NNDSVD(), the name of one, or arrays such as a "
        f"pair ({', '.join(names)}), got {init!r}; the names are {', '.join(STARTS.names())}"
    )


def _drawn(problem: Problem, rng: np.random.Generator) -> Factors:
    """Draw all variables, of whatever scale."""
    drawn: Factors = {}
    for block in problem.blocks:
        shape = problem.variables[block.name].shape
        # Between two factors a sign can be taken over by either; half of them wrong kills
        # components of non-negative neighbors.
        positive = block.nonneg or _is_middle(problem, block.name)
        entries = rng.random(shape) if positive else rng.standard_normal(shape)
        drawn[block.name] = entries.astype(problem.dtype)
    return drawn


def _is_middle(problem: Problem, name: str) -> bool:
    """Whether a variable stands between others in every fit that it is in."""
    own = [fit for fit in problem.fits if name in fit.variables]
    chains = [fit.place(name)[0] for fit in own]
    return bool(own) and all(name in chain.names[1:-1] for chain in chains)


def _scaled(problem: Problem, drawn: Factors) -> Factors:
    """Scale all variables by the same number so that the models fit their data best."""
    cross = norm = 0.0
    for fit in problem.fits:
        L, R = fit.model(drawn)
        if (L.shape[0], R.shape[1]) != fit.V.shape:
            continue
        cross += float(np.einsum("ij,ij->", L.T @ without_missing(fit), R))
        norm += float(np.einsum("ij,ij->", L.T @ L, R @ R.T))
    if norm == 0 or cross == 0:
        return drawn
    degree = max(len(chain.names) for fit in problem.fits for chain in fit.chains)
    root = problem.dtype.type(float(abs(cross) / norm) ** (1 / degree))
    return {name: root * X for name, X in drawn.items()}
