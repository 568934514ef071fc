"""What a comparison is about, in words that can be compared later."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from conicnmf.model.base import BaseProblem
from conicnmf.model.digest import Digest, part
from conicnmf.solve.methods.base import AnySolver
from conicnmf.study.compare.rows import Task

Claim = Mapping[str, str]
"""What is compared and how, part by part; see `claim_of`."""


def claim_of(
    problems: Mapping[str, BaseProblem],
    solvers: Mapping[str, AnySolver],
    init: Any,
    stop: Any,
    time_limit: float | None,
) -> Digest:
    """Return what two comparisons must agree on for their runs to stand in one table.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> claim = claim_of({"ones": cn.factorize(np.ones((2, 2)), 1)}, {}, None, 5, None)
    >>> [name for name in claim if "ones" not in name]
    ['version', 'init', 'stop', 'time limit']
    >>> claim["terms on H of ones"].split(" #")[0]
    'NonNegative()'
    """
    claim = {
        "version": f"conicnmf {version('conicnmf')}",
        "init": part(init, "the default" if init is None else None),
        "stop": part(stop),
        "time limit": "none" if time_limit is None else f"{time_limit:g} s",
    }
    for label, problem in problems.items():
        claim |= {_of(label, name): text for name, text in problem.digest.items()}
    return claim | {f"solver {name}": part(solver) for name, solver in solvers.items()}


def claim_of_run(claim: Claim, task: Task) -> Digest:
    """Return what a stored run says of itself: what it was made of, and how.

    Examples
    --------
    >>> claim = {"stop": "5", "data V of a": "#1", "solver HALS": "HALS()", "solver ANLS": "ANLS()"}
    >>> claim_of_run(claim, ("a", "HALS", 0))
    {'stop': '5', 'solver HALS': 'HALS()', 'data V': '#1', 'run': 'HALS on a, seed 0'}
    """
    label, solver, seed = task
    shared = ("version", "init", "stop", "time limit", f"solver {solver}")
    own = {name: claim[name] for name in shared if name in claim}
    ending = _of(label, "")
    stated = {name.removesuffix(ending): claim[name] for name in claim if name.endswith(ending)}
    return own | stated | {"run": f"{solver} on {label}, seed {seed}"}


def _of(label: str, name: str) -> str:
    return f"{name} of {label}"
