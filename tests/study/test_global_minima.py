"""Branch and bound: its bounds hold against brute force, and what it proves is the minimum."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.kernels.nnls import nnls_gram

DIRECTIONS = 8


def problem(m=3, rank=2, s=0.5, n=7, seed=0, nonneg=True, **options):
    V = np.random.default_rng(seed).random((m, n)) - (0.0 if nonneg else 0.5)
    signs = [cn.NonNegative()] if nonneg else []
    return cn.factorize(V, rank, W=[*signs, cn.Sparseness(min=s, **options)], H=signs)


def on_a_grid(m, band):
    """Return non-negative directions of a fine grid whose sparseness lies in the band."""
    axis = np.linspace(0, 1, DIRECTIONS)
    points = np.array([p for p in product(axis, repeat=m) if np.abs(p).max() == 1])
    s = hoyer_sparseness(points)
    return points[(s >= band[0]) & (s <= band[1])]


def brute_block(stated, factors, points):
    """Return the least objective over W with columns along grid points, H held, by least squares."""
    H, V = factors["H"], stated.fits[0].V
    G, lowest = H @ H.T, np.inf
    for u, w in product(points, repeat=2):
        D = np.array([u, w])
        Q, c = (D @ D.T) * G, np.einsum("at,at->a", D, H @ V.T)
        x = nnls_gram(Q, c[:, None])[:, 0]
        lowest = min(lowest, 0.5 * np.vdot(V, V) + 0.5 * x @ Q @ x - c @ x)
    return lowest


def scale_of(stated, factors):
    """Return how many times ½‖V − WH‖² the objective is."""
    V = stated.fits[0].V
    return stated.objective(factors) / (0.5 * np.sum((V - factors["W"] @ factors["H"]) ** 2))


@pytest.mark.parametrize(
    ("stated", "band"),
    [
        (problem(s=0.5), (0.5, 1.0)),
        (problem(s=0.8, seed=1), (0.8, 1.0)),
        (problem(s=0.4, max=0.6, seed=2), (0.4, 0.6)),
    ],
    ids=["from below", "nearly one entry", "a band"],
)
def test_a_block_lies_between_its_bound_and_brute_force(stated, band):
    factors = stated.solve().factors
    found = cn.global_block(stated, factors, "W", budget=4000)
    least = brute_block(stated, factors, on_a_grid(3, band)) * scale_of(stated, factors)
    assert found.proved, found
    assert found.lower <= found.objective * (1 + 1e-12)
    assert found.lower <= least
    assert found.objective <= least * (1 + 1e-3)
    assert stated.violation(found.factors) <= 1e-6
    np.testing.assert_array_equal(found.factors["H"], factors["H"])


@pytest.mark.parametrize("loss", ["frobenius", "masked"])
def test_signed_and_masked_blocks_are_as_low_as_many_descents(loss):
    rng = np.random.default_rng(4)
    V = rng.normal(size=(4, 9))
    seen = (rng.random(V.shape) < 0.8).astype(float)
    stated = cn.factorize(
        V,
        2,
        loss=cn.WeightedFrobenius(seen) if loss == "masked" else "frobenius",
        W=[cn.Sparseness(min=0.6), cn.L2(0.1)],
        H=[],
    )
    factors = stated.solve().factors
    found = cn.global_block(stated, factors, "W", budget=4000)
    (block,) = (block for block in stated.blocks if block.name == "W")
    held, least = block.given(factors), np.inf
    for _ in range(100):
        B = block.projection(rng.normal(size=block.shape) * np.abs(factors["W"]).mean())
        for _ in range(60):
            B = block.projection(B - held.step_size * held.gradient(B))
        least = min(least, stated.objective(block.put(factors, B)))
    assert found.proved, found
    assert found.lower <= least * (1 + 1e-9)
    assert found.objective <= least * (1 + 1e-3)


@pytest.mark.parametrize(("rank", "s"), [(1, 0.6), (2, 0.8)])
def test_a_small_problem_is_as_low_as_the_best_of_many_starts(rank, s):
    stated = problem(3, rank, s, n=5, seed=3)
    found = cn.global_minimum(stated, budget=4000, gap=5e-3)
    best = min(stated.solve(seed=seed, throw=False).objective for seed in range(30))
    assert found.lower <= best * (1 + 1e-9)
    assert found.objective <= best * (1 + 1e-6)
    assert found.proved, found
    assert stated.objective(found.factors) == pytest.approx(found.objective, rel=1e-9)


def test_a_budget_that_is_spent_leaves_a_gap_and_no_proof():
    stated = problem(4)
    few = cn.global_block(stated, stated.solve().factors, "W", budget=3, gap=1e-6)
    assert not few.proved
    assert few.cells <= 4
    assert few.gap > 1e-6
    assert "budget was spent" in repr(few)


def test_what_does_not_fit_says_why():
    stated = cn.factorize(np.ones((3, 4)), 2, loss="kl", W=[cn.NonNegative(), cn.NormBall()])
    with pytest.raises(cn.IncompatibleError, match="not a quadratic in W; W has constraints"):
        cn.global_block(stated, {"W": np.ones((3, 2)), "H": np.ones((2, 4))}, "W")
    with pytest.raises(cn.InputError, match="no variable X"):
        cn.global_block(stated, {"W": np.ones((3, 2)), "H": np.ones((2, 4))}, "X")
    with pytest.raises(cn.IncompatibleError, match="W has penalties"):
        cn.global_minimum(cn.factorize(np.ones((3, 4)), 1, W=[cn.NonNegative(), cn.L2(1.0)]))


def test_a_certificate_proves_what_its_budget_allows():
    stated = problem(3, 1, 0.6, n=5)
    best = cn.global_minimum(stated, budget=4000)
    result = stated.solve(init=(best.factors["W"], best.factors["H"]), stop=200)
    told = result.certificate(budget=4000, restarts=3, solver="HALS")
    assert told.proves == "global", told
    assert {"gap to other basins", "global", "global in W"} <= {check.name for check in told.checks}
    assert result.certificate().proves == "stationary"


def test_a_worse_basin_is_shown_and_the_result_stays_certified():
    stated = problem(4, 1, 0.6, n=9, seed=1)
    runs = [stated.solve(cn.HALS(), seed=seed, stop=300) for seed in range(8)]
    worst = max(runs, key=lambda run: run.objective)
    certificate = worst.certificate(restarts=6, budget=100)
    told = {check.name: check for check in certificate.checks}
    assert told["gap to other basins"].measured > 0.01
    assert "lower was found" in told["global"].note
    assert certificate
    assert certificate.proves != "global"


def test_restarts_of_a_solver_with_settings_of_its_own_need_it():
    result = problem().solve(cn.HALS(sweeps=2))
    with pytest.raises(cn.InputError, match="pass solver="):
        result.certificate(restarts=2)


def test_the_objective_is_that_of_the_factors_that_are_returned():
    V = np.random.default_rng(38).random((3, 2))
    problem = cn.factorize(V, 2, W=[cn.Sparseness(min=0.34)])
    begin = problem.solve(stop=6).factors
    found = cn.global_minimum(problem, begin, budget=1)
    left = float(((V - found.factors["W"] @ found.factors["H"]) ** 2).sum())
    assert found.objective == pytest.approx(left, rel=1e-6, abs=1e-15)
    assert found.lower <= found.objective


@pytest.mark.parametrize("H", [np.full((1, 5), np.nan), np.ones((2, 5)), np.ones((1, 5)) + 1j, "x"])
def test_factors_that_are_none_are_refused_in_words(H):
    problem = cn.factorize(np.ones((4, 5)), 1, W=[cn.NonNegative(), cn.Sparseness(min=0.3)])
    wrong = {"W": np.ones((4, 1)), "H": H}
    for call in (
        lambda: cn.global_block(problem, wrong, "W"),
        lambda: cn.global_minimum(problem, wrong),
    ):
        with pytest.raises(cn.InputError, match="global_"):
            call()


@pytest.mark.parametrize("power", [-300, 60, 300])
def test_the_size_of_the_data_changes_nothing(power):
    def found(size):
        V = size * np.random.default_rng(2).random((3, 5))
        stated = cn.factorize(V, 1, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])
        result = stated.solve("HALS")
        block = cn.global_block(stated, result.factors, "W", budget=50)
        return [cn.global_minimum(stated, budget=50), block]

    for one, other in zip(found(1.0), found(2.0**power), strict=True):
        assert (other.cells, other.proved) == (one.cells, one.proved)
        assert other.objective == pytest.approx(one.objective * 4.0**power, rel=1e-12)
        assert other.lower == pytest.approx(one.lower * 4.0**power, rel=1e-9)
