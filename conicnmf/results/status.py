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

    CONVERGED = "The objective no longer falls; try other seeds to see whether it can be lower."
    STILL_FALLING = (
        "The stop rule was met while the objective still falls; use a smaller rtol or more "
        "patience to continue."
    )
    AT_REST = (
        "The update rule no longer moves anything, which need not be a minimum: certificate() "
        "tells you. "
        "Another solver may continue, see explain()."
    )
    OSCILLATING = (
        "The objective went up and down and no longer improves; the best feasible iterate was kept. "
        "SparsityMaximization and HALS never raise the objective."
    )
    NOT_IMPROVED = (
        "No later iterate is both feasible and better than the one that is returned, often the "
        "start; try another solver, see explain(), or another start."
    )
    MAX_ITER = "The iteration limit was reached; raise it if the history is still falling."
    TIME_LIMIT = "The time limit was reached; the best feasible iterate so far was kept."
    INTERRUPTED = "Interrupted from the keyboard; the best feasible iterate so far was kept."
    CALLBACK = "The callback asked to stop; the best feasible iterate so far was kept."
    COLLAPSED = (
        "A component became zero, where a constraint forbids it; lower the sparseness or the "
        "rank, or use another start."
    )
    INFEASIBLE = (
        "No feasible start was found and no iterate satisfies every constraint, which does not prove "
        "that there is no such point; pass one with init=, or relax a constraint."
    )
    CONDITION_FAILED = (
        "The condition that the update rule needs does not hold; the best iterate so far was kept. "
        "Another solver may continue, see explain()."
    )
    UNBOUNDED = (
        "The objective has no minimum: it falls without bound along result.direction. Bound what may "
        "grow, for example by a ridge."
    )
    BACKEND_FAILED = (
        "Every cone solver failed on a block, see result.remarks; rescale the data or name another "
        "backend."
    )
    ERROR = (
        "Something raised an error on the way; the best feasible iterate so far was kept, and "
        "result.remarks say what it was."
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
