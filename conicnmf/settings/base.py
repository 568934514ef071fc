"""`Settings`: frozen dataclasses whose fields are checked by their annotations."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, Self, get_type_hints

from conicnmf.errors import InputError
from conicnmf.settings.kinds import ANYTHING, Kind, RefusedError, kind_of, plain
from conicnmf.settings.names import check_names


class Field(NamedTuple):
    """What is known of a setting or an argument: its name, its kind, its default."""

    name: str
    kind: Kind
    default: Any = MISSING

    def read(self, owner: str, value: Any) -> Any:
        """Return a value in its plain form, or raise rule, value and remedy."""
        try:
            return self.kind.read(value, f"{owner} {self.name}")
        except RefusedError:
            named = self.default is not MISSING and f"the default is {shown(self.default)}"
            remedy = self.kind.remedy or named or self.kind.usual
            if inspect.isclass(value) and issubclass(value, Settings):
                remedy = f"write {value.__name__}(), with parentheses"
            raise InputError(
                f"{owner} needs {self.name} to be {self.kind.text}, got "
                f"{self.name}={shown(value)}; {remedy}"
            ) from None


class InitSignature:
    """The signature of a class is that of its `__init__`, whatever `__new__` takes."""

    def __get__(self, settings: Any, kind: Any) -> inspect.Signature:
        return _signature(kind)


class Settings:
    """A frozen dataclass that checks its fields when it is made.

    The annotation of a field is its rule: `int`, `float` (finite), `bool`, `str`, `Literal`,
    functions, classes, tuples of them, `| None`, and `Annotated` with a `Rule` or `Reads`. Numbers
    of NumPy become Python's. Rules across fields go to `check_settings`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Walk(Settings):
    ...     steps: int = 3
    >>> Walk("far")
    Traceback (most recent call last):
    conicnmf.errors.InputError: Walk needs steps to be a whole number, got steps='far'; the ...
    """

    __signature__ = InitSignature()

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Answer names that the class does not have; `__init__` takes the others."""
        if settings:
            check_names(cls.__name__, "setting", settings, cls.__signature__)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for field in _fields_of(kind):
            given = getattr(self, field.name)
            kept = field.read(kind.__name__, given)
            if kept is not given:
                object.__setattr__(self, field.name, kept)
        self.check_settings()

    def check_settings(self) -> None:
        """Raise an `InputError` where settings do not go together; by default they all do."""

    def require(self, holds: bool, rule: str, *names: str, remedy: str) -> None:
        """Raise the rule, the values of these settings and the remedy unless the rule holds."""
        if not holds:
            got = ", ".join(f"{name}={shown(getattr(self, name))}" for name in names)
            raise InputError(f"{type(self).__name__} needs {rule}, got {got}; {remedy}")


@cache
def _signature(kind: Any) -> inspect.Signature:
    own = inspect.signature(kind.__init__)
    return own.replace(parameters=list(own.parameters.values())[1:])


@cache
def _fields_of(kind: Any) -> tuple[Field, ...]:
    """Return what a class says of its fields, those without a rule left out."""
    listed = [field for field in fields(kind) if field.init] if is_dataclass(kind) else []
    found = [Field(own.name, kind_of(_annotation(kind, own.name)), own.default) for own in listed]
    return tuple(field for field in found if field.kind is not ANYTHING)


def _annotation(kind: type, name: str) -> Any:
    """Return a field's annotation, in the words of the module that declares it."""
    for base in kind.__mro__:
        stated = inspect.get_annotations(base)
        if name in stated:
            return resolved(stated[name], base)
    return Any


def resolved(annotation: Any, owner: Any) -> Any:
    """Return an annotation that is written as a text; one that names what is not there is any."""
    module = sys.modules.get(owner.__module__)
    holder: Any = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return get_type_hints(holder, vars(module) if module else {}, include_extras=True)["it"]
    except NameError:
        return Any


def checked(annotation: Any, value: Any, owner: str, name: str) -> Any:
    """Return a value in its plain form, or raise, where a rule is known only at work.

    Examples
    --------
    >>> checked(int, 3, "load", "n_samples")
    3
    """
    return Field(name, kind_of(annotation)).read(owner, value)


def shown(value: Any) -> str:
    """Return a value as a message shows it: short, an array by its shape."""
    try:
        if hasattr(value, "shape") and hasattr(value, "dtype") and value.shape != ():
            return f"an array of shape {value.shape}"
        text = repr(plain(value))
    except Exception:
        return f"{type(value).__name__}, which has no text"
    return text if len(text) <= 80 else f"{text[:60]}… ({type(value).__name__})"


def listed(value: Any) -> list[Any] | None:
    """Return what a value goes through, nothing where it goes through nothing.

    Examples
    --------
    >>> import numpy as np
    >>> listed(range(2)), listed(3), listed(np.array(3.0))
    ([0, 1], None, None)
    """
    if not isinstance(value, Iterable):
        return None
    try:
        return list(value)
    except Exception:  # arrays of no dimension, and whatever an object of the user's may raise
        return None
