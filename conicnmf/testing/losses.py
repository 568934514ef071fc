"""`check_loss`: the forms of a loss must agree with its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.model.terms import Loss, Quadratic, Reduced, Separable
from conicnmf.settings import Count, Whole, checks_arguments
from conicnmf.testing._expect import (
    answers,
    differences,
    expect,
    expect_abilities,
    expect_close,
    untouched,
)
from conicnmf.types import Array, Data
from conicnmf.validate import as_data

_EXACT = 1e-9
_BY_DIFFERENCES = 1e-5


@checks_arguments
def check_loss(loss: Loss, Y: Any, *, rank: Count = 2, seed: Whole = 0) -> None:
    """Check that every form of a loss agrees with its value at random non-negative factors.

    Parameters
    ----------
    loss : Loss
    Y : array or sparse matrix
        Data the loss can judge, features × samples; a few rows and columns are enough.
    rank : int
        The number of components of the random factors; more than Y has rows are tried as well.
    seed : int
        Fixes the random factors.

    Raises
    ------
    AssertionError
        With a sentence that names the broken promise.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> Y = np.arange(12.0).reshape(4, 3)
    >>> check_loss(cn.Frobenius(), Y)
    >>> class Halved(cn.Frobenius):
    ...     def gradient(self, Y, A, B):
    ...         return super().gradient(Y, A, B) / 2
    >>> check_loss(Halved(), Y)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: the gradient of Halved(scale=1.0) and differences disagree
    """
    data = as_data(Y)
    loss.check((data.shape[0], data.shape[1]))
    dense = data.toarray() if sp.issparse(data) else data
    rng = np.random.default_rng(seed)
    size = np.sqrt(float(np.abs(dense).mean()) / rank) or 1.0
    for count in (rank, rank, data.shape[0] + 1):
        A, B, other = (
            size * (0.1 + rng.random(shape))
            for shape in ((data.shape[0], count), (count, data.shape[1]), (count, data.shape[1]))
        )
        _abilities(loss, data, A, B)
        for form in (dense, sp.csr_array(dense)):
            with answers(f"{loss}", form), untouched(f"{loss}", form, A, B):
                _forms(loss, form, dense, A, B)
        _transposes(loss, data, A, B)
        _majorizers(loss, data, A, B, other)
        _masks(loss, data, A, B, rng)
        if loss.convex:
            _convexity(loss, data, A, B, other)


def _abilities(loss: Loss, Y: Data, A: Array, B: Array) -> None:
    expect_abilities(
        loss,
        {
            "gradient": lambda: loss.gradient(Y, A, B),
            "quadratic": lambda: loss.quadratic(Y, A),
            "reduced": lambda: loss.reduced(Y, A),
            "ratio": lambda: loss.ratio(Y, A, B),
            "expression": lambda: loss.expression(Y, A, cp.Variable(B.shape)),
            "majorize": lambda: loss.majorize(Y, A, B),
            "reweigh": lambda: loss.reweigh(Y, A, B),
            "smoothed": lambda: loss.smoothed(Y, A, B, 0.1),
            "score": lambda: loss.score(Y, A, B),
            "masked": lambda: loss.masked(np.ones(Y.shape, dtype=bool)),
        },
    )


def _forms(loss: Loss, Y: Data, dense: Array, A: Array, B: Array) -> None:
    """Compare every form with the value at dense data."""
    kind = "sparse" if sp.issparse(Y) else "dense"
    value = loss.value(dense, A, B)
    zero = loss.value(dense, 0 * A, 0 * B)
    scale = abs(value) + (abs(zero) if np.isfinite(zero) else 0.0)

    def agrees(found: float, what: str) -> None:
        sentence = f"{what} of {loss} on {kind} data disagrees with the value on dense data"
        expect_close(found, value, _EXACT, sentence, scale)

    agrees(loss.value(Y, A, B), "the value")
    if "gradient" in loss.abilities:
        _gradient(loss, Y, dense, A, B)
    if "quadratic" in loss.abilities:
        agrees(Quadratic(*loss.quadratic(Y, A), zero).value(B), "the quadratic form")
    if "reduced" in loss.abilities:
        reduced, rank = loss.reduced(Y, A), len(B)
        square = reduced.R.shape[-2:] == (rank, rank) and reduced.D.shape == B.shape
        expect(square, f"the reduced form of {loss} needs R of {rank} rows; fill up with zeros")
        agrees(least_squares(reduced, B), "the reduced form")
    if "expression" in loss.abilities:
        agrees(float(loss.expression(Y, A, cp.Constant(B)).value), "the expression")
        form = loss.expression(Y, A, cp.Variable(B.shape))
        expect(form.is_scalar() and form.is_convex(), f"the expression of {loss} must be convex")
    if "ratio" in loss.abilities:
        down, up = loss.ratio(Y, A, B)
        expect(min(down.min(), up.min()) >= 0, f"the ratio of {loss} has negative parts")
        slopes = loss.gradient(dense, A, B) if "gradient" in loss.abilities else None
        if slopes is not None:
            sentence = f"the ratio of {loss} on {kind} data is not the gradient's two parts"
            expect_close(up - down, slopes, _EXACT, sentence, float(np.abs(up).max()))


def least_squares(reduced: Reduced, B: Array) -> float:
    """Return ‖D − R B‖² + constant column by column."""
    columns = range(B.shape[1])
    R = reduced.R if reduced.R.ndim == 3 else [reduced.R] * len(columns)
    parts = (np.sum((reduced.D[:, k] - R[k] @ B[:, k]) ** 2) for k in columns)
    return float(sum(parts)) + reduced.constant


def _gradient(loss: Loss, Y: Data, dense: Array, A: Array, B: Array) -> None:
    step = 1e-5 * float(np.abs(B).max())
    wanted = differences(lambda X: loss.value(dense, A, X), B, step)
    found = loss.gradient(Y, A, B)
    size = float(np.abs(loss.value(dense, A, B))) / float(np.abs(B).max())
    expect_close(
        found, wanted, _BY_DIFFERENCES, f"the gradient of {loss} and differences disagree", size
    )


def _transposes(loss: Loss, Y: Data, A: Array, B: Array) -> None:
    turned = loss.transposed()
    Yt = sp.csr_array(Y.T) if sp.issparse(Y) else Y.T
    found, value = turned.value(Yt, B.T, A.T), loss.value(Y, A, B)
    expect_close(found, value, _EXACT, f"{loss}.transposed() is another loss")
    turned.check((Y.shape[1], Y.shape[0]))


def _majorizers(loss: Loss, Y: Data, A: Array, B: Array, other: Array) -> None:
    """Check that majorizers touch the loss at B and lie above it on the way to another factor."""
    if "score" in loss.abilities:
        slopes, scored = loss.gradient(Y, A, B), loss.score(Y, A, B).gradient(Y, A, B)
        size = float(np.abs(slopes).max())
        expect_close(scored, slopes, _EXACT, f"the scored {loss} has another gradient at B", size)
    touched = loss.value(Y, A, B)
    bounds: dict[str, Callable[[Array], float]] = {}
    if "majorize" in loss.abilities:
        bounds["majorizer"] = loss.majorize(Y, A, B).value
    if "ratio" in loss.abilities:
        bound = Separable.of(B, *loss.ratio(Y, A, B), loss.powers)
        bounds["bound by ratio"] = lambda X: touched + bound.value(X)
    for name, above in bounds.items():
        for share in (0.0, 0.01, 0.3, 1.0, 3.0):
            point = np.abs(B + share * (other - B))
            found, value = above(point), loss.value(Y, A, point)
            scale = abs(value) + touched + abs(above(0.5 * B))
            if share == 0:
                expect_close(found, value, _EXACT, f"the {name} of {loss} does not touch it", scale)
            below = value - found
            expect(below <= _EXACT * scale, f"the {name} of {loss} is below it by {below:.3g}")


def _masks(loss: Loss, Y: Data, A: Array, B: Array, rng: np.random.Generator) -> None:
    """Check that what is hidden has no say, and that the two parts add up to the whole."""
    if "masked" not in loss.abilities:
        return
    seen = rng.random(Y.shape) < 0.5
    seen.flat[0], seen.flat[-1] = True, False
    parts = []
    for mask in (seen, ~seen):
        try:
            own = loss.masked(mask)
        except InputError:
            parts.append(0.0)  # nothing that counts is left
            continue
        parts.append(own.value(Y, A, B))
    whole = loss.value(Y, A, B)
    expect_close(sum(parts), whole, _EXACT, f"the masked parts of {loss} do not add up", whole)


def _convexity(loss: Loss, Y: Data, A: Array, B: Array, other: Array) -> None:
    """Try to falsify convexity in B half way between two factors."""
    ends = loss.value(Y, A, B), loss.value(Y, A, other)
    middle = loss.value(Y, A, (B + other) / 2)
    above = middle - sum(ends) / 2
    expect(above <= _EXACT * sum(map(abs, ends)), f"{loss} is not convex in B, by {above:.3g}")
