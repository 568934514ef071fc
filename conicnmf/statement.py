"""What `solve` needs to know of a problem, whatever its variables are.

Factorizations (two blocks), projections (W alone) and autoencoders (their own variables) are three
kinds of statement; the engine, comparisons, certificates and reports know this page only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from conicnmf.blocks import Factors
from conicnmf.errors import IncompatibleError
from conicnmf.solvers.base import Solver

if TYPE_CHECKING:
    from conicnmf.result import Result


_KNOWN: list[type[Solver]] = []
_S = TypeVar("_S", bound=type[Solver])


def known_solver(kind: _S) -> _S:
    """Make a solver known to the problems it solves, which cannot import it; a class decorator."""
    _KNOWN.append(kind)
    return kind


class Statement(ABC):
    """Variables by name, an objective to be minimized, and the solvers that know how."""

    kind: ClassVar[str]
    """What such problems are called; a solver `solves` one kind."""

    @property
    def problem(self) -> Any:
        """What the user stated; its repr is kept in the result."""
        return self

    @property
    def view(self) -> Any:
        """What the solvers of this kind are given."""
        return self

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each variable."""

    @abstractmethod
    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − reconstruction‖²/‖V‖², not a number where nothing is reconstructed."""
        return float("nan")

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        return {}

    def collapsed(self, factors: Factors) -> bool:
        """Whether a variable lost what it must keep."""
        return False

    @abstractmethod
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a feasible start: from `init`, or a default when that is None."""

    def solvers(self) -> Sequence[Solver]:
        """Return one of each solver of this kind of problem, in the order of tables."""
        return [kind() for kind in _KNOWN if kind.solves == self.kind]

    def unmet(self, solver: Solver) -> list[str]:
        """Return every need of a solver of this kind that is not met."""
        return [reason for need in solver.needs for reason in need(self.view)]

    def mismatches(self, solver: Solver) -> list[str]:
        """Return every reason why a solver does not fit, none when it does."""
        if solver.solves != self.kind:
            return [f"it solves {solver.solves} problems, and this is a {self.kind} problem"]
        return self.unmet(solver)

    def choose(self) -> tuple[Solver, str]:
        """Return the solver to use when none is named, and why."""
        fitting = [solver for solver in self.solvers() if not self.mismatches(solver)]
        if not fitting:
            listed = ", ".join(solver.name for solver in self.solvers())
            raise IncompatibleError(f"no solver fits this problem, of {listed or 'none known'}")
        return fitting[0], "it is the first that fits"

    def gains(self, factors: Factors) -> dict[str, float]:
        """Return by how much of the objective another route could still lower it, by variable."""
        return {}

    def require_fit(self, solver: Solver) -> None:
        """Raise an `IncompatibleError` with every reason and the solvers that fit."""
        reasons = self.mismatches(solver)
        if reasons:
            fitting = [other.name for other in self.solvers() if not self.mismatches(other)]
            listed = "\n".join(f"  - {reason}" for reason in reasons)
            raise IncompatibleError(
                f"{solver.name} does not fit this problem:\n{listed}\n"
                f"These fit: {', '.join(fitting) or 'none of the solvers'}."
            )

    def explain(self) -> str:
        """Return which solvers fit, why the others do not, and which is picked by default."""
        lines = [repr(self.problem), "Solvers:"]
        for solver in self.solvers():
            reasons = self.mismatches(solver)
            lines.append(f"  {'no ' if reasons else 'yes'}  {solver.name}")
            lines += [f"         - {reason}" for reason in reasons]
        chosen, why = self.choose()
        return "\n".join([*lines, f"Without a solver named, {chosen.name} is picked: {why}."])

    if TYPE_CHECKING:  # bound in conicnmf.facade, the last layer

        def solve(self, solver: Solver | None = None, **options: Any) -> Result:
            """Solve the problem; see `conicnmf.solve` for the options."""
