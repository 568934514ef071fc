"""Generated images whose parts are known: bars and swimmers."""

from __future__ import annotations

from itertools import product

import numpy as np

from conicnmf.datasets._checks import Density
from conicnmf.datasets._dataset import Dataset
from conicnmf.errors import InputError
from conicnmf.settings import Count, Weight, Whole, checks_arguments
from conicnmf.types import Array

# Each limb starts next to an end of the torso, at this (row, column).
_SHOULDERS = {"upper left": (9, 14), "upper right": (9, 16)}
_HIPS = {"lower left": (21, 14), "lower right": (21, 16)}
_LIMB_LENGTH = 5


@checks_arguments
def bars(n_samples: Count = 2000, density: Density = 0.1, seed: Whole = 0) -> Dataset:
    """3×3 images V = WH made of ten bars, each present with probability `density`.

    The columns of W are the six single and the four double bars, scaled to unit norm (Hoyer 2002);
    a bar that is present has a strength drawn from U[0, 1], our choice. The six single bars
    alone explain the data exactly, so only a preference for sparse H can find the double ones. With
    a low density some images are blank.

    Examples
    --------
    >>> from conicnmf.datasets import bars
    >>> data = bars(n_samples=500)
    >>> data
    Dataset('bars', 9 × 500, float64)
    >>> data.truth["W"].shape, data.truth["H"].shape
    ((9, 10), (10, 500))
    """
    rng = np.random.default_rng(seed)
    lines = [(start, start + width) for width in (1, 2) for start in range(4 - width)]
    images = np.zeros((3, 3, 2 * len(lines)))
    for k, (start, stop) in enumerate(lines):
        images[start:stop, :, 2 * k] = 1  # lying
        images[:, start:stop, 2 * k + 1] = 1  # standing
    W = images.reshape(9, -1)
    W /= np.linalg.norm(W, axis=0)
    strength = rng.random((W.shape[1], n_samples))
    H = np.where(rng.random(strength.shape) < density, strength, 0.0)
    return Dataset(
        name="bars",
        V=W @ H,
        image_shape=(3, 3),
        truth={"W": W, "H": H},
        description="Sums of single and double bars on 3×3 pixels (Hoyer 2002), generated.",
    )


@checks_arguments
def swimmer(background: Weight = 0.0, figure: Weight = 1.0) -> Dataset:
    """All 256 stick figures with a torso and four limbs of four positions each, on 32×32 pixels.

    The figures are those of Donoho and Stodden (2003), exactly V = WH with 17 parts: the torso,
    which is always there and carries the background, and 16 limbs. The last limb moves fastest.

    Parameters
    ----------
    background, figure : float
        Gray values; the published files have 1 and 39.

    Examples
    --------
    >>> from conicnmf.datasets import swimmer
    >>> data = swimmer()
    >>> data
    Dataset('swimmer', 1024 × 256, float64)
    >>> bool((data.truth["W"] @ data.truth["H"] == data.V).all())
    True
    """
    if figure <= background:
        raise InputError(
            f"swimmer needs background < figure, got background={background}, figure={figure}; swap "
            "them, and invert the data afterwards"
        )
    limbs = [_limb_positions(*start) for start in (_SHOULDERS | _HIPS).values()]
    parts = np.stack([_torso(), *np.concatenate(limbs)]).reshape(17, -1)
    W = np.ascontiguousarray((figure - background) * parts.T)
    W[:, 0] += background
    H = _poses()
    return Dataset(
        name="swimmer",
        V=W @ H,
        image_shape=(32, 32),
        truth={"W": W, "H": H},
        description="Stick figures of a torso and four moving limbs (Donoho and Stodden 2003), "
        "generated.",
    )


def _poses() -> Array:
    """Which of the 17 parts each figure shows."""
    H = np.zeros((17, 256))
    H[0] = 1
    for sample, positions in enumerate(product(range(4), repeat=4)):
        for limb, position in enumerate(positions):
            H[1 + 4 * limb + position, sample] = 1
    return H


def _torso() -> Array:
    image = np.zeros((32, 32))
    image[9:22, 15] = 1
    for row, column in (_SHOULDERS | _HIPS).values():
        image[row, column] = 1
    return image


def _limb_positions(row: int, column: int) -> Array:
    """Four images of one limb: sideways, away from the torso, and the two diagonals."""
    side = 1 if column > 15 else -1
    away = 1 if row > 15 else -1
    steps = np.arange(1, _LIMB_LENGTH + 1)
    images = np.zeros((4, 32, 32))
    directions = [(0, side), (away, 0), (1, side), (-1, side)]
    for image, (down, across) in zip(images, directions, strict=True):
        image[row + down * steps, column + across * steps] = 1
    return images
