"""Solves that take hours: a killed one is resumed when the experiment is run again."""

from __future__ import annotations

import shutil
from typing import Any

import conicnmf as cn
from conicnmf.datasets.local import cache_folder
from conicnmf.model.base import BaseProblem
from conicnmf.study.kept import solve_or_recall


def resumed(name: str, problem: BaseProblem, solver: Any, **options: Any) -> cn.Result:
    """Return the result of a solve; one with a name keeps its state in the cache until it is done.

    Examples
    --------
    >>> import numpy as np
    >>> resumed("", cn.factorize(np.ones((4, 3)), 1), cn.HALS()).status.name
    'CONVERGED'
    """
    folder = cache_folder() / "runs" / name if name else None
    result = solve_or_recall(problem, solver, folder, **options)
    if folder is not None and result.status is not cn.Status.INTERRUPTED:
        shutil.rmtree(folder, ignore_errors=True)
    if result.status.kind == "failed":
        raise cn.SolveError(f"{result.status.name}: {result.status.value}", result)
    return result
