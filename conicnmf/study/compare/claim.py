"""What a comparison is about, in words that can be compared later."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Factors


def claim_of(
    problems: Mapping[str, BaseProblem],
    solvers: Mapping[str, AnySolver],
    init: Any,
    stop: Any,
    time_limit: float | None,
) -> dict[str, str]:
    """Return what two comparisons must agree on for their runs to stand in one table.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> claim = claim_of({"ones": cn.factorize(np.ones((2, 2)), 1)}, {}, None, 5, None)
    >>> sorted(claim)
    ['data of ones', 'init', 'problem ones', 'stop', 'time limit', 'values of ones', 'version']
    """
    claim = {
        "version": f"conicnmf {version('conicnmf')}",
        "init": "the default" if init is None else _digest(init),
        "stop": _words(stop),
        "time limit": "none" if time_limit is None else f"{time_limit:g} s",
    }
    for label, problem in problems.items():
        claim[f"problem {label}"] = _words(problem)
        data = [fit.V for fit in problem.fits] if problem.fits else getattr(problem, "V", None)
        if data is not None:
            claim[f"data of {label}"] = _digest(data)
        values = _probe(problem)
        if values is not None:
            claim[f"values of {label}"] = values
    return claim | {f"solver {name}": _words(solver) for name, solver in solvers.items()}


def _words(thing: Any) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))  # addresses change with each process


def _digest(thing: Any) -> str:
    try:
        return str(joblib.hash(thing))
    except (pickle.PicklingError, TypeError, AttributeError):
        return _words(thing)


def _probe(problem: BaseProblem) -> str | None:
    """Return objective and violations at a random point: what a function does, not how it prints."""
    rng = np.random.default_rng(0)
    factors: Factors = {name: rng.random(shape) for name, shape in problem.shapes.items()}
    try:
        values = [problem.objective(factors), *problem.violations(factors).values()]
    except Exception:  # a user's own term may raise anything; the runs will tell
        return None
    return ", ".join(f"{value:.6e}" for value in values)
