"""Junk in any field of any settings is answered in our words, never with a raw exception."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.settings import Settings
from tests.settings.junk import JUNK

REQUIRED: dict[str, Any] = {
    "A": np.eye(2),
    "B": np.eye(2),
    "V": np.eye(2),
    "L": np.eye(2),
    "name": "own",
    "inner": cn.Random(),
    "constraint": cn.NormBall(1.0),
    "places": [0],
    "slope_there": np.eye(2),
    "fn": lambda X: X >= 0,
    "groups": [0, 1],
    "k": 1,
    "limit": 3,
    "mask": np.eye(2, dtype=bool),
    "radius": 0.5,
    "rank": 2,
    "rules": (cn.MaxIter(1),),
    "seconds": 1.0,
    "solvers": (cn.HALS(),),
    "solver": cn.HALS(),
    "threshold": 0.1,
    "turned": False,
    "total": 1.0,
    "values": 1.0,
    "weight": 1.0,
    "weights": np.ones((2, 2)),
    "y": [0, 1],
}
"""A value that fits for each field without a default."""


def all_settings() -> list[type[Settings]]:
    """Return every class of settings of the package that has fields."""
    for module in pkgutil.walk_packages(cn.__path__, "conicnmf."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = [], [Settings]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        ours = kind.__module__.startswith("conicnmf") and is_dataclass(kind)
        if ours and not inspect.isabstract(kind) and any(own.init for own in fields(kind)):
            found.append(kind)
    return sorted(set(found), key=lambda kind: (kind.__module__, kind.__name__))


KINDS = all_settings()
PLACES = [(kind, own.name) for kind in KINDS for own in fields(kind) if own.init]


def needed(kind: type[Settings]) -> dict[str, Any]:
    required = [
        own.name
        for own in fields(kind)  # type: ignore[arg-type]
        if own.init and own.default is MISSING and own.default_factory is MISSING
    ]
    return {name: REQUIRED[name] for name in required}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_settings_can_be_made_from_what_fits(kind):
    kind(**needed(kind))


@pytest.mark.parametrize(("kind", "name"), PLACES, ids=lambda part: getattr(part, "__name__", part))
def test_junk_is_answered_in_our_words(kind, name):
    for junk in JUNK.values():
        try:
            made = kind(**(needed(kind) | {name: junk}))
        except cn.ConicNMFError as error:
            says = str(error)
            assert says.startswith(kind.__name__), says
            assert name in says, says
            assert " got " in says, says
            assert "; " in says, says
        else:
            repr(made)
