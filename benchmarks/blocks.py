"""Models of several variables, 200×300: time to reach the objective of 25 iterations of the cone path.

Which local minimum a method falls into depends on the data and on the start, so the default solver
is judged on several draws of both: by the middle ratio, and by the worst of the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_path import ConePath, Squares
from benchmarks.goals import Late, Ours, Path, iterations_to, race_to
from benchmarks.harness import Row, Runs, Setup, clock, speedup
from conicnmf.errors import ConicNMFError
from conicnmf.types import Array

SHAPE, ITERATIONS, TARGET, ABOVE = (200, 300), 25, 10, 0.01
DRAWS = (1001, 1002, 1003, 1004, 1005)
DEFAULT = "default"
TIE = 1e-5
"""Where both find the same minimum, differences of this size say nothing."""
SOLVERS = {
    "HALS": cn.HALS,
    "ANLS": cn.ANLS,
    "ProjectedGradient": cn.ProjectedGradient,
    "Multiplicative": cn.Multiplicative,
    "TangentPlane": cn.TangentPlane,
}
"""Those that may be the best."""


@dataclass(frozen=True, eq=False)
class Model:
    """One model, stated for the cone path and as a CVXPY objective, and a start."""

    variables: list[cp.Variable]
    squares: list[Squares]
    start: dict[cp.Variable, Array]

    @property
    def objective(self) -> cp.Minimize:
        """The same losses, as a user writes them."""
        return cp.Minimize(sum(map(_written, self.squares)))


def _written(loss: Squares) -> Any:
    products = []
    for factors in loss.products:
        product = factors[0]
        for factor in factors[1:]:
            product = product @ factor
        products.append(product)
    fit = cp.sum_squares(loss.V - sum(products[1:], products[0]))
    return fit if loss.weight == 1 else loss.weight * fit


def coupled(m: int, n: int, rng: np.random.Generator) -> Model:
    """State two views of the same samples, which share H."""
    r, second = 8, 3 * m // 4
    A, B, H = _factor(m, r, "A"), _factor(second, r, "B"), _factor(r, n, "H")
    truth = {X: _sparse(X, rng) for X in (A, B, H)}
    first = Squares(_noisy(truth[A] @ truth[H], rng), [(A, H)])
    other = Squares(_noisy(truth[B] @ truth[H], rng), [(B, H)], 0.5)
    return _model([A, B, H], [first, other], rng)


def offset(m: int, n: int, rng: np.random.Generator) -> Model:
    """State a free column that is added to every sample."""
    W, H, b = _factor(m, 8, "W"), _factor(8, n, "H"), cp.Variable((m, 1), name="b")
    V = _noisy(_sparse(W, rng) @ _sparse(H, rng) + rng.random((m, 1)), rng)
    return _model([W, H, b], [Squares(V, [(W, H), (b, np.ones((1, n)))])], rng)


def three(m: int, n: int, rng: np.random.Generator) -> Model:
    """State three factors, the small one in the middle."""
    W, S, H = _factor(m, 8, "W"), _factor(8, 6, "S"), _factor(6, n, "H")
    V = _noisy(_sparse(W, rng) @ _sparse(S, rng) @ _sparse(H, rng), rng)
    return _model([W, S, H], [Squares(V, [(W, S, H)])], rng)


def between(m: int, n: int, rng: np.random.Generator) -> Model:
    """State a known matrix between two factors."""
    W, H = _factor(m, 8, "W"), _factor(6, n, "H")
    C = rng.random((8, 6))
    V = _noisy(_sparse(W, rng) @ C @ _sparse(H, rng), rng)
    return _model([W, H], [Squares(V, [(W, C, H)])], rng)


CASES: dict[str, Callable[[int, int, np.random.Generator], Model]] = {
    "two coupled views, r=8": coupled,
    "offset, r=8": offset,
    "three factors, r=8, 6": three,
    "constant in the middle, r=8, 6": between,
}


def _factor(rows: int, columns: int, name: str) -> cp.Variable:
    return cp.Variable((rows, columns), nonneg=True, name=name)


def _sparse(X: cp.Variable, rng: np.random.Generator) -> Array:
    return rng.random(X.shape) * (rng.random(X.shape) < 0.6)


def _noisy(V: Array, rng: np.random.Generator) -> Array:
    return np.maximum(V + 0.1 * V.mean() * rng.standard_normal(V.shape), 0.0)


def _model(variables: list[cp.Variable], squares: list[Squares], rng: np.random.Generator) -> Model:
    """Draw a start of the size of the data."""
    start = {X: rng.random(X.shape) for X in variables}
    length = max(len(factors) for loss in squares for factors in loss.products)
    whole = np.sqrt(sum(float(np.vdot(loss.V, loss.V)) for loss in squares))
    fitted = np.sqrt(sum(replace(loss, V=0 * loss.V).value(start) for loss in squares))
    return Model(
        variables, squares, {X: (whole / fitted) ** (1 / length) * v for X, v in start.items()}
    )


@dataclass(frozen=True)
class Cone:
    """The cone path as a method of a race."""

    path_: ConePath
    start: dict[cp.Variable, Array]

    def path(self, late: Late) -> Path:
        """Return the course of the first iterations."""
        values = self.path_.run(self.start, ITERATIONS, late).objective
        return list(enumerate(np.minimum.accumulate(values).tolist(), start=1))

    def run(self, iterations: int) -> None:
        """Do this many iterations."""
        self.path_.run(self.start, iterations)


def run(setup: Setup) -> Iterator[Row]:
    for case, build in CASES.items():
        drawn = [build(*SHAPE, np.random.default_rng(seed)) for seed in DRAWS]
        yield from rows(case, drawn[: 1 if setup.quick else None], setup)


def rows(
    case: str, models: Sequence[Model], setup: Setup, seconds: float | None = None
) -> Iterator[Row]:
    """Race the default solver on every draw and, tried for so long, the best on the first."""
    seconds = seconds or (3.0 if setup.quick else 10.0)
    try:
        tried = [_race(model, setup, seconds) for model in models]
    except ConicNMFError as error:
        yield _lost(case, f"refused: {error}".splitlines()[0])
        return
    races = [race for race in tried if race is not None]
    if not races:
        yield Row(case, note="the cone path's solver fails on every draw")
        return
    yield _default(f"{case}, default", races)
    first = races[0]
    best = min(first.named(), key=first.cost)
    row = race_to(
        first.goal,
        f"{case}, best, {best}",
        first.course(best),
        (first.rival, first.their_path),
        setup,
        TARGET,
        first.end(best).text,
    )
    yield replace(row, ok=bool(row.ok and first.end(best).above <= ABOVE))


def _race(model: Model, setup: Setup, seconds: float) -> _Race | None:
    """Return the race of one draw, nothing where the rival's solver fails on the way."""
    try:
        return _Race(model, setup, seconds)
    except cp.SolverError:
        return None


def _default(case: str, races: Sequence[_Race]) -> Row:
    """Return the middle ratio over the draws, with the worst end."""
    ours, theirs = Runs(), Runs()
    for race in races:
        ours.seconds.append(race.cost(DEFAULT))
        theirs.seconds.append(race.rivals_time())
    worst = max((race.end(DEFAULT) for race in races), key=lambda end: end.above)
    reached = sum(np.isfinite(ours.seconds))
    note = f"reached on {reached} of {len(races)} draws; at worst {worst.text}"
    return speedup(case, ours, theirs, TARGET, note, worst.above <= ABOVE)


@dataclass(frozen=True)
class _End:
    """Where a solver ends by itself, relative to the goal."""

    above: float
    text: str


class _Race:
    """One draw: the course of the cone path, and those of our solvers as they are asked for."""

    def __init__(self, model: Model, setup: Setup, seconds: float) -> None:
        self.model, self.setup, self.seconds = model, setup, seconds
        self.problem = cn.Problem(model.objective)
        self.rival = Cone(ConePath(model.variables, model.squares), model.start)
        self.their_path = self.rival.path(lambda: False)  # compiles
        self.goal = self.their_path[-1][1] * (1 + TIE)
        self.course, self.end = cache(self._course), cache(self._end)

    def named(self) -> list[str]:
        """Return the solvers that fit."""
        return [name for name, kind in SOLVERS.items() if not kind().mismatches(self.problem)]

    def _course(self, name: str) -> tuple[Ours, Path]:
        solver = None if name == DEFAULT else SOLVERS[name]()
        ours = Ours(self.problem, self.model.start, solver)
        ours.run(2)  # compiles
        return ours, ours.path(self.setup.budget(self.seconds))

    def _end(self, name: str) -> _End:
        ours, _ = self.course(name)
        begin = self.setup.timer()
        ended = self.problem.solve(ours.solver, init=self.model.start, throw=False)
        took, above = self.setup.timer() - begin, ended.objective / self.goal - 1
        method = ended.solver_text.partition("(")[0]
        return _End(
            above, f"{method} ends by itself {above:+.2%} from the goal, after {clock(took)}"
        )

    def cost(self, name: str) -> float:
        """Return the time to the goal."""
        ours, path = self.course(name)
        needed = iterations_to(path, self.goal)
        return math.inf if needed is None else self._timed(lambda: ours.run(needed))

    def rivals_time(self) -> float:
        """Return the time in which the cone path comes there."""
        return self._timed(lambda: self.rival.run(self.their_path[-1][0]))

    def _timed(self, work: Callable[[], object]) -> float:
        begin = self.setup.timer()
        work()
        return self.setup.timer() - begin


def _lost(case: str, note: str) -> Row:
    return Row(case, ratio=0.0, target=f"≥ {TARGET:g}", ok=False, note=note)
