"""The default solver against every solver that fits, from the same seed, on held-out problems."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.grid import Case, cases
from benchmarks.harness import Row, Setup
from conicnmf.results import Iteration
from conicnmf.solve.choice import fitting
from conicnmf.solve.methods.base import AnySolver
from conicnmf.types import Factors

NEAR, FAR = 0.01, 0.02
SECONDS, AT_MOST = 8.0, 120.0
"""After how much processor time a solve is ended, and after how long in any case: a busy machine must
not cut runs short."""
EXACT = 1e-4
"""Below this part of the data's size an objective is an exact fit, and gaps count in units of it."""
LEFT_OUT = ("JointNLP", "SparsityMaximization", "Coded")
"""Those that take minutes here, that maximize something else, or whose codes are not minima."""


@dataclass(frozen=True)
class Outcome:
    """One problem: how far the default ends above the best solver, and its relative time."""

    case: Case
    gap: float
    slower: float
    best: str


def run(setup: Setup) -> Iterator[Row]:
    """Judge the default on all held-out problems, those with many basins and the others apart too."""
    held = list(cases("held_out"))[:: 10 if setup.quick else 1]
    measured = [_measure(case) for case in held]
    parts = {
        "all": measured,
        "bounds on sparseness": [m for m in measured if m.case.has_basins],
        "others": [m for m in measured if not m.case.has_basins],
    }
    for name, part in parts.items():
        yield from _rows(name, part, judged=name == "all")
    yield _on_real_data([m for m in measured if m.case.is_real])


def _measure(case: Case) -> Outcome:
    fits = [solver for solver in fitting(case.problem) if solver.name not in LEFT_OUT]
    for solver in (None, *fits):  # the first call of a kernel compiles it
        case.problem.solve(solver, seed=case.seed, stop=2, throw=False)
    own, seconds = _solved(case, None)
    others = {solver.name: _solved(case, solver) for solver in fits}
    best = min(others, key=lambda name: others[name][0])
    lowest = others[best][0]
    unit = max(abs(lowest), EXACT * case.problem.unit)
    fastest = min(t for value, t in others.values() if value <= lowest + NEAR * unit)
    return Outcome(case, (own - lowest) / unit, seconds / fastest, best)


def _solved(case: Case, solver: AnySolver | None) -> tuple[float, float]:
    """Return the objective, infinite where it is not feasible, and the processor time."""
    begin = time.process_time()

    def is_spent(iteration: Iteration, factors: Factors) -> bool:
        return time.process_time() - begin > SECONDS

    result = case.problem.solve(
        solver, seed=case.seed, callback=is_spent, time_limit=AT_MOST, throw=False
    )
    feasible = result.max_violation <= 1e-6 and math.isfinite(result.objective)
    return (result.objective if feasible else math.inf), time.process_time() - begin


def _rows(name: str, part: list[Outcome], judged: bool) -> Iterator[Row]:
    gaps = np.array([outcome.gap for outcome in part])
    worst = max(part, key=lambda outcome: outcome.gap)
    note = f"worst: {worst.case.name}, {worst.gap:.1%} above {worst.best}"
    share = float(np.mean(gaps <= NEAR))
    # `inverted_cdf` takes a measured gap, and some gaps are infinite.
    high = float(np.quantile(gaps, 0.99, method="inverted_cdf"))
    slower = float(np.median([outcome.slower for outcome in part]))
    case = f"{len(part)} problems, {name}"
    yield Row(
        f"{case}: within 1 % of the best",
        f"{share:.1%}",
        ratio=share,
        target="≥ 0.95" if judged else "",
        ok=share >= 0.95 if judged else None,
        note=note,
    )
    yield Row(
        f"{case}: 99th percentile of the gap",
        f"{high:.2%}",
        ratio=high,
        target="≤ 0.05" if judged else "",
        ok=high <= 0.05 if judged else None,
        note=f"more than 2 % above: {int((gaps > FAR).sum())}",
    )
    yield Row(
        f"{case}: median time over the fastest that got there",
        ratio=slower,
        target="≤ 3" if judged else "",
        ok=slower <= 3 if judged else None,
        note="processor time",
    )


def _on_real_data(part: list[Outcome]) -> Row:
    """Judge how often the default ends far above the best solver on data that were measured."""
    far = sorted((o for o in part if o.gap > FAR), key=lambda outcome: -outcome.gap)
    share = len(far) / len(part)
    return Row(
        f"{len(part)} problems on real data: more than 2 % above the best",
        f"{share:.1%}",
        ratio=share,
        target="≤ 0.05",
        ok=share <= 0.05,
        note="; ".join(f"{o.case.name} {o.gap:.1%}" for o in far[:3]),
    )
