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
from conicnmf.types import Factors


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
            self.problem.holding.change(self.factors, factors) if self.factors else math.inf,
            made.inner,
            made.notes,
            not rank[0],
        )
        self.history.append(iteration)
        self.factors = factors
        wanted = rank <= self.best_rank or not self.keeps_best
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
        packed = self.problem.holding.packed
        arrays = {"factors": packed(self.factors), "memo": memo}
        if self.best is not self.factors:
            arrays["best"] = packed(self.best)
        values: dict[str, Any] = {
            "history": self.history.to_list(),
            "best_rank": [bool(self.best_rank[0]), float(self.best_rank[1])],
            "rng": rng.bit_generator.state,
        }
        return State(arrays, values)

    def resume(self, state: State) -> None:
        """Go on from a state; the clock goes on from the time of its last iteration."""
        unpacked = self.problem.holding.unpacked
        self.factors = unpacked(state.arrays["factors"])
        best = state.arrays.get("best")
        self.best = self.factors if best is None else unpacked(best)
        infeasible, measure = state.values["best_rank"]
        self.best_rank = (bool(infeasible), number(measure))
        self.history = History.from_list(state.values["history"], self.history.unit)
        self.begin -= self.history[-1].seconds
