"""What a user's function states for a factor, checked when the problem is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp

from conicnmf.errors import ModelError
from conicnmf.model.terms.base import Term
from conicnmf.settings import shown


def check_stated(
    term: Term, state: Callable[[cp.Variable], Any], shape: tuple[int, int], what: str, kind: Any
) -> list[Any]:
    """Return what a function states for a variable, a list of `kind` about that variable alone."""
    variable = cp.Variable(shape)
    try:
        made = state(variable)
        stated = list(made) if isinstance(made, (list, tuple)) else [made]
    except Exception as error:  # whatever the function may raise
        raise ModelError(
            f"{term} must return {what}, got {type(error).__name__}: {error}; the function gets W as "
            "features × rank, H as rank × samples"
        ) from error
    for part in stated:
        if not isinstance(part, kind):
            raise ModelError(
                f"{term} must return {what}, got {shown(part)}; write it with CVXPY's atoms"
            )
        others = sorted(str(other) for other in part.variables() if other.id != variable.id)
        if others:
            raise ModelError(
                f"{term} must be about its own factor only, got {', '.join(others)} in it too; use "
                "Problem(...) for terms that link variables"
            )
    return stated
