"""Gabor functions fitted to filters: how much of a filter is an oriented wave under a Gaussian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import least_squares

from conicnmf.errors import InputError
from conicnmf.results import Result
from conicnmf.settings import Count, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_numbers

if TYPE_CHECKING:
    import pandas as pd

_NAMES = ("row", "column", "angle", "length", "width", "frequency")


@dataclass(frozen=True, eq=False)
class GaborFits:
    """Gabor functions and the filters they were fitted to.

    Attributes
    ----------
    filters, fits : array of shape (pixels, n)
        Each fit includes the scale and offset that bring it nearest to its filter.
    correlation : array of shape (n,)
        ρ, the correlation of the pixels of a filter and its fit.
    table : pandas.DataFrame
        One row a filter: center, angle of the wave (radians), standard deviations along and across
        the wave, and frequency (waves per pixel).
    image_shape : tuple of int

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.report import fit_gabor
    >>> fit_gabor(np.eye(16)[:, :2], (4, 4)).table.shape
    (2, 7)
    """

    filters: Array
    fits: Array
    correlation: Array
    table: pd.DataFrame
    image_shape: tuple[int, int]


@checks_arguments
def fit_gabor(basis: Result | Any, image_shape: tuple[Count, Count]) -> GaborFits:
    """Fit a Gabor function to each filter, by least squares from several starts.

    Phase, scale and offset enter linearly and are solved for; center, angle, extent and frequency are
    searched, from the strongest wave in the filter's spectrum.

    Parameters
    ----------
    basis : Result or array of shape (pixels, n)
        Filters, pixels row by row.
    image_shape : tuple of int

    Returns
    -------
    GaborFits

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.report import fit_gabor
    >>> y, x = np.mgrid[:12, :12] - 5.5
    >>> wave = np.exp(-(x**2 + y**2) / 12) * np.cos(1.2 * x + 0.5)
    >>> fit_gabor(wave.reshape(-1, 1), (12, 12)).correlation.round(3)
    array([1.])
    """
    import pandas as pd

    W = as_numbers(basis.W if isinstance(basis, Result) else basis, "basis").astype(float)
    rows, columns = image_shape
    if W.ndim != 2 or len(W) != rows * columns:
        raise InputError(
            f"filters must have {rows} × {columns} pixels, with one filter per column, got shape "
            f"{W.shape}; pass image_shape=dataset.image_shape"
        )
    found = [_fit(w, image_shape) for w in W.T]
    fits = np.stack([image for _, image in found], axis=1)
    table = pd.DataFrame([p for p, _ in found], columns=list(_NAMES))
    correlation = np.array([_correlation(w, fit) for w, fit in zip(W.T, fits.T, strict=True)])
    table.insert(0, "correlation", correlation)
    return GaborFits(W, fits, correlation, table, image_shape)


def _fit(w: Array, shape: tuple[int, int]) -> tuple[Array, Array]:
    """Return the parameters and the image of the best fit."""
    size = float(np.abs(w).max())
    if size == 0:
        return np.zeros(len(_NAMES)), np.zeros_like(w)
    target = w / size
    best: Any = None
    for start in _starts(target.reshape(shape)):
        found = least_squares(lambda p: _waves(p, shape, target) - target, start, max_nfev=60)
        if best is None or found.cost < best.cost:
            best = found
    return best.x, size * _waves(best.x, shape, target)


def _waves(p: Array, shape: tuple[int, int], target: Array) -> Array:
    """Return the combination of both phases and a constant that is nearest to the target."""
    # A column of y and a row of x: what is made of one of them is not made for every pixel.
    y, x = np.arange(shape[0])[:, None] - p[0], np.arange(shape[1]) - p[1]
    along = x * np.cos(p[2]) + y * np.sin(p[2])
    across = y * np.cos(p[2]) - x * np.sin(p[2])
    extents = 0.3 + np.abs(p[3:5])  # narrower than a pixel is a pixel
    envelope = np.exp(-((along / extents[0]) ** 2 + (across / extents[1]) ** 2) / 2).ravel()
    angle = 2 * np.pi * p[5] * along.ravel()
    A = np.ones((angle.size, 3))
    A[:, 0], A[:, 1] = envelope * np.cos(angle), envelope * np.sin(angle)
    G = A.T @ A + 1e-9 * np.eye(3)
    return np.asarray(A @ np.linalg.solve(G, A.T @ target))


def _starts(image: Array) -> Iterator[Array]:
    """Yield starts at the center of mass: along the strongest waves, and one turned by 90°."""
    mass = image * image
    y, x = np.mgrid[: image.shape[0], : image.shape[1]]
    center = np.array([(y * mass).sum(), (x * mass).sum()]) / mass.sum()
    spread = float(
        np.sqrt((((y - center[0]) ** 2 + (x - center[1]) ** 2) * mass).sum() / mass.sum())
    )
    padded = 4 * max(image.shape)
    power = np.abs(np.fft.rfft2(image - image.mean(), (padded, padded)))
    row, column = np.unravel_index(power.argmax(), power.shape)
    fy, fx = np.fft.fftfreq(padded)[row], np.fft.rfftfreq(padded)[column]
    angle, frequency = np.arctan2(fy, fx), float(np.hypot(fy, fx))
    wide = max(spread, 0.5)
    for turn, length, width, faster in (
        (0.0, 0.7, 0.7, 1.0),
        (0.0, 0.5, 1.2, 1.0),
        (0.0, 0.5, 1.2, 0.4),
        (np.pi / 2, 0.7, 0.7, 0.4),
    ):
        yield np.array([*center, angle + turn, length * wide, width * wide, faster * frequency])


def _correlation(w: Array, fit: Array) -> float:
    a, b = w - w.mean(), fit - fit.mean()
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norms if norms > 0 else 0.0
