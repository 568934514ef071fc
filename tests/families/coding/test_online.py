"""`Online`: batches one after the other come near to what all samples at once give."""

from __future__ import annotations

from math import comb

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf import coding
from conicnmf.estimators import SparseNMF
from conicnmf.families.coding.batches import Past

V = cn.datasets.load("digits", n_samples=400).V
NONNEG = cn.NonNegative()
PRICED = [NONNEG, cn.L2(0.3)]
CAPPED = cn.Convex(lambda B: [cp.sum(B, axis=0) <= 9.0, B >= 0])

MODELS = {
    "plain": ({}, "HALS"),
    "sparse data": ({}, "HALS"),
    "half the squares": ({"loss": cn.Frobenius(scale=0.5), "W": PRICED, "H": PRICED}, "HALS"),
    "band on W": ({"W": [NONNEG, cn.Sparseness(min=0.7)]}, "HALS"),
    "user's convex set of W": ({"W": [NONNEG, CAPPED]}, "Splitting"),
    "shares of each sample": ({"H": [NONNEG, cn.Simplex(each="sample")]}, "Splitting"),
    "priced codes": ({"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.5)]}, "HALS"),
}


@pytest.mark.parametrize("model", MODELS)
def test_passes_come_near_to_all_samples_at_once(model):
    stated, solver = MODELS[model]
    data = sp.csr_matrix(V) if model == "sparse data" else V
    problem = cn.factorize(data, 5, **stated)
    cones = model.startswith("user")
    found = problem.solve(cn.Online(200, rounds=2) if cones else cn.Online(50), stop=4)
    whole = problem.solve(solver, stop=50 if cones else 200)
    assert max(found.violation.values()) < 1e-6
    assert found.objective < 1.04 * whole.objective
    assert found.status.kind != "failed"


def test_codes_of_a_coder_are_its_own():
    coder = coding.OMP(max_atoms=2)
    problem = cn.factorize(V, 8, W=[NONNEG, cn.UnitNorm()])
    found = problem.solve(cn.Online(code=coder), stop=2)
    np.testing.assert_array_equal(found.H, cn.sparse_code(V, found.W, coder))
    assert (
        found.relative_error
        < 1.05 * cn.factorize(V, 8).solve(cn.Coded(coder), stop=20).relative_error
    )


def test_a_dictionary_is_kept_sparse():
    problem = cn.factorize(V, 6, W=[NONNEG, cn.UnitNorm()])
    free, priced = (
        problem.solve(cn.Online(dictionary=own), stop=1).W for own in (None, coding.L0(0.3))
    )
    assert np.mean(priced == 0) > np.mean(free == 0) + 0.1
    np.testing.assert_allclose(np.linalg.norm(priced, axis=0), 1)


def test_dead_components_get_work():
    rng = np.random.default_rng(0)
    W, H = rng.random((64, 5)), rng.random((5, 400))
    W[:, 3] = 0
    found = cn.factorize(V, 5).solve(cn.Online(batch_size=50), init=(W, H), stop=2)
    assert found.W.any(axis=0).all()
    assert found.H.any(axis=1).all()


def test_a_batch_is_one_of_partial_fit():
    """Both learn by the same steps: from the same components and past, one batch gives the same."""
    model = SparseNMF(4, random_state=0).fit(V[:, :200].T)
    before, past = model.components_, model._past
    model.partial_fit(V[:, 200:].T)
    problem = cn.factorize(V[:, 200:], 4)
    solver = cn.Online(batch_size=200)
    memo = solver.unpack(
        {
            "G": past.G,
            "C": past.C,
            "squares": past.squares,
            "counts": np.array([past.count, past.seen, past.batches]),
        },
        solver.start(problem, type("C", (), {"rng": np.random.default_rng(0)})()),
    )
    made = solver.sweep(problem, {"W": before.T, "H": np.ones((4, 200))}, memo)
    mine, theirs = made.memo.past.latest, model._past.latest
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_sums_are_those_of_samples_that_fade():
    rng = np.random.default_rng(1)
    parts = [(rng.random((3, 4)), rng.random((2, 4))) for _ in range(3)]
    past = Past.of(*parts[0])
    for part in parts[1:]:
        past = past.then(Past.of(*part), forgetting=0)
    X, H = (np.hstack(own) for own in zip(*parts, strict=True))
    for mine, wanted in zip(past.in_all(), (H @ H.T, H @ X.T, (X**2).sum(axis=1)), strict=True):
        np.testing.assert_allclose(mine, wanted)
    faded = Past.of(*parts[0]).then(Past.of(*parts[1]))
    assert faded.count < 4 + 1e-4  # at first hardly anything is kept
    assert faded.in_all(16)[2].sum() == pytest.approx(4 * (parts[1][0] ** 2).sum(), rel=1e-4)


@pytest.mark.parametrize("forgetting", [0, 8])
def test_averages_weigh_components_by_how_long_ago_they_were(forgetting):
    """Against the closed form: batch s counts as (s + η − 1)! / (s − 1)!, all the same for η = 0."""
    rng = np.random.default_rng(2)
    latest = rng.random((6, 2, 3))
    found = np.zeros((2, 3))
    for t, B in enumerate(latest, start=1):
        none = np.zeros((0, 0))
        found = Past(none, none, none, 1.0, 1, t, B).average(found, forgetting)
    weights = [comb(s + forgetting, forgetting) for s in range(6)]
    np.testing.assert_allclose(found, np.average(latest, axis=0, weights=weights))


def test_a_killed_solve_goes_on_from_its_sums(tmp_path):
    problem = cn.factorize(V, 4)
    whole = problem.solve(cn.Online(), stop=4)
    problem.solve(cn.Online(), stop=2, checkpoint=tmp_path / "c")
    again = problem.solve(cn.Online(), stop=4, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.W, whole.W)


@pytest.mark.parametrize(
    ("stated", "solver", "said"),
    [
        ({"H": [NONNEG, cn.Sparseness(min=0.5)]}, cn.Online(), "links samples of many batches"),
        ({"loss": "kl"}, cn.Online(), "sums over batches need"),
        ({"H": [NONNEG, cn.L1(0.1)]}, cn.Online(code=coding.OMP(2)), "ignored by coding steps"),
    ],
)
def test_what_batches_cannot_do_is_said(stated, solver, said):
    with pytest.raises(cn.IncompatibleError, match=said):
        cn.factorize(V, 3, **stated).solve(solver)
