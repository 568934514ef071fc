"""How good a dictionary, a code or a fit is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from conicnmf._types import Array
from conicnmf.errors import InputError


def _unit(D: Any) -> Array:
    columns = np.asarray(D, dtype=float)
    norms = np.linalg.norm(columns, axis=0)
    return columns / np.where(norms > 0, norms, 1.0)


def dictionary_similarity(truth: Any, found: Any) -> float:
    """Return how alike two dictionaries are: the mean best cosine, the worse of both directions.

    Examples
    --------
    >>> import numpy as np
    >>> dictionary_similarity(np.eye(3), 5 * np.eye(3)[:, [2, 0, 1]])
    1.0
    """
    cosines = _unit(truth).T @ _unit(found)
    return float(min(cosines.max(axis=0).mean(), cosines.max(axis=1).mean()))


def matched_cosines(truth: Any, found: Any) -> Array:
    """Return the cosine of each true column with the found one that it is matched to.

    The matching is one to one and has the largest sum of cosines.

    Examples
    --------
    >>> import numpy as np
    >>> matched_cosines(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([1., 1.])
    """
    cosines = _unit(truth).T @ _unit(found)
    rows, columns = linear_sum_assignment(-cosines)
    return np.asarray(cosines[rows, columns])


def support_scores(truth: Any, found: Any) -> tuple[float, float]:
    """Return precision and recall of the non-zeros of a code.

    Examples
    --------
    >>> support_scores([[1, 0], [1, 1]], [[2, 2], [0, 1]])
    (0.6666666666666666, 0.6666666666666666)
    """
    true, hit = np.asarray(truth) != 0, np.asarray(found) != 0
    if true.shape != hit.shape:
        raise InputError(f"codes must have the same shape, got {true.shape} and {hit.shape}")
    both = float((true & hit).sum())
    return both / max(1, int(hit.sum())), both / max(1, int(true.sum()))


def explained_variance(V: Any, W: Any, H: Any) -> float:
    """Return 1 − ‖V − W H‖²/‖V − mean‖², the mean taken over samples.

    Examples
    --------
    >>> import numpy as np
    >>> V = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> explained_variance(V, np.eye(2), V)
    1.0
    """
    data = np.asarray(V, dtype=float)
    residual = np.sum((data - np.asarray(W) @ np.asarray(H)) ** 2)
    total = np.sum((data - data.mean(axis=1, keepdims=True)) ** 2)
    return float(1 - residual / total) if total else float("nan")


def rounds_to(values: Any, level: float = 0.95) -> int | None:
    """Return the first position at which a curve reaches a level, if it does.

    Examples
    --------
    >>> rounds_to([0.5, 0.9, 0.96])
    2
    """
    reached = np.flatnonzero(np.asarray(values) >= level)
    return int(reached[0]) if reached.size else None
