"""`checks_arguments`: annotations check the arguments of public functions, as they check settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from conicnmf.settings.base import Field, resolved
from conicnmf.settings.kinds import ANYTHING, kind_of
from conicnmf.settings.names import check_names

P = ParamSpec("P")
R = TypeVar("R")


def checks_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Check what a function is given before it begins.

    Examples
    --------
    >>> @checks_arguments
    ... def walk(steps: int = 3) -> int:
    ...     return steps
    >>> walk(max_steps=5)
    Traceback (most recent call last):
    conicnmf.errors.InputError: walk has no argument max_steps; did you mean steps?
    """
    signature = inspect.signature(function)
    owner = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        check_names(owner, "argument", kwargs, signature)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # too few or too many, which Python says best
        given = bound.arguments
        for field in _arguments(function):  # not before: names may be defined after the function
            if field.name in given:
                given[field.name] = field.read(owner, given[field.name])
        return function(*bound.args, **bound.kwargs)

    return checked


def check_parameters(thing: Any) -> None:
    """Check the attributes that an object keeps of the arguments of its `__init__`, unchanged.

    Examples
    --------
    >>> from conicnmf.estimators import SparseNMF
    >>> check_parameters(SparseNMF(n_components=0))
    Traceback (most recent call last):
    conicnmf.errors.InputError: SparseNMF needs n_components to be a whole number >= 1, got ...
    """
    for field in _arguments(type(thing).__init__):
        field.read(type(thing).__name__, getattr(thing, field.name))


@cache
def _arguments(function: Callable[..., Any]) -> list[Field]:
    """Return what is known of the arguments that have a name and a rule."""
    found = []
    for name, one in inspect.signature(function).parameters.items():
        if one.annotation is one.empty or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        kind = kind_of(resolved(one.annotation, function))
        found.append(Field(name, kind, MISSING if one.default is one.empty else one.default))
    return [field for field in found if field.kind is not ANYTHING]
