"""Other divergences of a power spectrogram: time to reach the final value of scikit-learn's mu.

They have many local minima, and which one a method falls into depends on the start. So the goals are
1 % and 0.1 % above the end of the rival, and the middle ratio of several starts is judged; a start
from which ours does not come there counts as one that takes forever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import conicnmf as cn
from benchmarks.goals import Ours, ScikitLearn, iterations_to
from benchmarks.harness import Row, Runs, Setup, dataset, guarded, speedup

RANK, TARGET, SECONDS = 8, 2.0, 4.0
SCALE = 1e12
"""Itakura–Saito is free of scale, but scikit-learn cuts numbers off below its own epsilon."""
LOSSES = {"IS": cn.ItakuraSaito(), "β=0.5": cn.BetaDivergence(0.5), "β=1.5": cn.BetaDivergence(1.5)}
STARTS = range(5)
GOALS = (0.01, 0.001)


def run(setup: Setup) -> Iterator[Row]:
    for name, loss in LOSSES.items():
        yield from guarded(name, _rows(f"piano r={RANK}, {name}", loss, setup))


def _rows(case: str, loss: cn.ItakuraSaito | cn.BetaDivergence, setup: Setup) -> Iterator[Row]:
    problem = cn.factorize(SCALE * dataset("piano") ** 2, RANK, loss=loss)
    ours, theirs = ({goal: Runs() for goal in GOALS} for _ in range(2))
    ends = []
    for seed in STARTS[: 3 if setup.quick else None]:
        drawn = cn.Random().factors(problem, np.random.default_rng(seed))
        start = drawn["W"], drawn["H"]
        mine, rival = Ours(problem, start), ScikitLearn(problem.V, start, "mu", problem, loss.beta)
        mine.run(2)  # compiles
        path = mine.path(setup.budget(SECONDS))
        end = rival.path(setup.budget(SECONDS))
        ends.append(path[-1][1] / end[-1][1] - 1)
        for goal in GOALS:
            lowest = end[-1][1] * (1 + goal)
            for method, course, runs in ((mine, path, ours), (rival, end, theirs)):
                runs[goal].seconds.append(
                    _seconds(method.run, iterations_to(course, lowest), setup)
                )
    note = f"after {SECONDS:g} s ours is {min(ends):+.1%} to {max(ends):+.1%} from the rival"
    for goal in GOALS:
        reached = sum(np.isfinite(ours[goal].seconds))
        notes = f"reached from {reached} of {len(ends)} starts; {note}"
        yield speedup(f"{case}, {goal:.1%}", ours[goal], theirs[goal], TARGET, notes)


def _seconds(run: Callable[[int], object], iterations: int | None, setup: Setup) -> float:
    """Return the time of so many iterations, infinite for none that suffice."""
    if iterations is None:
        return float("inf")
    begin = setup.timer()
    run(iterations)
    return setup.timer() - begin
