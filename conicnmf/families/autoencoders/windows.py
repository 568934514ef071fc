"""Local filters to start from: random samples seen through small windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.autoencoders.inputs import as_samples, samples_at
from conicnmf.settings import Count, Positive, Whole, checks_arguments
from conicnmf.types import Array


@checks_arguments
def windows(
    V: Any,
    rank: Count,
    image_shape: tuple[Count, Count],
    width: Positive | None = None,
    seed: Whole = 0,
    signed: bool = False,
) -> Array:
    """Return `rank` random samples, each times a Gaussian window at a random place.

    Gradient steps make scattered filters local only slowly; these are local from the start.

    Parameters
    ----------
    V : array or sparse matrix of shape (d, M)
        Images as columns, row by row. Each is shifted to a least value of zero.
    rank : int
    image_shape : tuple of int
        Rows and columns of an image.
    width : float, optional
        Standard deviation of a window in pixels; an eighth of the image by default.
    seed : int
    signed : bool
        Take differences of two random samples: filters of both signs.

    Returns
    -------
    array of shape (d, rank)
        For example as ``init={"W": …}`` of a solve.

    Examples
    --------
    >>> windows(np.random.default_rng(0).random((12, 5)), 7, (3, 4)).shape
    (12, 7)
    """
    X, n = as_samples(V, "V"), rank
    rows, columns = image_shape
    if rows * columns != X.shape[0]:
        raise InputError(
            f"image_shape must have {X.shape[0]} pixels, one per row of V, got "
            f"{rows} × {columns}; see dataset.image_shape"
        )
    sd = max(rows, columns) / 8 if width is None else width
    rng, tiny = np.random.default_rng(seed), 1e-300
    # Centers keep off the border, where images show little.
    centers = rng.uniform(0.15, 0.85, (n, 2)) * (rows - 1, columns - 1)
    with np.errstate(over="ignore"):  # a window that is wider than any image leaves all of it
        wide = 2 * np.square(float(sd)) + tiny  # of a single point nothing may be left
    down = np.exp(-((np.arange(rows) - centers[:, :1]) ** 2) / wide)
    across = np.exp(-((np.arange(columns) - centers[:, 1:]) ** 2) / wide)
    seen = (down[:, :, None] * across[:, None, :]).reshape(n, -1).T
    drawn = samples_at(X, rng.integers(X.shape[1], size=2 * n))
    samples, others = drawn[:, :n], drawn[:, n:]
    shown = samples - (others if signed else samples.min(axis=0))
    return np.asarray(shown * seen, dtype=X.dtype)
