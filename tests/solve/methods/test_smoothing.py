"""Losses with kinks, by way of smooth ones: feasible, stationary, and no worse than steep squares."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.errors import IncompatibleError
from conicnmf.solve.methods.smoothing import smoothed

RNG = np.random.default_rng(8)
V = RNG.integers(0, 4, (7, 8)).astype(float)
NONNEG = cn.NonNegative()
BAND = cn.factorize(V, 2, H=[NONNEG, cn.Sparseness(min=0.5)], loss="absolute")
OWN = cn.factorize(V, 2, W=[NONNEG, cn.Convex(lambda W: [W <= 1.2])], loss="absolute")
START = RNG.random((7, 2)), RNG.random((2, 8))


@pytest.mark.parametrize("problem", [BAND, OWN], ids=["band", "user's constraint"])
def test_magnitudes_end_where_cone_programs_gain_nothing(problem):
    result = problem.solve(init=START)
    assert result.solver.startswith("Smoothing")
    assert result.status is cn.Status.CONVERGED
    assert result.certificate()
    steep = problem.solve("TangentPlane", init=START, throw=False)
    assert result.objective < steep.objective


def test_smooth_losses_lie_below_by_less_than_their_width():
    W, H = START
    loss = cn.Absolute(weights=RNG.random((7, 8)), scale=2.0)
    for part in (1.0, 0.1, 0.001):
        close = loss.smoothed(V, W, H, part)
        mean = np.average(abs(V - W @ H), weights=loss.weights)
        gap = loss.value(V, W, H) - close.value(V, W, H)
        assert 0 <= gap <= 0.5 * (1 + 1e-9) * part * mean * loss.scale * loss.weights.sum()


def test_only_losses_with_kinks_are_replaced():
    problem = smoothed(BAND)
    assert isinstance(problem.loss, cn.Huber)
    assert problem.H is BAND.H
    with pytest.raises(IncompatibleError, match="no loss has kinks"):
        cn.factorize(V, 2).solve(cn.Smoothing(cn.HALS()))


def test_a_race_of_solvers_sees_smooth_losses_too():
    result = BAND.solve(seed=0, effort="normal")
    assert result.solver.startswith("Race(solvers=(Smoothing(")
    assert result.certificate()


def test_gradient_steps_would_end_at_kinks():
    problem = cn.factorize(V, 2, loss="absolute")
    with pytest.raises(IncompatibleError, match=r"write Smoothing\(ProjectedGradient\(\)\)"):
        problem.solve("ProjectedGradient")
    result = problem.solve(cn.Smoothing(cn.ProjectedGradient()), init=START)
    assert result.certificate()
