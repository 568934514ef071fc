"""Recognize a loss of data against products in the parts of an objective, and check that it is that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

from conicnmf.model.reading.likelihoods import read_likelihood
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.read_fit import ReadFit
from conicnmf.model.reading.single_losses import read_single
from conicnmf.model.reading.squares import read_squares
from conicnmf.model.reading.verify_reading import agrees
from conicnmf.validate import as_data

Reader = Callable[[Sequence[Part]], ReadFit | None]


def read_part(parts: Sequence[Part]) -> ReadFit | None:
    """Return one part as a loss, squares first."""
    ((coefficient, part),) = parts
    return read_squares(coefficient, part) or read_single(coefficient, part)


def read_fits(
    parts: list[Part], wanted: Callable[[ReadFit], bool] = lambda fit: True
) -> tuple[list[ReadFit], list[Part]]:
    """Return the wanted fits that parts state, one or two together, and the parts that are left.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np
    >>> W, H = cp.Variable((2, 1)), cp.Variable((1, 3))
    >>> P, V = W @ H, np.ones((2, 3))
    >>> fits, left = read_fits([(1.0, cp.sum(P)), (-1.0, cp.sum(cp.multiply(V, cp.log(P))))])
    >>> fits[0].loss, left
    (KullbackLeibler(scale=1), [])
    """
    fits: list[ReadFit] = []
    left = list(parts)
    # A function of the model plus a linear part of it may be a likelihood.
    for read, count in ((read_part, 1), (read_likelihood, 2)):
        for some in permutations(parts, count):
            # By identity: CVXPY's expressions do not compare.
            there = all(any(part is other for other in left) for part in some)
            fit = _checked(read, some, wanted) if there else None
            if fit is not None:
                fits.append(fit)
                left = [part for part in left if not any(part is other for other in some)]
    return fits, left


def _checked(
    read: Reader, parts: Sequence[Part], wanted: Callable[[ReadFit], bool]
) -> ReadFit | None:
    """Return what the parts state, once it is seen to agree with them."""
    fit = read(parts)
    if fit is None or not wanted(fit):
        return None
    as_data(fit.V)  # the comparison needs numbers of a usual size
    return fit if agrees(fit, parts, read) else None
