"""Vertex component analysis: extreme samples in random directions of the signal's subspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.solve.starts.columns import FromColumns
from conicnmf.solve.starts.offsets import Centered, column_squares
from conicnmf.solve.starts.simple import STARTS
from conicnmf.solve.starts.singular import leading_singular
from conicnmf.types import Array


@dataclass(frozen=True)
class VCA(FromColumns):
    """Samples at the corners of the simplex that the data fill, for spectral unmixing.

    Samples are projected on the subspace of the signal, of dimension `rank`, and scaled into one
    plane: this removes differences in brightness. If noise is strong, with a signal-to-noise ratio
    below 15 + 10 log₁₀(rank) decibels, the best plane through the mean is used instead. Then the
    sample farthest along a random direction, orthogonal to the corners found so far, is the next
    corner. Components are corners within the subspace, which removes most of their noise. Another
    `seed` gives other directions.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of the factor, or small random numbers. Methods that
        multiply cannot leave zero, so "random" is the default.

    References
    ----------
    Nascimento and Bioucas Dias, Vertex component analysis: a fast algorithm to unmix hyperspectral
    data, IEEE Transactions on Geoscience and Remote Sensing 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> rng = np.random.default_rng(0)
    >>> W, H = rng.random((20, 3)), np.hstack([np.eye(3), rng.dirichlet(np.ones(3), 50).T])
    >>> found = cn.factorize(W @ H, 3, H=[cn.Simplex(each="sample")]).solve(init=cn.VCA(), stop=0)
    >>> bool(np.allclose(np.sort(found.W.sum(axis=0)), np.sort(W.sum(axis=0))))
    True
    """

    def basis(self, V: Any, rank: int, rng: np.random.Generator) -> Array:
        """Return corners of the data in the signal's subspace."""
        mean = np.asarray(V @ np.full((V.shape[1], 1), 1 / V.shape[1]))
        flat = Centered(V, mean, np.zeros((1, V.shape[1])))
        U = leading_singular(flat, rank, rng)[0]
        noisy = rank > 1 and _decibels(V, flat, U, rank) < 15 + 10 * np.log10(rank)
        if noisy:
            U = U[:, : rank - 1]
            X = _times(flat.T, U).T
            height = np.linalg.norm(X, axis=0).max(initial=0.0)
            points = np.vstack([X, np.full((1, X.shape[1]), height)])
        else:
            mean = np.zeros_like(mean)
            U = leading_singular(V, rank, rng)[0]
            X = _times(V.T, U).T
            points = _in_a_plane(X)
        return mean + U @ X[:, _corners(points, rank, rng)]


STARTS.add("VCA", VCA)


def _times(V: Any, U: Array) -> Array:
    return np.asarray(V @ U, dtype=float)


def _decibels(V: Any, flat: Any, U: Array, rank: int) -> float:
    """Return how much stronger the signal is than the noise, taken to be what no plane explains."""
    m, n = V.shape
    whole = float(column_squares(V).sum()) / n
    kept = (float(np.sum(_times(flat.T, U) ** 2)) / n) + float(np.sum(flat.b**2))
    # Noise is as strong in the plane as elsewhere: its share of the dimensions is taken off.
    signal, noise = kept - rank / m * whole, whole - kept
    if noise <= 1e-12 * whole:
        return np.inf
    return 10 * float(np.log10(signal / noise)) if signal > 0 else -np.inf


def _in_a_plane(X: Array) -> Array:
    """Scale the samples so that their product with their mean is one; zero stays zero."""
    along = X.mean(axis=1) @ X
    far = along > 1e-9 * np.abs(along).max(initial=0.0)
    return np.where(far, X / np.where(far, along, 1.0), 0.0)


def _corners(points: Array, rank: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the places of samples that lie farthest along random directions, each once."""
    found: list[int] = []
    size = len(points)
    nothing = 1e-9 * float(np.abs(points).max(initial=0.0))
    while len(found) < min(rank, size):
        # The first direction lies in the plane, which is level in the last coordinate.
        span = np.linalg.qr(points[:, found])[0] if found else np.eye(size)[:, size - (size > 1) :]
        direction = rng.standard_normal(size)
        direction -= span @ (span.T @ direction)
        reach = np.abs(direction / np.linalg.norm(direction) @ points)
        if reach.max(initial=0.0) <= nothing:
            break
        found.append(int(reach.argmax()))
    return np.array(found, dtype=np.intp)
