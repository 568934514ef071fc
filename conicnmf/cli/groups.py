"""Options in groups: a command takes a dataclass, the shell its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let the shell give the fields of each dataclass that a command takes as options of their own.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> def shift(point: Point, by: int = 1) -> None:
    ...     print(point.x + by, point.y)
    >>> grouped(shift)(x=3, by=2)
    5 0
    """
    hints = get_type_hints(command, include_extras=True)
    kinds: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in kinds:
            options += _options(kinds[name])
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            options.append(parameter.replace(kind=kind, annotation=hints[name]))
    names = {name: [field.name for field in fields(kind)] for name, kind in kinds.items()}

    @wraps(command)
    def from_shell(**given: Any) -> None:
        groups = {
            name: kind(**{key: given.pop(key) for key in names[name] if key in given})
            for name, kind in kinds.items()
        }
        command(**groups, **given)

    shown: Any = from_shell
    shown.__signature__ = inspect.Signature(options)
    shown.__annotations__ = {option.name: option.annotation for option in options}
    return from_shell


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
