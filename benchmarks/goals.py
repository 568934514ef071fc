"""Time to a goal: each method is given just the iterations it needs, in one plain call."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.decomposition import NMF

import conicnmf as cn
from benchmarks.harness import Row, Runs, Setup, clock, speedup
from conicnmf._types import Array, Data

Path = list[tuple[int, float]]
"""Pairs of an iteration and the lowest objective up to it."""


class Method(Protocol):
    """Something that lowers an objective iteration by iteration, always in the same way."""

    def path(self, seconds: float) -> Path:
        """Return the course of the objective for about this long."""

    def run(self, iterations: int) -> object:
        """Do this many iterations, the work that is timed."""


@dataclass(frozen=True)
class Ours:
    """A solver of the package, through the public door."""

    problem: cn.Problem
    start: tuple[Array, Array]
    solver: cn.HALS | cn.TangentPlane | cn.Chain | None = None

    def path(self, seconds: float) -> Path:
        """Return the history, infeasible iterates left out."""
        stop = cn.TimeLimit(seconds)
        result = self.problem.solve(self.solver, init=self.start, stop=stop, throw=False)
        history = result.history
        values = np.where(history.violation <= 1e-6, history.objective, np.inf)
        return list(enumerate(np.minimum.accumulate(values).tolist()))

    def run(self, iterations: int) -> cn.Result:
        """Solve with an iteration limit."""
        return self.problem.solve(self.solver, init=self.start, stop=iterations, throw=False)


@dataclass(frozen=True)
class Reference:
    """A method of `references`, a generator of (W, H, objective)."""

    begin: Callable[[], Iterator[tuple[Array, Array, float]]]

    def path(self, seconds: float) -> Path:
        """Follow the generator."""
        end = time.perf_counter() + seconds
        path: Path = []
        for count, (_, _, value) in enumerate(self.begin(), start=1):
            path.append((count, value))
            if time.perf_counter() > end:
                break
        return path

    def run(self, iterations: int) -> None:
        """Exhaust the generator up to there."""
        for _ in zip(range(iterations), self.begin(), strict=False):
            pass


@dataclass(frozen=True)
class ScikitLearn:
    """`sklearn.decomposition.NMF`, whose solvers keep nothing but the factors between calls."""

    V: Data
    start: tuple[Array, Array]
    solver: str

    def path(self, seconds: float) -> Path:
        """Go on in steps of a twentieth of the iterations made."""
        end = time.perf_counter() + seconds
        path: Path = []
        factors, count = self.start, 0
        while time.perf_counter() < end:
            more = max(1, count // 20)
            factors, value = self._fit(factors, more)
            count += more
            path.append((count, value))
        return path

    def run(self, iterations: int) -> None:
        """Fit once, from the start."""
        self._fit(self.start, iterations)

    def _fit(
        self, factors: tuple[Array, Array], iterations: int
    ) -> tuple[tuple[Array, Array], float]:
        W, H = (np.array(factor) for factor in factors)
        model = NMF(len(H), init="custom", solver=self.solver, max_iter=iterations, tol=0)
        W = model.fit_transform(self.V, W=W, H=H)
        return (W, model.components_), float(model.reconstruction_err_) ** 2


def iterations_to(path: Path, goal: float) -> int | None:
    """Return the first iteration at or below the goal."""
    return next((count for count, value in path if value <= goal), None)


def race_to(
    goal: float,
    case: str,
    ours: tuple[Method, Path],
    theirs: tuple[Method, Path],
    budget: float,
    setup: Setup,
    at_least: float | None = None,
    note: str = "",
) -> Row:
    """Time both to the goal; a rival that misses it within the budget is taken to need all of it."""
    (mine, our_path), (rival, their_path) = ours, theirs
    needed, rival_needs = iterations_to(our_path, goal), iterations_to(their_path, goal)
    if needed is None:
        lowest = our_path[-1][1] / goal - 1
        missed = f"ours ended {lowest:.2%} above the goal in {clock(budget)}"
        met = None if at_least is None else False
        target = "" if at_least is None else f"≥ {at_least:g}"
        return Row(case, ratio=0.0, target=target, ok=met, note=f"{missed}; {note}".strip("; "))
    sides = {"ours": lambda _: mine.run(needed)}
    if rival_needs is not None:
        sides["theirs"] = lambda _: rival.run(rival_needs)
    runs = setup.race(sides)
    if rival_needs is None:
        count = len(runs["ours"].seconds)
        runs["theirs"] = Runs([budget] * count)
        note = f"{note}; rival not there in {clock(budget)}".strip("; ")
    counts = f"iterations {needed} to {rival_needs or math.inf}"
    return speedup(case, runs["ours"], runs["theirs"], at_least, f"{counts}; {note}".strip("; "))
