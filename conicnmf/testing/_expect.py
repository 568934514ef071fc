"""What all checks share: a sentence for each broken promise, and second routes to a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from conicnmf.model.terms import Term
from conicnmf.types import Array


def expect(holds: Any, sentence: str) -> None:
    """Raise an `AssertionError` with the sentence unless the promise holds."""
    if not holds:
        raise AssertionError(sentence)


def expect_close(found: Any, wanted: Any, rtol: float, sentence: str, scale: float = 0.0) -> None:
    """Expect two arrays to agree to `rtol` of the largest entry, or of `scale` if that is more."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    expect(found.shape == wanted.shape, f"{sentence}: shape {found.shape}, not {wanted.shape}")
    size = max(float(np.abs(wanted).max(initial=0.0)), scale)
    gap = float(np.abs(found - wanted).max(initial=0.0))
    expect(gap <= rtol * size, f"{sentence}: they differ by {gap:.3g} at size {size:.3g}")


@contextmanager
def untouched(what: str, *arrays: Any) -> Iterator[None]:
    """Expect the arrays to be the same, bit for bit, after the body as before it."""
    before = [X.copy() for X in arrays]
    yield
    for old, new in zip(before, arrays, strict=True):
        stored = [(X.data, X.indices, X.indptr) if sp.issparse(X) else (X,) for X in (old, new)]
        same = all(np.array_equal(a, b) for a, b in zip(*stored, strict=True))
        expect(same, f"{what} changed its input in place; work on a copy")


@contextmanager
def answers(what: str, Y: Any) -> Iterator[None]:
    """Expect the body to raise nothing but broken promises, for data of either kind."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:  # whatever the other's code may raise
        kind, hint = "dense", ""
        if sp.issparse(Y):
            kind, hint = (
                "sparse",
                "; Y is sparse if V is; Y.toarray() makes it dense",
            )
        raise AssertionError(
            f"{what} raised {type(error).__name__} on {kind} data: {error}{hint}"
        ) from error


def expect_abilities(term: Term, calls: dict[str, Callable[[], Any]]) -> None:
    """Expect that claimed methods answer and that unclaimed ones refuse with a `TypeError`."""
    for name, call in calls.items():
        claimed = name in term.abilities
        try:
            call()
        except TypeError as error:
            expect(not claimed, f"{term} claims {name!r} but cannot be called: {error}")
        else:
            expect(claimed, f"{term} answers {name!r} without claiming it in .abilities")


def differences(f: Callable[[Array], float], B: Array, step: float) -> Array:
    """Return the gradient of f at B by central differences."""
    slopes = np.empty_like(B)
    for index in np.ndindex(B.shape):
        shift = np.zeros_like(B)
        shift[index] = step
        slopes[index] = (f(B + shift) - f(B - shift)) / (2 * step)
    return slopes
