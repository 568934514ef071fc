"""What an annotation asks of a value: the kind in words, and a reader that keeps or refuses it."""

from __future__ import annotations

import collections.abc
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, TypeGuard, Union

import numpy as np
import scipy.sparse as sp

from conicnmf.settings.rules import LARGEST, Reads, Rule, is_finite


class RefusedError(Exception):
    """A value is not of a kind."""


class Kind(NamedTuple):
    """A kind of values.

    `read(value, name)` returns the value in its plain form; `name` is what messages call it. A rule
    may bring a remedy of its own; the usual one serves where there is no default to name.
    """

    text: str
    read: Callable[[Any, str], Any]
    usual: str = ""
    remedy: str = ""
    last: bool = False
    """Whether it says itself what is wrong, so that others are asked before."""


def kind_of(annotation: Any) -> Kind:
    """Return the kind of values that an annotation allows; what it does not know allows all.

    Examples
    --------
    >>> kind_of(int | None).text
    'a whole number or None'
    """
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _annotated(*typing.get_args(annotation))
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Literal:
        return _choice(typing.get_args(annotation))
    if origin in (Union, types.UnionType):
        return _union([kind_of(part) for part in typing.get_args(annotation)])
    if origin is tuple:
        return _tuple(typing.get_args(annotation))
    if origin is collections.abc.Callable:
        return Kind("a function", _keep_if(callable), "give a function or a lambda")
    if origin is type:
        return _subclass(typing.get_args(annotation)[0])
    kind = origin or annotation
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return _mapping(*map(kind_of, typing.get_args(annotation)))
    protocol = getattr(kind, "_is_protocol", False)
    if inspect.isclass(kind) and (not protocol or getattr(kind, "_is_runtime_protocol", False)):
        return _instance(kind)
    return ANYTHING


def _keep_if(fits: Callable[[Any], bool]) -> Callable[[Any, str], Any]:
    def read(value: Any, name: str) -> Any:
        if not fits(value):
            raise RefusedError
        return value

    return read


def plain(value: Any) -> Any:
    """Return the Python value for a number, a truth value or a text of NumPy."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    return value.item() if isinstance(value, (np.number, np.bool_, np.str_)) else value


def is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a value has things under names; SciPy's sparse matrix of keys is a dict and has none.

    Examples
    --------
    >>> is_mapping({"a": 1})
    True
    """
    return isinstance(value, Mapping) and not sp.issparse(value)


def _truth(value: Any, name: str) -> bool:
    own = plain(value)
    if not isinstance(own, bool):
        raise RefusedError
    return own


def _whole(value: Any, name: str) -> int:
    own = plain(value)
    if isinstance(own, bool) or not isinstance(own, int) or abs(own) > LARGEST:
        raise RefusedError
    return own


def _number(value: Any, name: str) -> float:
    own = _number_or_infinity(value, name)
    if not is_finite(own):
        raise RefusedError
    return own


def _number_or_infinity(value: Any, name: str) -> float:
    own = plain(value)
    if isinstance(own, bool) or not isinstance(own, (int, float)):
        raise RefusedError
    if isinstance(own, float) and math.isnan(own):
        raise RefusedError
    if isinstance(own, int) and abs(own) > LARGEST:  # which arrays cannot hold
        if not is_finite(own):
            raise RefusedError
        return float(own)
    return own


def _instance(kind: type) -> Kind:
    article = "an" if kind.__name__[0] in "AEIOUaeiou" else "a"
    text = f"{article} {kind.__name__}"

    def read(value: Any, name: str) -> Any:
        if not isinstance(value, kind):
            raise RefusedError
        return value

    return Kind(text, read, f"give {text}")


def _subclass(base: Any) -> Kind:
    own = typing.get_origin(base) or base
    fits = _keep_if(lambda value: inspect.isclass(value) and issubclass(value, own))
    return Kind(f"a class of {own.__name__}", fits, "give the class, without parentheses")


def _choice(choices: tuple[Any, ...]) -> Kind:
    listed = ", ".join(map(repr, choices))

    def read(value: Any, name: str) -> Any:
        own = plain(value)
        # Arrays answer `in` with arrays, and 1 is True.
        if not any(type(own) is type(choice) and own == choice for choice in choices):
            raise RefusedError
        return own

    return Kind(f"one of {listed}", read, f"try {choices[0]!r}")


def _union(parts: list[Kind]) -> Kind:
    if ANYTHING in parts:
        return ANYTHING
    ordered = sorted(parts, key=lambda part: part.last)

    def read(value: Any, name: str) -> Any:
        for part in ordered:
            try:
                return part.read(value, name)
            except RefusedError:
                continue
        raise RefusedError

    remedy = next((part.remedy for part in parts if part.remedy), "")
    return Kind(" or ".join(part.text for part in parts), read, parts[0].usual, remedy)


def _tuple(annotations: tuple[Any, ...]) -> Kind:
    """Return the kind of tuples of any length, `tuple[T, ...]`, or of so many parts."""
    any_length = annotations[1:] == (...,)
    items = [kind_of(part) for part in annotations[: 1 if any_length else None]]

    def read(value: Any, name: str) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)):
            raise RefusedError
        wanted = items * len(value) if any_length else items
        if len(wanted) != len(value):
            raise RefusedError
        kept = tuple(item.read(part, name) for item, part in zip(wanted, value, strict=True))
        same = all(own is given for own, given in zip(kept, value, strict=True))
        return value if isinstance(value, tuple) and same else kept

    if any_length:
        text, usual = f"a tuple with {items[0].text} in each place", "put it in parentheses: (x,)"
    else:
        listed = ", ".join(item.text for item in items)
        text, usual = f"a tuple ({listed})", f"give {len(items)} values in parentheses"
    return Kind(text, read, usual)


def _mapping(key: Kind, item: Kind) -> Kind:
    def read(value: Any, name: str) -> Any:
        if not is_mapping(value):
            raise RefusedError
        for own, part in value.items():
            key.read(own, name)
            item.read(part, name)
        return value

    text = "a dict" if item is ANYTHING else f"a dict with {item.text} under each name"
    return Kind(text, read, "write {name: value}")


def _annotated(annotation: Any, *rules: Any) -> Kind:
    own = [rule for rule in rules if isinstance(rule, Rule)]
    infinite = any(rule.infinite for rule in own)
    base = NUMBER_OR_INFINITY if annotation is float and infinite else kind_of(annotation)
    reader = next((rule.read for rule in rules if isinstance(rule, Reads)), None)

    def read(value: Any, name: str) -> Any:
        kept = (reader or base.read)(value, name)
        if not all(rule.holds(kept) for rule in own):
            raise RefusedError
        return kept

    text = " ".join([base.text, *(rule.text for rule in own if rule.text)])
    remedy = next((rule.remedy for rule in own if rule.remedy), base.remedy)
    return Kind(text, read, base.usual, remedy, reader is not None)


ANYTHING = Kind("anything", lambda value, name: value)
NUMBER_OR_INFINITY = Kind("a number", _number_or_infinity, "try 1")
_PLAIN: dict[Any, Kind] = {
    Any: ANYTHING,
    bool: Kind("True or False", _truth, "write True or False"),
    int: Kind("a whole number", _whole, "try 1"),
    float: Kind("a finite number", _number, "try 1"),
    str: Kind("a text", _keep_if(lambda value: isinstance(value, str)), "put it in quotes"),
    None: Kind("None", _keep_if(lambda value: value is None)),
    type(None): Kind("None", _keep_if(lambda value: value is None)),
}
