"""Certificates of results in strips: all that looks at samples is done where the strips are.

W is judged by cone programs on sums over all strips, as always. H is judged twice: by projected
gradient steps on all samples, and by cone programs on a part of the samples of each strip, whose gain
stands for that of all. Rows of H that constraints tie together are judged by steps alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conicnmf.model.constraints import Fixed
from conicnmf.model.large import LargeProblem
from conicnmf.model.large.block import RowsBlock
from conicnmf.model.large.recipe import Recipe, some_samples
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import Result
from conicnmf.study.check import Check
from conicnmf.study.gradient_steps import by_projected_steps
from conicnmf.study.idle_components import twins
from conicnmf.study.reported import (
    as_reported,
    exact_fit,
    feasibility_of,
    not_promised,
    status_of,
    trace_of,
)
from conicnmf.study.stationarity import remaining_descent
from conicnmf.types import Array, Data, Factors

_SAMPLES = 400
"""About how many samples cone programs look at."""
_STEPS = 50


def checks_in_strips(
    problem: LargeProblem, result: Result, feasibility: float, stationarity: float
) -> tuple[Check, ...]:
    """Return all checks of a result in strips."""
    with problem.holding.opened():
        factors = problem.holding.read(result.factors, problem.shapes, "factors")
        placed = replace(result, factors=factors)
        finite = problem.holding.finite(factors)
        checks = [Check("factors that are not finite", float(not finite), 0.0)]
        if not finite:
            return tuple(checks)
        checks = [status_of(problem, placed), *checks]
        checks += feasibility_of(problem, placed, feasibility)
        checks += as_reported(problem, placed, feasibility)
        checks += _stationarity(problem, placed, stationarity)
        checks += trace_of(problem, placed, feasibility)
        return (*checks, *_components(factors))


def _stationarity(problem: LargeProblem, result: Result, tolerance: float) -> Iterator[Check]:
    """Ask how much of the objective each block could still gain near the result."""
    seen = problem.normalized()
    factors = seen.units.inward(result.factors)
    size = seen.units.within(max(abs(result.objective), exact_fit(problem, result))) or 1.0
    promised = result.promises.stationary
    W, H = seen.blocks
    on_support = promised == "support"
    if isinstance(H, RowsBlock):
        of_rows = _gain_of_rows(H, factors)
        gains = {"H": (of_rows, "gain of projected gradient steps on whole rows")}
    else:
        gains = {"H": _gain_of_samples(seen, factors, on_support)}
    held = W.given(factors)
    gains["W"] = remaining_descent(held, W.rows(factors), on_support=on_support)
    for name in ("W", "H"):
        gain, note = gains[name]
        note, allowed = (note, tolerance) if promised else (not_promised(result), np.inf)
        yield Check(f"stationary, {name}", max(gain, 0.0) / size, allowed, note)


def _gain_of_samples(
    problem: LargeProblem, factors: Factors, on_support: bool
) -> tuple[float, str]:
    H: Any = factors["H"]
    block = problem.blocks[1]
    share = min(1.0, _SAMPLES / H.shape[1])
    work = partial(
        _gain_of_strip,
        problem.fits[0].recipe,  # type: ignore[attr-defined]
        block.whole,  # type: ignore[attr-defined]
        factors["W"],
        share,
        on_support,
    )
    steps, programs, samples = problem.V.crew.run(work, problem.V, H)
    of_all = programs * H.shape[1] / samples
    if steps >= of_all:
        return steps, "gain of projected gradient steps"
    return of_all, f"gain of cone solvers on {int(samples)} samples, times {1 / share:.3g}"


def _gain_of_strip(
    recipe: Recipe,
    terms: Any,
    W: Array,
    share: float,
    on_support: bool,
    k: int,
    V: Data,
    B: Array,
) -> tuple[None, tuple[float, float, float]]:
    """Return what steps gain on a strip, what programs gain on some samples, and how many."""
    count = max(1, round(share * V.shape[1]))
    chosen = np.unique(np.linspace(0, V.shape[1] - 1, count).astype(int))
    part = recipe.held(k, some_samples(V, chosen), W, terms)
    programs, _ = remaining_descent(part, np.ascontiguousarray(B[:, chosen]), on_support)
    held = recipe.held(k, V, W, terms)
    if on_support:
        block = held.block
        held = held.on(replace(block, constraints=(*block.constraints, Fixed(B == 0, 0.0))))
    better = by_projected_steps(held, B)
    steps = 0.0 if better is None else held.objective(B) - held.objective(better)
    return None, (float(steps), float(max(programs, 0.0)), float(len(chosen)))


def _gain_of_rows(block: RowsBlock, factors: Factors) -> float:
    """Return what gradient steps gain, each projected on the constraints of whole rows."""
    held: Any = block.given(factors)
    B: Any = factors["H"]
    first = value = held.objective(B)
    step = held.step_size
    allowed = max(FEASIBLE, block.violation(B))
    for _ in range(_STEPS):
        new = block.projected(held.stepped(B, step))
        lower = held.objective(new)
        inside = block.violation(new) <= allowed and not block.collapsed(new)
        if lower < value and inside:
            B, value, step = new, lower, 2 * step
        else:
            step /= 4
    return float(first - value)


def _components(factors: Factors) -> Iterator[Check]:
    """Count components that contribute nothing, or the same as another."""
    W = factors["W"]
    H: Any = factors["H"]
    sizes = np.linalg.norm(W, axis=0) * np.sqrt(H.squares)
    dead = sizes <= 1e-8 * sizes.max(initial=0.0)
    copies = twins(W, ~dead) != np.arange(len(dead))
    for name, found in (("dead components", dead), ("duplicate components", copies)):
        yield Check(name, float(found.sum()), np.inf, "reported, not judged")
