"""How good a dictionary, a code or a fit is."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from conicnmf.errors import InputError
from conicnmf.settings import Reads, checks_arguments
from conicnmf.study.quantized import Matrix, binary_codes, finite, quantize
from conicnmf.study.resampled import interval_by_group
from conicnmf.types import Array, Data
from conicnmf.validate import as_classes, as_data, as_numbers

__all__ = [
    "binary_codes",
    "cosines",
    "dictionary_similarity",
    "equal_error_rate",
    "explained_variance",
    "fisher_ratio",
    "interval_by_group",
    "match_columns",
    "matched_cosines",
    "orthogonality",
    "quantize",
    "rounds_to",
    "support_scores",
]


def _as_vector(x: Any, name: str) -> Array:
    vector = as_numbers(x, name)
    if vector.ndim != 1:
        raise InputError(
            f"{name} must be a list of numbers, got shape {vector.shape}; use .ravel()"
        )
    return finite(vector, name)


Vector: TypeAlias = Annotated[Any, Reads(_as_vector)]


def _unit(columns: Array) -> Array:
    largest = np.abs(columns).max(axis=0, initial=0.0)
    sized = columns / np.where(largest > 0, largest, 1.0)  # whose squares are numbers
    norms = np.linalg.norm(sized, axis=0)
    return np.asarray(sized / np.where(norms > 0, norms, 1.0))


@checks_arguments
def cosines(truth: Matrix, found: Matrix) -> Array:
    """Return the cosine of every column of one dictionary with every column of another.

    Examples
    --------
    >>> import numpy as np
    >>> cosines(np.eye(2), [[3.0], [4.0]]).ravel()
    array([0.6, 0.8])
    """
    first, second = _unit(truth), _unit(found)
    if len(first) != len(second):
        raise InputError(
            f"dictionaries must be matrices with the same features as rows, got shapes "
            f"{first.shape} and {second.shape}; atoms are columns"
        )
    return np.asarray(first.T @ second)


@checks_arguments
def dictionary_similarity(truth: Matrix, found: Matrix) -> float:
    """Return how similar two dictionaries are: the mean best cosine, the worse of both directions.

    Examples
    --------
    >>> import numpy as np
    >>> dictionary_similarity(np.eye(3), 5 * np.eye(3)[:, [2, 0, 1]])
    1.0
    """
    alike = cosines(truth, found)
    return float(min(alike.max(axis=0).mean(), alike.max(axis=1).mean()))


@checks_arguments
def matched_cosines(truth: Matrix, found: Matrix) -> Array:
    """Return the cosine of each true column with the found one that it is matched to.

    The matching is one to one and has the largest sum of cosines; where fewer columns were found
    than there are, the others have cosine 0.

    Examples
    --------
    >>> import numpy as np
    >>> matched_cosines(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([1., 1.])
    """
    rows, _, alike = match_columns(truth, found)
    matched = np.zeros(np.shape(truth)[1])
    matched[rows] = alike
    return matched


@checks_arguments
def match_columns(
    truth: Matrix, found: Matrix, signed: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the pairs of columns, one to one, with the largest sum of cosines, and the cosines.

    With `signed=False` a column and its negative count as the same.

    Examples
    --------
    >>> import numpy as np
    >>> match_columns(np.eye(2), np.array([[0.0, -1.0], [2.0, 0.0]]), signed=False)
    (array([0, 1]), array([1, 0]), array([1., 1.]))
    """
    alike = cosines(truth, found)
    alike = alike if signed else np.abs(alike)
    rows, columns = linear_sum_assignment(-alike)
    return rows, columns, np.asarray(alike[rows, columns])


@checks_arguments
def support_scores(truth: Matrix, found: Matrix) -> tuple[float, float]:
    """Return precision and recall of the non-zeros of a code.

    Examples
    --------
    >>> support_scores([[1, 0], [1, 1]], [[2, 2], [0, 1]])
    (0.6666666666666666, 0.6666666666666666)
    """
    true, hit = truth != 0, found != 0
    if true.shape != hit.shape:
        raise InputError(
            f"codes must have the same shape, got {true.shape} and {hit.shape}; match their atoms first"
        )
    both = float((true & hit).sum())
    return both / max(1, int(hit.sum())), both / max(1, int(true.sum()))


@checks_arguments
def explained_variance(V: Annotated[Data, Reads(as_data)], W: Matrix, H: Matrix) -> float:
    """Return 1 − ‖V − W H‖²/‖V − mean‖², the mean taken over samples.

    Examples
    --------
    >>> import numpy as np
    >>> V = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> explained_variance(V, np.eye(2), V)
    1.0
    """
    if (W.shape[0], H.shape[1]) != V.shape or W.shape[1] != H.shape[0]:
        raise InputError(
            f"W @ H must have the shape of V, {V.shape}, got {W.shape} @ {H.shape}; transpose one"
        )
    mean = np.asarray(V.mean(axis=1), dtype=float).reshape(-1, 1)
    total = _squared_error(V, mean, np.ones((1, V.shape[1])))
    return 1 - _squared_error(V, W, H) / total if total else float("nan")


def _squared_error(V: Data, W: Array, H: Array) -> float:
    """Return ‖V − W H‖², without a dense matrix of the size of V where V is sparse."""
    if not sp.issparse(V):
        return float(np.sum((V - W @ H) ** 2))
    cross = np.sum((V.T @ W).T * H)
    return float(np.sum(np.asarray(V.data) ** 2) - 2 * cross + np.sum((W.T @ W) * (H @ H.T)))


@checks_arguments
def rounds_to(values: Vector, level: float = 0.95) -> int | None:
    """Return the first position at which a curve reaches a level, if it does.

    Examples
    --------
    >>> rounds_to([0.5, 0.9, 0.96])
    2
    """
    reached = np.flatnonzero(values >= level)
    return int(reached[0]) if reached.size else None


@checks_arguments
def orthogonality(W: Matrix) -> float:
    """Return ρ = 1 − the mean cosine of two columns of W ≥ 0: 1 when no two overlap.

    Examples
    --------
    >>> import numpy as np
    >>> orthogonality(np.eye(3)), abs(orthogonality(np.ones((3, 2)))) < 1e-12
    (1.0, True)
    """
    cosines = _unit(W).T @ _unit(W)
    r = len(cosines)
    return float(1 - (cosines.sum() - np.trace(cosines)) / (r * (r - 1))) if r > 1 else 1.0


@checks_arguments
def fisher_ratio(scores: Vector, labels: Any) -> float:
    """Return the variance of the class means of some scores over their variance within classes.

    Examples
    --------
    >>> fisher_ratio([0.0, 2.0, 4.0, 6.0], [0, 0, 1, 1])
    4.0
    """
    _, codes = as_classes(labels, len(scores), "labels")
    means = np.bincount(codes, scores) / np.bincount(codes)
    within = float(np.mean((scores - means[codes]) ** 2))
    between = float(np.mean((means[codes] - scores.mean()) ** 2))
    return between / within if within else float("inf") if between else float("nan")


@checks_arguments
def equal_error_rate(scores: Vector, labels: Any) -> float:
    """Return the error rate at the threshold where both kinds of error are equally frequent.

    `labels` are true for the samples that should have the larger scores. Between two thresholds the
    rates are interpolated.

    Examples
    --------
    >>> equal_error_rate([0.1, 0.4, 0.3, 0.9], [False, False, True, True])
    0.5
    """
    values, positive = scores, np.asarray(as_numbers(labels, "labels")).astype(bool)
    if positive.shape != values.shape or positive.all() or not positive.any():
        raise InputError(
            f"labels must be true for some scores and false for others, one each, got "
            f"{int(positive.sum())} true of {positive.size} for {values.size} scores; write labels == 1"
        )
    cuts = np.append(np.unique(values), np.inf)
    theirs, others = np.sort(values[positive]), np.sort(values[~positive])
    missed = np.searchsorted(theirs, cuts) / theirs.size
    false = (others.size - np.searchsorted(others, cuts)) / others.size
    gap = missed - false  # rises from −1 to 1
    k = int(np.argmax(gap >= 0))
    share = -gap[k - 1] / (gap[k] - gap[k - 1])
    return float(missed[k - 1] + share * (missed[k] - missed[k - 1]))
