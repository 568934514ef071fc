"""The parts of a result that can be shown one by one, whatever the names of its variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.results import Result
from conicnmf.types import Array


@dataclass(frozen=True, eq=False)
class Components:
    """A matrix whose columns are components, what they are in words, and names of their entries."""

    words: str
    matrix: Array
    names: tuple[str, ...] = ()


def components_of(result: Result, image_shape: tuple[int, int] | None = None) -> list[Components]:
    """Return every matrix but H as columns: as it stands, or turned where rows are the components.

    H is as long as there are samples; its rows are in `pieces_of`.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> [found.words for found in components_of(cn.factorize(np.eye(4), 2).solve())]
    ['columns of W']
    """
    found = []
    for name, X in result.factors.items():
        side = result.side(name)
        if name == "H" or not side:
            continue
        if name not in ("W", *result.components):
            side = _pictured_side(X.shape, image_shape) or side
        turned = side == "rows"
        names = (result.names.columns if turned else result.names.rows).get(name, ())
        found.append(Components(f"{side} of {name}", X.T if turned else X, names))
    return found


def pieces_of(result: Result) -> dict[str, Array]:
    """Return what sparseness is measured of, a piece in each row, by its name."""
    pieces = {found.words: found.matrix.T for found in components_of(result)}
    if "H" in result.factors:
        pieces |= {"rows of H": result.H, "columns of H": result.H.T}
    return {name: np.ascontiguousarray(X) for name, X in pieces.items()}


def _pictured_side(shape: tuple[int, ...], image_shape: tuple[int, int] | None) -> str:
    """Return the side whose entries are as many as an image has pixels, if one has."""
    if image_shape is None or image_shape[0] * image_shape[1] not in shape:
        return ""
    return "columns" if shape[0] == image_shape[0] * image_shape[1] else "rows"


def fits(matrix: Array, image_shape: tuple[int, int] | None) -> bool:
    """Whether the columns can be seen as images of this shape."""
    return image_shape is not None and matrix.shape[0] == image_shape[0] * image_shape[1]
