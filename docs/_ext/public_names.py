"""The public names of the package in groups, for the API pages."""

from __future__ import annotations

from inspect import isroutine
from types import ModuleType
from typing import Any

import conicnmf
import experiments
from conicnmf import datasets, estimators, extend, report, testing
from conicnmf.errors import ConicNMFError
from conicnmf.families import autoencoders, coding, one_factor
from conicnmf.model.terms import Constraint, Loss, Penalty
from conicnmf.solve.methods import Solver
from conicnmf.solve.starts import Start
from conicnmf.solve.stop import Stop
from conicnmf.study import measures

_KINDS: dict[str, type] = {
    "Losses": Loss,
    "Constraints": Constraint,
    "Penalties": Penalty,
    "Solvers": Solver,
    "Starts": Start,
    "Stop rules": Stop,
    "Errors": ConicNMFError,
}
MODULES = (
    coding,
    one_factor,
    autoencoders,
    estimators,
    report,
    datasets,
    measures,
    testing,
    extend,
    experiments,
)
_ORDER = ["Functions", "Objects", *_KINDS]


def groups() -> dict[str, dict[str, list[str]]]:
    """Return the names in `__all__` of each public module, by module and kind, each thing once."""
    seen: set[int] = set()
    return {module.__name__: _sorted(module, seen) for module in (conicnmf, *MODULES)}


def _sorted(module: ModuleType, seen: set[int]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {title: [] for title in _ORDER}
    for name in module.__all__:
        thing = getattr(module, name)
        documented = isroutine(thing) or (isinstance(thing, type) and thing is not Any)
        if documented and id(thing) not in seen:
            seen.add(id(thing))
            found[_kind(thing)].append(name)
    return {title: names for title, names in found.items() if names}


def _kind(thing: Any) -> str:
    if isroutine(thing):
        return "Functions"
    return next((title for title, base in _KINDS.items() if issubclass(thing, base)), "Objects")
