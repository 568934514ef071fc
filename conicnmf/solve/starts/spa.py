"""Successive projections: columns that span the others, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conicnmf.solve.starts.columns import FromColumns, take_columns
from conicnmf.solve.starts.offsets import column_squares
from conicnmf.solve.starts.simple import STARTS
from conicnmf.types import Array

_ROUNDING = 1e-10
"""A rest that is smaller than this part of the largest column, squared, is nothing."""


@dataclass(frozen=True)
class SPA(FromColumns):
    """The column with the largest norm, repeatedly, after projecting out those found before.

    Where V = W H, each column of W is among the columns of V, and the coefficients of no sample sum
    to more than one, these columns of W are found exactly. Outliers may be picked as well; for
    noisy spectra, `VCA` is more robust.

    Parameters
    ----------
    fill : {"zero", "mean", "random"}
        What zeros become: nothing, the mean of the factor, or small random numbers. Methods that
        multiply cannot leave zero, so "random" is the default; "zero" keeps what was found exact.

    References
    ----------
    Araújo, Saldanha, Galvão, Yoneyama, Chame and Visani, The successive projections algorithm for
    variable selection in spectroscopic multicomponent analysis, 2001. Gillis and Vavasis, Fast and
    robust recursive algorithms for separable nonnegative matrix factorization, 2014.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> W = np.array([[0.9, 0.0], [0.0, 0.6], [0.3, 0.3]])
    >>> V = W @ np.array([[1.0, 0.5, 0.0, 0.25], [0.0, 0.5, 1.0, 0.75]])
    >>> cn.factorize(V, 2).solve(init=cn.SPA("zero"), stop=0).W
    array([[0.9, 0. ],
           [0. , 0.6],
           [0.3, 0.3]])
    """

    def basis(self, V: Any, rank: int, rng: np.random.Generator) -> Array:
        """Return columns of V; fewer where the others are in their span."""
        return take_columns(V, vertices(V, rank))


STARTS.add("SPA", SPA)


def vertices(V: Any, count: int) -> NDArray[np.intp]:
    """Return the places of the columns, at most `count`, in the order in which they are found."""
    rest = column_squares(V)
    nothing = _ROUNDING * float(rest.max(initial=0.0))
    span = np.zeros((V.shape[0], 0))
    found: list[int] = []
    while len(found) < count and rest.max(initial=0.0) > nothing:
        # Columns that are equal but for rounding must not be chosen by it.
        place = int(np.argmax(rest >= (1 - 1e-9) * rest.max()))
        new = take_columns(V, np.array([place]))
        for _ in range(2):  # the second time removes what rounding left
            new = new - span @ (span.T @ new)
        length = float(np.linalg.norm(new))
        if not length:  # its square was all rounding: data without their offsets may be zero
            rest[place] = 0.0
            continue
        found.append(place)
        new /= length
        span = np.hstack([span, new])
        rest = np.maximum(rest - np.asarray(V.T @ new).ravel() ** 2, 0.0)
        rest[found] = 0.0
    return np.array(found, dtype=np.intp)
