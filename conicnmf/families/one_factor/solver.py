"""What the methods of one-factor problems share: they see the problem through its view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.base import BaseProblem
from conicnmf.model.problem import Problem
from conicnmf.results import Status
from conicnmf.settings import checks_arguments
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.types import Factors

M = TypeVar("M")
ViewNeed = Callable[[OneFactor], Iterator[str]]


@dataclass(frozen=True)
class OneFactorSolver(Solver[Problem, M], Generic[M]):
    """A method for a problem in W ≥ 0 alone whose objective is made from an operator A."""

    solves: ClassVar[type[BaseProblem]] = Problem
    seeks_minimum: ClassVar[bool] = True
    """Whether there must be a minimum; an update rule may have fixed points without one."""
    asks: ClassVar[Sequence[ViewNeed]] = ()
    """Requirements on the view; each yields a reason for every way it is not met."""

    def concerns(self, problem: BaseProblem) -> bool:
        """Whether the problem has one factor."""
        return one_factor(problem) is not None

    @checks_arguments
    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why the method does not fit."""
        view = one_factor(problem)
        if view is None:
            return ["it solves problems in one factor W >= 0: ½tr(WᵀAW), or ‖V − WWᵀV‖²"]
        return [reason for ask in self.asks for reason in ask(view)]

    def begin(self, view: OneFactor, context: Context) -> M:
        """Return the memo of the first step."""
        raise TypeError(f"{self.name} must define begin(view, context)")

    def advance(self, view: OneFactor, factors: Factors, memo: M) -> Sweep[M]:
        """Return a better W."""
        raise TypeError(f"{self.name} must define advance(view, factors, memo)")

    def start(self, problem: Problem, context: Context) -> M:
        """Return the memo of the first sweep."""
        return self.begin(_seen(problem), context)

    def sweep(self, problem: Problem, factors: Factors, memo: M) -> Sweep[M]:
        """Advance by one step, or say that there is no minimum to be found."""
        view = _seen(problem)
        if self.seeks_minimum and view.unbounded is not None:
            direction = {view.name: view.unbounded[:, None]}
            return Sweep(factors, memo, status=Status.UNBOUNDED, direction=direction)
        return self.advance(view, factors, memo)


def _seen(problem: BaseProblem) -> OneFactor:
    view = one_factor(problem)
    assert view is not None
    return view
