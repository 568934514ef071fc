"""Sparse non-negative matrix factorization as convex-optimization modeling.

Write a factorization with CVXPY expressions (`Problem`) or from terms (`factorize`), then solve
it with any solver that fits.

Names are imported when they are first used; `__init__.pyi` lists where each one lives.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

import lazy_loader as _lazy_loader

_load, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
_ROOMS = {
    "estimators": "estimators",
    "one_factor": "families.one_factor",
    "coding": "families.coding",
    "autoencoders": "families.autoencoders",
    "measures": "study.measures",
    "extend": "extend",
}


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        return _import_module("importlib.metadata").version(__name__)
    if name in __all__:
        return _load(name)
    raise AttributeError(
        f"module 'conicnmf' has no attribute {name!r}{_place_of(name)}",
        name=name,
        obj=_import_module(__name__),
    )


def _place_of(name: str) -> str:
    """Return where a public name is found that is not at the top."""
    if name.startswith("_"):
        return ""
    for room, module in _ROOMS.items():
        if name in _import_module(f"conicnmf.{module}").__all__:
            return f"; write cn.{room}.{name}"
    return ""
