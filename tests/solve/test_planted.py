"""Planted models of every shape are found again, and shapes do what they are for."""

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.study.measures import match_columns

STOP = cn.MaxIter(3000) | cn.RelDecrease(1e-9)


def best(problem, solver="HALS", starts=3):
    runs = [problem.solve(solver, seed=seed, stop=STOP) for seed in range(starts)]
    return min(runs, key=lambda run: run.objective)


def sparse(rng, *shape):
    return rng.random(shape) * (rng.random(shape) < 0.4)


def found_again(H, planted):
    return float(np.mean(match_columns(planted.T, H.T, signed=True)[2]))


def test_two_noisy_views_find_the_shared_factor_better_than_either():
    scores = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        H = sparse(rng, 4, 60)
        views = {}
        for name in ("a", "b"):
            clean = sparse(rng, 25, 4) @ H
            views[name] = np.maximum(
                clean + 0.7 * clean.std() * rng.standard_normal(clean.shape), 0
            )
        together = found_again(best(cn.factorize(views, 4)).H, H)
        alone = [found_again(best(cn.factorize(V, 4)).H, H) for V in views.values()]
        scores.append((together, *alone))
    together, first, second = np.mean(scores, axis=0)
    assert together > max(first, second) + 0.01
    assert all(row[0] > max(row[1:]) for row in scores)


@pytest.mark.parametrize("seed", range(3))
def test_a_free_offset_of_free_factors_is_centering(seed):
    """By Eckart and Young the best rank-r model with row means is PCA."""
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((12, 5)) @ rng.standard_normal((5, 30)) + 3 * rng.random((12, 1))
    problem = cn.factorize(V, 2, W=[], H=[], offset="feature")
    result = problem.solve("HALS", stop=cn.MaxIter(20_000) | cn.RelDecrease(1e-13))
    s = np.linalg.svd(V - V.mean(axis=1, keepdims=True), compute_uv=False)
    assert result.objective == pytest.approx(np.sum(s[2:] ** 2), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_an_offset_is_not_worse_than_subtracting_the_smallest_entries_by_hand(seed):
    rng = np.random.default_rng(seed)
    V = sparse(rng, 15, 3) @ sparse(rng, 3, 40) + rng.random((15, 1)) + 0.05 * rng.random((15, 40))
    low = V.min(axis=1, keepdims=True)
    by_hand = cn.factorize(V - low, 3).solve("HALS", init="nndsvd", stop=STOP)
    model = cn.factorize(V, 3, offset="feature")
    assert model.solve("HALS", init="nndsvd", stop=STOP).objective <= by_hand.objective
    start = {"W": by_hand.W, "H": by_hand.H, "b": low}
    assert model.solve("HALS", init=start, stop=STOP).objective <= by_hand.objective * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("terms", [None, []], ids=["S >= 0", "S free"])
def test_a_planted_product_of_three_is_found(seed, terms):
    rng = np.random.default_rng(seed)
    V = rng.random((30, 3)) @ rng.random((3, 4)) @ rng.random((4, 40))
    result = best(cn.factorize(V, (3, 4), S=terms))
    assert result.relative_error < 1e-5
    noisy = V + 0.05 * V.std() * rng.standard_normal(V.shape)
    planted = np.sum((noisy - V) ** 2) / np.sum(noisy**2)
    # A model with as many parameters fits some of the noise, too.
    assert best(cn.factorize(noisy, (3, 4), S=terms)).relative_error < 1.02 * planted


def test_three_factors_do_not_drift_apart_over_thousands_of_iterations():
    V = np.random.default_rng(0).random((20, 25))
    for terms in (None, []):
        stop = cn.MaxIter(4000)
        result = cn.factorize(V, (3, 4), S=terms).solve("HALS", stop=stop)
        sizes = [np.linalg.norm(X) for X in result.factors.values()]
        assert max(sizes) < 1e4 * min(sizes)


def test_weights_of_views_shift_the_fit():
    rng = np.random.default_rng(0)
    views = {"a": rng.random((10, 20)), "b": rng.random((10, 20))}
    errors = [
        best(cn.factorize(views, 3, weight={"a": weight})).relative_errors["a"]
        for weight in (0.1, 1.0, 10.0)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[2] * 1.05
