"""Filters next to the Gabor functions fitted to them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from conicnmf.report.basis import plot_basis
from conicnmf.report.style import styled
from conicnmf.settings import Count, checks_arguments
from conicnmf.study.gabor import GaborFits, fit_gabor
from conicnmf.types import Array

__all__ = ["GaborFits", "fit_gabor", "plot_gabor"]


@checks_arguments
def plot_gabor(fits: GaborFits, columns: Count = 8, most: Count | None = None) -> Figure:
    """Draw filters next to their fits, best correlation ρ first, each pair on its own scale.

    Parameters
    ----------
    fits : GaborFits
    columns : int
        Pairs next to each other.
    most : int, optional
        Draw no more pairs than this, evenly spread from the best correlation to the worst.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.report import fit_gabor, plot_gabor
    >>> plot_gabor(fit_gabor(np.random.default_rng(0).random((36, 4)), (6, 6)))
    <Figure size 560x...>
    """
    rows, width = fits.image_shape
    order = np.argsort(-fits.correlation, kind="stable")
    if most is not None and most < len(order):
        order = order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    gap = np.zeros((rows, 1))
    pairs = [
        np.hstack([fits.filters[:, j].reshape(rows, width), gap, _shown(fits, j)]).ravel()
        for j in order
    ]
    with styled():
        shape = (rows, 2 * width + 1)
        captions = [f"ρ = {rho:.3f}" for rho in fits.correlation[order]]
        return plot_basis(
            np.stack(pairs, axis=1), shape, columns=columns, signed=True, captions=captions
        )


def _shown(fits: GaborFits, j: int) -> Array:
    return fits.fits[:, j].reshape(fits.image_shape)
