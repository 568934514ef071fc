"""Is one solver better than another, or was it luck? Paired signed-rank tests over shared starts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.stats import rankdata, wilcoxon

from conicnmf.results import Result
from conicnmf.study.compare.curves import scores_of
from conicnmf.study.compare.rows import Task
from conicnmf.types import Array

if TYPE_CHECKING:
    import pandas as pd

_EXACT = 300
_LEVEL_WITH = 1e-9
"""Values that differ by less than this part of the larger are level."""


def significance(
    table: pd.DataFrame,
    results: Mapping[Task, Result],
    measure: Literal["objective", "seconds"],
    level: float,
    tolerance: float,
) -> pd.DataFrame:
    """Return one row a pair of solvers; see `Comparison.significance`."""
    import pandas as pd

    scores = scores_of(table, results, measure, tolerance)
    rows = [_pair(first, second, scores) for first, second in combinations(scores, 2)]
    columns = ["first", "second", "pairs", "lower", "higher", "level", "ratio", "p"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["p_holm"] = holm(frame["p"].to_numpy(dtype=float))
    frame["finding"] = [_finding(row, len(rows), level) for row in frame.to_dict("records")]
    return frame


def _pair(
    first: str, second: str, scores: Mapping[str, Mapping[tuple[str, int], float]]
) -> dict[str, Any]:
    shared = [key for key in scores[first] if key in scores[second]]
    a = np.array([scores[first][key] for key in shared])
    b = np.array([scores[second][key] for key in shared])
    some = np.isfinite(a) | np.isfinite(b)  # where both failed nothing is to be learned
    a, b = a[some], b[some]
    d = _differences(a, b)
    positive = bool(a.size) and bool((a > 0).all() and (b > 0).all())
    return {
        "first": first,
        "second": second,
        "pairs": a.size,
        "lower": int((d < 0).sum()),
        "higher": int((d > 0).sum()),
        "level": int((d == 0).sum()),
        "ratio": float(np.median(a / b)) if positive else np.nan,
        "p": signed_rank(d),
    }


def _differences(a: Array, b: Array) -> Array:
    """Return (a − b)/max(|a|, |b|), ±3 where one failed, which is beyond any other."""
    finite = np.isfinite(a) & np.isfinite(b)
    size = np.maximum(np.abs(a), np.abs(b))
    d = np.where(np.isfinite(a), -3.0, 3.0)
    d[finite] = (a[finite] - b[finite]) / np.where(size[finite] > 0, size[finite], 1.0)
    return np.where(np.abs(d) <= _LEVEL_WITH, 0.0, d)


def signed_rank(d: Array) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test, zeros left out, ties exact.

    Examples
    --------
    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    0.03125
    """
    d = d[d != 0]
    if d.size > _EXACT:
        return float(wilcoxon(d, method="asymptotic").pvalue)
    # Twice the mid-ranks are whole numbers, so the sums of all 2ⁿ signings can be counted.
    doubled = np.rint(2 * rankdata(np.abs(d))).astype(int)
    chances = np.ones(1)
    for rank in doubled:
        longer = np.zeros(chances.size + rank)
        longer[: chances.size] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    positive = int(doubled[d > 0].sum())
    low = min(positive, int(doubled.sum()) - positive)
    return min(1.0, 2 * float(chances[: low + 1].sum()))


def holm(p: Array) -> Array:
    """Return p after Holm's step-down correction.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def _finding(row: Mapping[Any, Any], tests: int, level: float) -> str:
    """Say what follows, and whether so few pairs could have shown anything at all."""
    if row["p_holm"] <= level:
        name = row["first"] if row["lower"] > row["higher"] else row["second"]
        return f"{name} is lower"
    if row["pairs"] and row["level"] == row["pairs"]:
        return "level in every pair"
    needed = int(np.ceil(1 + np.log2(tests) - np.log2(level)))  # the least p of n pairs is 2¹⁻ⁿ
    if row["lower"] + row["higher"] < needed:
        return f"too few pairs that differ: at least {needed} are needed"
    return "no difference seen"
