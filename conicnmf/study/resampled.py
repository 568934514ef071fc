"""How far a figure moves when samples are drawn again, whole groups of them at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.errors import InputError
from conicnmf.settings import Count, Share, Whole, checks_arguments
from conicnmf.validate import as_array, as_classes


@checks_arguments
def interval_by_group(
    measure: Callable[[NDArray[np.intp]], float],
    groups: Any,
    *,
    level: Share = 0.95,
    draws: Count = 1000,
    seed: Whole = 0,
) -> tuple[float, float]:
    """Return between which values a measure is in a share `level` of draws of whole groups.

    Samples of one subject, document or day are similar, so an interval that draws them one by one
    is too narrow. Here as many groups as there are are drawn with replacement, each with all its
    samples (the percentile bootstrap by cluster).

    Parameters
    ----------
    measure : callable
        From the indices of the samples that were drawn, some more than once, to a number.
    groups : array of shape (n,)
        The group of each sample.
    level : float
        The share of the draws between the bounds.
    draws : int
    seed : int

    Returns
    -------
    tuple of float
        Draws for which the measure is not a number do not count.

    Examples
    --------
    >>> import numpy as np
    >>> wrong = np.array([1, 1, 1, 0, 0, 0])
    >>> interval_by_group(lambda drawn: wrong[drawn].mean(), ["Ann"] * 3 + ["Bob"] * 3)
    (0.0, 1.0)
    """
    labels = as_array(groups, "groups")
    names, which = as_classes(labels, labels.size, "groups")
    if not len(names):
        raise InputError("groups must give the group of each sample, got none; name one for each")
    own = [np.flatnonzero(which == k) for k in range(len(names))]
    rng = np.random.default_rng(seed)
    values = np.array(
        [
            measure(np.concatenate([own[k] for k in rng.integers(len(own), size=len(own))]))
            for _ in range(draws)
        ]
    )
    values = values[~np.isnan(values)]
    if not values.size:
        raise InputError("measure is not a number for any draw; look at measure(np.arange(n))")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
