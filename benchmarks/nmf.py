"""Plain NMF: time to within 1 % and 0.1 % of the best, against scikit-learn from the same start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import conicnmf as cn
from benchmarks.goals import Method, Ours, ScikitLearn, race_to
from benchmarks.harness import Row, Setup, dataset, guarded
from conicnmf.types import Data


@dataclass(frozen=True)
class Case:
    """A data set, the rank, and the target against coordinate descent."""

    name: str
    data: Callable[[], Data]
    rank: int
    target: float


CASES = (
    Case("CBCL r=49", lambda: dataset("cbcl_faces"), 49, 3.0),
    Case("dense 2000² r=40", lambda: dataset("low_rank", m=2000, n=2000, rank=40), 40, 1.5),
    Case("TDT2 r=30", lambda: dataset("tdt2"), 30, 1.5),
)


def run(setup: Setup) -> Iterator[Row]:
    for case in CASES:
        yield from guarded(case.name, _rows(case, setup))


def _rows(case: Case, setup: Setup) -> Iterator[Row]:
    V, seconds = case.data(), 3.0 if setup.quick else 6.0
    problem = cn.factorize(V, case.rank)
    drawn = cn.Random().factors(problem, np.random.default_rng(0))
    start = drawn["W"], drawn["H"]
    methods: dict[str, Method] = {
        "HALS": Ours(problem, start, cn.HALS()),
        "cd": ScikitLearn(V, start, "cd"),
        "mu": ScikitLearn(V, start, "mu"),
    }
    methods["HALS"].run(2)  # compiles
    # A rival that is not there after this much more time than ours has lost by the target.
    budgets = dict.fromkeys(methods, 1.75 * case.target * seconds) | {"HALS": seconds}
    paths = {name: method.path(setup.budget(budgets[name])) for name, method in methods.items()}
    best = min(path[-1][1] for path in paths.values())
    for excess in (0.01, 0.001):
        for rival in ("cd", "mu"):
            yield race_to(
                best * (1 + excess),
                f"{case.name}, {excess:.1%}, {rival}",
                (methods["HALS"], paths["HALS"]),
                (methods[rival], paths[rival]),
                setup,
                case.target if rival == "cd" else None,
                repeats=3 if rival == "cd" else 1,
            )
