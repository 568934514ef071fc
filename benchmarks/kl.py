"""Kullback–Leibler NMF: time to within 1 % and 0.1 % of the best, against scikit-learn's mu."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import conicnmf as cn
from benchmarks.goals import Method, Ours, ScikitLearn, iterations_to, races_to
from benchmarks.harness import Row, Setup, dataset, guarded
from conicnmf.types import Data

GOALS = (0.01, 0.001)
AMPLE = 2.0
"""How much longer than the target asks the rival may take: it is judged in between, untimed."""


@dataclass(frozen=True)
class Case:
    """A data set, the rank, the target, and the seconds that ours is followed for."""

    name: str
    data: Callable[[], Data]
    rank: int
    target: float
    seconds: float


CASES = (
    Case("piano r=8", lambda: dataset("piano"), 8, 4.0, 2.0),
    Case("CBCL r=25", lambda: dataset("cbcl_faces"), 25, 4.0, 8.0),
    Case("TDT2 r=20", lambda: dataset("tdt2"), 20, 3.0, 12.0),
)


def run(setup: Setup) -> Iterator[Row]:
    for case in CASES:
        yield from guarded(case.name, _rows(case, setup))


def _rows(case: Case, setup: Setup) -> Iterator[Row]:
    problem = cn.factorize(case.data(), case.rank, loss="kl")
    yield from rows_to_goals(case.name, problem, 1.0, case.target, case.seconds, setup)


def rows_to_goals(
    case: str, problem: cn.Problem, beta: float, target: float, seconds: float, setup: Setup
) -> Iterator[Row]:
    """Race the default solver and multiplicative updates from one start to both goals."""
    drawn = cn.Random().factors(problem, np.random.default_rng(0))
    start = drawn["W"], drawn["H"]
    ours: Method = Ours(problem, start)
    theirs: Method = ScikitLearn(problem.V, start, "mu", problem, beta)
    ours.run(2)  # compiles
    late = setup.budget(seconds / 2 if setup.quick else seconds)
    begin, our_path = setup.timer(), ours.path(late)
    each = (setup.timer() - begin) / our_path[-1][0]
    close = iterations_to(our_path, our_path[-1][1] * (1 + min(GOALS)))
    assert close is not None
    # A rival that is not there after this much more time than ours has lost by the target.
    their_path = theirs.path(setup.budget(AMPLE * target * close * each))
    best = min(our_path[-1][1], their_path[-1][1])
    goals = {f"{case}, {excess:.1%}": best * (1 + excess) for excess in GOALS}
    yield from races_to(goals, (ours, our_path), (theirs, their_path), setup, target)
