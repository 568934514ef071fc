"""How a solve ended, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

Kind = Literal["converged", "stopped", "failed"]


class Status(Enum):
    """How a solve ended; the value is advice, `kind` is converged, stopped or failed.

    Examples
    --------
    >>> Status.MAX_ITER.kind
    'stopped'
    """

    CONVERGED = "The objective no longer falls. To look for a lower one, try other seeds."
    STILL_FALLING = (
        "The stopping rule was met while the objective was still falling; use a smaller rtol or more "
        "patience to continue."
    )
    AT_REST = (
        "The update rule no longer changes the factors, but this need not be a minimum; "
        "certificate() tells you. "
        "Another solver may continue, see explain()."
    )
    OSCILLATING = (
        "The objective goes up and down and no longer improves; the best feasible iterate was kept. "
        "SparsityMaximization and HALS never raise the objective."
    )
    NOT_IMPROVED = (
        "No iterate is both feasible and better than the one returned, which is often the "
        "start; try another solver, see explain(), or another start."
    )
    MAX_ITER = "The iteration limit was reached; raise it if the history is still falling."
    TIME_LIMIT = "The time limit was reached; the best feasible iterate so far was kept."
    INTERRUPTED = "Interrupted from the keyboard; the best feasible iterate so far was kept."
    CALLBACK = "The callback stopped the solve; the best feasible iterate so far was kept."
    COLLAPSED = (
        "A component became zero although a constraint forbids it; lower the sparseness or the "
        "rank, or use another start."
    )
    INFEASIBLE = (
        "No feasible start was found and no iterate satisfies every constraint. This does not prove "
        "that there is no feasible point; pass one with init=, or relax a constraint."
    )
    CONDITION_FAILED = (
        "A condition of the update rule does not hold; the best iterate so far was kept. "
        "Another solver may continue, see explain()."
    )
    UNBOUNDED = (
        "The objective has no minimum: it falls without bound along result.direction. Bound the "
        "variables, or add a ridge."
    )
    BACKEND_FAILED = (
        "Every cone solver failed on a block, see result.remarks; rescale the data or name another "
        "backend."
    )
    ERROR = (
        "An error was raised during the solve; the best feasible iterate so far was kept, and "
        "result.remarks gives the error."
    )
    NOT_FINITE = (
        "The iterates became too large or too small for floating-point numbers; rescale the data or "
        "shorten the steps."
    )

    @property
    def kind(self) -> Kind:
        """Whether this is a convergence, an early stop with a usable result, or a failure."""
        if self is Status.CONVERGED:
            return "converged"
        return "failed" if self.name in _FAILURES else "stopped"


_FAILURES = ("COLLAPSED", "INFEASIBLE", "UNBOUNDED", "BACKEND_FAILED", "ERROR", "NOT_FINITE")


@dataclass(frozen=True)
class Promises:
    """What a solver promises of its results: a certificate holds it to this."""

    monotone: bool = False
    """The objective never rises."""
    keeps_best: bool = True
    """The best feasible iterate is returned, rather than the last."""
    stationary: Literal["stated", "support", ""] = "stated"
    """What no block can lower near a result that has converged: the stated objective, the same
    with its zeros kept, or nothing."""
