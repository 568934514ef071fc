"""Time to a goal: each method is given just the iterations it needs, in one plain call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
from sklearn.decomposition import NMF

import conicnmf as cn
from benchmarks.harness import Row, Runs, Setup, clock, speedup
from conicnmf.solve.methods.base import Solver
from conicnmf.types import Array, Data

Path = list[tuple[int, float]]
"""Pairs of an iteration and the lowest objective up to it."""

Late = Callable[[], bool]
"""Whether a budget is spent."""


def solve_until(
    late: Late, problem: cn.Problem, solver: Solver | None, start: tuple[Array, Array]
) -> cn.Result:
    """Solve without any other end than the budget's."""
    return problem.solve(
        solver,
        init=start,
        stop=cn.MaxIter(10**9),
        callback=lambda _, __: late(),
        throw=False,
    )


class Method(Protocol):
    """Something that lowers an objective iteration by iteration, always in the same way."""

    def path(self, late: Late) -> Path:
        """Return the course of the objective until it is late."""

    def run(self, iterations: int) -> object:
        """Do this many iterations, the work that is timed."""


@dataclass(frozen=True)
class Ours:
    """A solver of the package, called as users call it."""

    problem: cn.Problem
    start: tuple[Array, Array]
    solver: Solver | None = None

    def path(self, late: Late) -> Path:
        """Return the history, infeasible iterates left out."""
        history = solve_until(late, self.problem, self.solver, self.start).history
        values = np.where(history.violation <= 1e-6, history.objective, np.inf)
        return list(enumerate(np.minimum.accumulate(values).tolist()))

    def run(self, iterations: int) -> cn.Result:
        """Solve with an iteration limit."""
        return self.problem.solve(self.solver, init=self.start, stop=iterations, throw=False)


@dataclass(frozen=True)
class Reference:
    """A method of `references`, a generator of (W, H, objective)."""

    begin: Callable[[], Iterator[tuple[Array, Array, float]]]

    def path(self, late: Late) -> Path:
        """Follow the generator."""
        path: Path = []
        for count, (_, _, value) in enumerate(self.begin(), start=1):
            path.append((count, value))
            if late():
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
    problem: cn.Problem | None = None
    """Whose objective judges it; without one its own squared error does."""
    beta: float = 2.0

    def path(self, late: Late) -> Path:
        """Go on in steps of a tenth of the iterations made: each step costs an objective too."""
        path: Path = []
        factors, count = self.start, 0
        while not late():
            more = max(1, count // 10)
            factors, own = self._fit(factors, more)
            count += more
            path.append((count, self._judged(factors, own)))
        return path

    def run(self, iterations: int) -> None:
        """Fit once, from the start."""
        self._fit(self.start, iterations)

    def _fit(
        self, factors: tuple[Array, Array], iterations: int
    ) -> tuple[tuple[Array, Array], float]:
        W, H = (np.array(factor) for factor in factors)
        options = {"solver": self.solver, "beta_loss": self.beta, "max_iter": iterations, "tol": 0}
        model = NMF(len(H), init="custom", **options)
        W = model.fit_transform(self.V, W=W, H=H)
        return (W, model.components_), float(model.reconstruction_err_) ** 2

    def _judged(self, factors: tuple[Array, Array], own: float) -> float:
        if self.problem is None:
            return own
        return self.problem.objective(dict(zip(("W", "H"), factors, strict=True)))


def iterations_to(path: Path, goal: float) -> int | None:
    """Return the first iteration at or below the goal."""
    return next((count for count, value in path if value <= goal), None)


def race_to(
    goal: float,
    case: str,
    ours: tuple[Method, Path],
    theirs: tuple[Method, Path],
    setup: Setup,
    at_least: float | None = None,
    note: str = "",
    repeats: int = 3,
) -> Row:
    """Time both to the goal."""
    (row,) = races_to({case: goal}, ours, theirs, setup, at_least, note, repeats)
    return row


def races_to(
    goals: Mapping[str, float],
    ours: tuple[Method, Path],
    theirs: tuple[Method, Path],
    setup: Setup,
    at_least: float | None = None,
    note: str = "",
    repeats: int = 3,
) -> Iterator[Row]:
    """Time both to each of the goals.

    A rival that missed one within its budget needs more than the iterations it made, which are
    timed once, for all goals that it missed.
    """
    (mine, our_path), (rival, their_path) = ours, theirs
    bound: Runs | None = None
    for case, goal in goals.items():
        needed, rival_needs = iterations_to(our_path, goal), iterations_to(their_path, goal)
        if needed is None:
            excess = our_path[-1][1] / goal - 1
            lost = Row(case, ratio=0.0, note=f"ours ended {excess:.2%} above the goal; {note}")
            yield lost if at_least is None else replace(lost, target=f"≥ {at_least:g}", ok=False)
            continue
        missed, made = rival_needs is None, rival_needs or their_path[-1][0]
        sides = {"ours": partial(_run, mine, needed)}
        if bound is None or not missed:
            sides["theirs"] = partial(_run, rival, made)
        runs = setup.race(sides, repeats, once=("theirs",) if missed else ())
        rivals = runs.get("theirs", bound)
        assert rivals is not None
        counts = f"iterations {needed} to {made}"
        if missed:
            bound, excess = rivals, their_path[-1][1] / goal - 1
            spent = clock(rivals.median)
            counts += f", where after {spent} the rival is still {excess:.2%} above: a bound"
        notes = "; ".join(filter(None, (counts, note)))
        yield speedup(case, runs["ours"], rivals, at_least, notes)


def _run(method: Method, iterations: int, _: int) -> object:
    return method.run(iterations)
