"""Problems that have a feasible point by construction, over all terms, losses and shapes.

None may be called infeasible. Nearly all end feasible and below their start, or are certified where
the start is already a minimum, as where all entries are fixed; those that do not must say so.
"""

from __future__ import annotations

import warnings
from itertools import count, islice

import numpy as np
import pytest

from conicnmf.errors import IncompatibleError, InfeasibleError

from .families import problems

SEED, FEW, MANY, SECONDS = 4300, 4, 1000, 20.0
ENOUGH = 0.99


def cases():
    """Yield drawn problems whose point satisfies every constraint, and which some solver takes."""
    for k in count():
        case = problems.draw(np.random.default_rng([SEED, k]), f"{SEED}:{k}")
        if case.feasible and not case.refused and case.violation(case.point)[0] <= 1e-9:
            yield case


def solved(case):
    """Return the result of the default, nothing where no solver fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statements may be warned of, which is not judged here
        try:
            problem = case.state(case.doors[0]).problem
            return problem.solve(seed=0, throw=False, time_limit=SECONDS)
        except IncompatibleError:
            return None


def judged(case, result):
    """Return what is wrong: said to be infeasible, or worse than its start without a word."""
    if result.status.name == "INFEASIBLE":
        return f"infeasible: violation {result.max_violation:.2g}, {case.text}"
    first = result.history[0]
    feasible = result.max_violation <= 1e-6
    if feasible and (result.objective < first.objective or not first.feasible):
        return "fine"
    # Objectives of exact fits are the squares of rounding errors.
    level = result.objective <= first.objective + 1e-12 * result.problem.unit
    if feasible and level and _certified(result):
        return "fine"
    said = result.status.kind != "converged"
    return "told" if said else f"silent: {result.status.name}, {case.text}"


def _certified(result):
    """Whether a certificate finds nothing that could be lowered, so the start cannot be either."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(result.certificate())


def check(number):
    ends = []
    for case in islice(cases(), number):
        try:
            result = solved(case)
        except InfeasibleError as error:
            ends.append(f"infeasible: {error}, {case.text}")
            continue
        if result is not None:
            ends.append(judged(case, result))
    wrong = [end for end in ends if end not in ("fine", "told")]
    assert not wrong, "\n".join(wrong)
    assert len(ends) >= 0.8 * number
    assert ends.count("fine") >= ENOUGH * len(ends) - 1


def test_a_feasible_problem_ends_feasible_and_below_its_start():
    check(FEW)


@pytest.mark.long
def test_so_do_a_thousand():
    check(MANY)
