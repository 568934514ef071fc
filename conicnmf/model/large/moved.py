"""How far a matrix in strips has moved, found when it is made and true for all its multiples."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.strips import Strips
from conicnmf.types import Array


def ask_move(new: Strips, last: Strips) -> None:
    """Ask how far a point that was just made is from the last one."""
    new.note(("moved", last.key), new.crew.later(moved_rows, new, last))


def moved_rows(k: int, new: Array, last: Array) -> tuple[None, Any]:
    """Return ‖x − y‖² and ⟨x − y, y⟩ of each row."""
    step = new - last
    return None, tuple(np.vecdot(step, X).astype(np.float64) for X in (step, last))


def distance(X: Strips, Y: Strips) -> float:
    """Return ‖X − Y‖, where X may have been noted before its rows x were multiplied by a.

    ‖a x − y‖² = a²‖x − y‖² + 2a(a − 1)⟨x − y, y⟩ + (a − 1)²‖y‖².
    """
    known = X.noted(("moved", Y.key))
    if known is None or known.task.operands[1][1] is not Y.scale:
        squares, _ = X.crew.run(moved_rows, X, Y)
        return float(np.sqrt(squares.sum()))
    squares, along = known.total
    a = np.ones(1) if X.scale is None else np.ravel(X.scale).astype(np.float64)
    found = a**2 * squares + 2 * a * (a - 1) * along + (a - 1) ** 2 * Y.squares
    return float(np.sqrt(max(found.sum(), 0.0)))
