"""The state of one solve: the last iterate, the best feasible one, and the history."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conicnmf.archive import number
from conicnmf.geometry.compile_time import working_time
from conicnmf.model.base import BaseProblem
from conicnmf.results import History, Iteration
from conicnmf.solve.checkpoint import State
from conicnmf.solve.guard import in_words
from conicnmf.solve.methods.base import Sweep
from conicnmf.types import Array, Factors


@dataclass(eq=False)
class Run:
    """What has happened in a solve so far; `keeps_best` is off where the last iterate counts.

    The problem is the normalized one, and so are its factors; the history is the stated problem's.
    """

    problem: BaseProblem
    begin: float
    keeps_best: bool = True
    history: History = field(default_factory=History)
    factors: Factors = field(default_factory=dict)
    best: Factors = field(default_factory=dict)
    best_rank: tuple[bool, float] = (True, np.inf)
    direction: Factors | None = None
    remarks: list[str] = field(default_factory=list)
    """What went wrong on the way, in sentences."""
    at: str = ""
    """What is at work, to be named where it raises."""
    error: BaseException | None = None

    def __post_init__(self) -> None:
        self.begin += working_time() - time.perf_counter()  # a first solve compiles its kernels
        self.history.unit = self.problem.units.stated(self.problem.unit)

    def record(self, factors: Factors, sweep: Sweep[Any] | None = None) -> Iteration:
        """Measure an iterate and keep it when it is the best."""
        made: Sweep[Any] = Sweep(factors, None) if sweep is None else sweep
        known = made.objective
        found = self.problem.objective(factors) if known is None else known
        objective = self.problem.units.stated(found)
        known = made.violation
        violation = self.problem.violation(factors) if known is None else known
        rank = self.problem.rank_of(factors, objective, violation)
        iteration = Iteration(
            len(self.history),
            objective,
            violation,
            working_time() - self.begin,
            _change(self.factors, factors),
            made.inner,
            made.notes,
            not rank[0],
        )
        self.history.append(iteration)
        self.factors = factors
        wanted = rank < self.best_rank or not self.keeps_best
        if wanted and np.isfinite(objective):
            self.best, self.best_rank = factors, rank
        elif not self.best:
            self.best = factors  # an infinite start is better than none
        return iteration

    def remark(self, sentence: str) -> None:
        """Note something that went wrong, once."""
        if sentence not in self.remarks:
            self.remarks.append(sentence)

    def note_fault(self, error: BaseException) -> None:
        """Keep what was raised, and say where."""
        self.error = error
        self.remark(f"{self.at} raised {in_words(error)}")

    def stated(self, factors: Factors) -> Factors:
        """Return factors in the units of the stated problem."""
        return self.problem.units.outward(factors)

    def state(self, memo: Factors, rng: np.random.Generator) -> State:
        """Return everything needed to go on, with what the solver packed of its memo."""
        arrays = {"factors": self.factors, "memo": memo}
        if self.best is not self.factors:
            arrays["best"] = self.best
        values: dict[str, Any] = {
            "history": self.history.to_list(),
            "best_rank": [bool(self.best_rank[0]), float(self.best_rank[1])],
            "rng": rng.bit_generator.state,
        }
        return State(arrays, values)

    def resume(self, state: State) -> None:
        """Go on from a state; the clock goes on from the time of its last iteration."""
        self.factors = state.arrays["factors"]
        self.best = state.arrays.get("best", self.factors)
        infeasible, measure = state.values["best_rank"]
        self.best_rank = (bool(infeasible), number(measure))
        self.history = History.from_list(state.values["history"], self.history.unit)
        self.begin -= self.history[-1].seconds


def _change(before: Factors, after: Factors) -> float:
    """Return the largest relative change of any factor."""
    if not before:
        return float("inf")
    changes = []
    for name, X in after.items():
        size, moved = _norm(X), _norm(X - before[name])
        changes.append(moved / size if size else float(moved > 0))
    return max(changes)


def _norm(X: Array) -> float:
    """Return the Frobenius norm; NumPy's own takes longer to begin than small factors need."""
    x = X.ravel(order="K")
    square = float(x.dot(x))
    if math.isinf(square):  # the squares are too large for their precision, the norm may not be
        largest = np.abs(x).max()
        return float(largest) * float(np.linalg.norm(x / largest)) if largest < np.inf else math.inf
    return math.sqrt(square)
