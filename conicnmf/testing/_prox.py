"""Proximal steps and majorizers of a penalty, each against another route."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable

import cvxpy as cp
import numpy as np

from conicnmf.model.terms import Penalty
from conicnmf.testing._expect import expect, expect_close, untouched
from conicnmf.types import Array

_BY_CVXPY = 1e-7
_TOUCHES = 1e-9
_GOALS = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)


def check_prox(penalty: Penalty, B: Array, rng: np.random.Generator) -> None:
    """Expect no point of less penalty(X) + ‖X − B‖²/(2 step) than the one that is returned."""
    step = 10 ** rng.uniform(-1, 1)
    for name in sorted(penalty.abilities & {"prox", "prox_nonneg"}):
        nonneg = name == "prox_nonneg"
        prox: Callable[[Array, float], Array] = getattr(penalty, name)
        with untouched(f"{penalty}.{name}", B):
            found = prox(B, step)
        expect(found.shape == B.shape, f"{penalty}.{name} returns shape {found.shape}")
        single = prox(B.astype(np.float32), step).dtype
        expect(single == np.float32, f"{penalty}.{name} turns float32 into {single}")
        expect(not nonneg or found.min() >= 0, f"{penalty}.{name} leaves negative entries")

        def cost(X: Array) -> float:
            return penalty.value(X) + float(np.sum((X - B) ** 2)) / (2 * step)

        size = float(np.abs(B).max())
        rivals = [B, np.zeros_like(B), *_by_cvxpy(penalty, B, step, nonneg)]
        rivals += [found + far * size * rng.standard_normal(B.shape) for far in (1e-1, 1e-3, 1e-5)]
        reached = cost(found)
        for rival in rivals:
            better = reached - cost(np.maximum(rival, 0) if nonneg else rival)
            expect(
                better <= _BY_CVXPY * cost(B),
                f"{penalty}.{name} is not the minimizer: another point is better by {better:.3g}",
            )


def _by_cvxpy(penalty: Penalty, B: Array, step: float, nonneg: bool) -> list[Array]:
    """Return the minimizer that CVXPY finds, where the penalty has an expression."""
    if "expression" not in penalty.abilities:
        return []
    X = cp.Variable(B.shape, nonneg=nonneg)
    goal = penalty.expression(X) + cp.sum_squares(X - B) / (2 * step)
    # CVXPY warns of the last digits; any point is a fair rival.
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
        warnings.simplefilter("ignore")
        cp.Problem(cp.Minimize(goal)).solve(solver="CLARABEL", **_GOALS)
    return [] if X.value is None else [np.asarray(X.value)]


def check_sum(penalty: Penalty, B: Array) -> None:
    """Expect a penalty that is a sum over pieces to be that sum."""
    if penalty.each not in ("component", "sample"):
        return
    axis = 0 if penalty.each == "component" else 1
    parts = sum(penalty.value(part) for part in np.split(B, B.shape[axis], axis=axis))
    sentence = f'{penalty} says each="{penalty.each}", but is not a sum over the pieces'
    expect_close(parts, penalty.value(B), _TOUCHES, sentence)


def check_majorizer(penalty: Penalty, B: Array, other: Array) -> None:
    """Expect a convex quadratic that touches at B and is nowhere below."""
    if "majorize" not in penalty.abilities:
        return
    above = penalty.majorize(B)
    sentence = f"the majorizer of {penalty} does not touch it"
    expect_close(above.value(B), penalty.value(B), _TOUCHES, sentence, 1.0)
    lowest = float(np.linalg.eigvalsh(above.G)[0])
    expect(lowest >= -_TOUCHES, f"the majorizer of {penalty} is not convex: {lowest:.3g}")
    for share in np.linspace(0, 1, 7):
        X = B + share * (other - B)
        below = penalty.value(X) - above.value(X)
        scale = abs(penalty.value(X)) + 1.0
        expect(below <= _TOUCHES * scale, f"the majorizer of {penalty} is below it by {below:.3g}")
