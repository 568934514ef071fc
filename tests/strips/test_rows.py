"""Constraints on whole rows of H, whose entries are in many strips."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(3)
V = RNG.random((12, 4)) @ RNG.random((4, 57)) + 0.1 * RNG.random((12, 57))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 57)) + 0.1
FEW = "20KB"
NONNEG = cn.NonNegative()
UNIT = [NONNEG, cn.UnitNorm()]

ROWS = {
    "band": [NONNEG, cn.Sparseness(min=0.5)],
    "band both ways": [NONNEG, cn.Sparseness(min=0.2, max=0.4)],
    "bands": [NONNEG, cn.Sparseness(min=[0.5, 0.0, 0.3, 0.7]), cn.L1(0.1)],
    "simplex": [cn.Simplex(total=5.0)],
    "ball": [NONNEG, cn.NormBall(2.0)],
    "sphere": UNIT,
    "band on the sphere": [*UNIT, cn.Sparseness(min=0.5)],
    "band in the ball": [NONNEG, cn.Sparseness(min=0.5), cn.NormBall(2.0)],
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_in_strips_end_where_rows_in_memory_do(kind):
    stated = {"H": ROWS[kind], "W": UNIT if kind == "bands" else [NONNEG]}
    whole = cn.factorize(V, 4, **stated).solve("HALS", init=START, stop=12)
    strips = cn.factorize(V, 4, memory_limit=FEW, **stated).solve("HALS", init=START, stop=12)
    assert strips.problem.V.crew.reader.count > 2
    np.testing.assert_allclose(strips.W, whole.W, atol=1e-8)
    np.testing.assert_allclose(strips.H, whole.H, atol=1e-8)
    np.testing.assert_allclose(strips.history.objective, whole.history.objective, rtol=1e-9)
    assert strips.max_violation <= 1e-12


def test_a_row_that_would_vanish_is_only_shortened():
    start = START[0], np.vstack([START[1][:3], 1e-9 * np.eye(1, 57)])
    stated = {"H": [NONNEG, cn.Sparseness(min=0.9), cn.L1(1e3)], "W": UNIT}
    whole = cn.factorize(V, 4, **stated).solve("HALS", init=start, stop=2)
    strips = cn.factorize(V, 4, memory_limit=FEW, **stated).solve("HALS", init=start, stop=2)
    assert strips.H.any(axis=1).all()
    np.testing.assert_allclose(strips.H, whole.H, atol=1e-8 * np.abs(whole.H).max())


def test_the_default_fits():
    result = cn.factorize(V, 4, H=ROWS["band"], memory_limit=FEW).solve(stop=5)
    assert result.max_violation <= 1e-12


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"H": [NONNEG, cn.Monotone()]}, "links samples"),
        ({"H": [cn.Sparseness(min=0.5)]}, "rows of H ≥ 0"),
        ({"H": [NONNEG, cn.TotalVariation(0.1)]}, "links samples"),
        ({"H": [NONNEG, cn.Sparseness(min=0.5), cn.Simplex(each="sample")]}, "links samples"),
    ],
)
def test_rows_that_cannot_be_projected_are_refused(given, said):
    with pytest.raises(cn.InputError, match=said):
        cn.factorize(V, 4, memory_limit=FEW, **given)


def test_other_solvers_and_losses_say_why_not():
    problem = cn.factorize(V, 4, H=ROWS["band"], memory_limit=FEW)
    with pytest.raises(cn.IncompatibleError, match="which HALS can handle"):
        problem.solve("ANLS")
    counts = cn.factorize(V, 4, H=ROWS["simplex"], loss="kl", memory_limit=FEW)
    with pytest.raises(cn.IncompatibleError, match="needs squares alone"):
        counts.solve("HALS")
