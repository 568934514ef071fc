"""Factors that a problem is asked about: a dict with an array of the right shape under each name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.settings import is_mapping, shown
from conicnmf.types import Factors
from conicnmf.validate import as_numbers

Shapes = dict[str, tuple[int, ...]]

_ITERATING: ContextVar[bool] = ContextVar("iterating", default=False)


@contextmanager
def iterating() -> Iterator[None]:
    """Take factors as they are inside: the iterates of a solve fit, and are asked about very often."""
    token = _ITERATING.set(True)
    try:
        # Of iterates that leave the range of numbers the answer is infinite or no number.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    finally:
        _ITERATING.reset(token)


def check_factors_of(kind: type) -> None:
    """Let every public method of a class that takes `factors` read them first.

    Examples
    --------
    >>> class Sum:
    ...     shapes = {"W": (1, 2)}
    ...     def objective(self, factors):
    ...         return float(factors["W"].sum())
    >>> check_factors_of(Sum)
    >>> Sum().objective({"W": [[1, 2]]})
    3.0
    """
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and not name.startswith("_"):
            signature = inspect.signature(method)
            if "factors" in signature.parameters:
                setattr(kind, name, _reading(method, signature))


def _reading(method: Callable[..., Any], signature: inspect.Signature) -> Callable[..., Any]:
    @wraps(method)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if _ITERATING.get():
            return method(*args, **kwargs)
        given = signature.bind_partial(*args, **kwargs)
        if "factors" in given.arguments:
            factors = given.arguments["factors"]
            read = getattr(getattr(args[0], "holding", None), "read", as_factors)
            given.arguments["factors"] = read(factors, args[0].shapes, method.__name__)
        with iterating():
            return method(*given.args, **given.kwargs)

    return checked


def as_factors(factors: Any, shapes: Shapes, asked: str) -> Factors:
    """Return factors as arrays of these shapes; `asked` is who wants to know.

    They may be infinite or no numbers, as iterates are that leave the range of numbers.

    Examples
    --------
    >>> as_factors({"W": [[1, 2]]}, {"W": (2, 1)}, "objective")
    Traceback (most recent call last):
    conicnmf.errors.InputError: objective needs W to have shape (2, 1), got (1, 2); transpose ...
    """
    listed = ", ".join(shapes)
    if not is_mapping(factors):
        raise InputError(
            f"{asked} needs factors to be a dict with an array under each of {listed}, got "
            f"{shown(factors)}; take result.factors"
        )
    for name in [*shapes, *factors]:
        if name not in factors or name not in shapes:
            raise InputError(
                f"{asked} needs an array under each of {listed} and no other name, got "
                f"{', '.join(map(shown, factors)) or 'none'}; take result.factors"
            )
    return {name: _as_array(factors[name], name, shape, asked) for name, shape in shapes.items()}


def _as_array(X: Any, name: str, shape: tuple[int, ...], asked: str) -> Any:
    array = as_numbers(X, f"{asked}: {name}")
    if array.shape != shape:
        raise InputError(
            f"{asked} needs {name} to have shape {shape}, got {array.shape}; transpose or crop it"
        )
    return array if array.dtype.kind == "f" else array.astype(float)
