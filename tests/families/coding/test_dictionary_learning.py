from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families import coding


@pytest.fixture(scope="module")
def planted():
    return cn.datasets.synthetic_dictionary(m=30, k=40, n=400, density=0.25, active=(2, 4), seed=0)


def learned(planted, coder, rounds=25):
    rng = np.random.default_rng(1)
    shape = planted.truth["W"].shape
    start = cn.Given(W=rng.random(shape) * (rng.random(shape) < 0.25))
    solver = cn.Coded(coder)
    return cn.factorize(planted.V, shape[1]).solve(solver, init=start, stop=rounds)


def test_l0_codes_find_the_dictionary_and_plain_nmf_does_not(planted):
    truth = planted.truth["W"]
    l0 = cn.measures.dictionary_similarity(truth, learned(planted, coding.L0(0.02)).W)
    plain = cn.measures.dictionary_similarity(truth, learned(planted, coding.LeastSquares()).W)
    assert l0 > 0.93
    assert plain < l0 - 0.1


def test_the_last_iterate_is_returned_with_its_atom_count(planted):
    result = learned(planted, coding.OMP(3), rounds=5)
    frame = result.history.to_frame()
    assert frame["atoms"].iloc[-1] == pytest.approx(np.count_nonzero(result.H) / result.H.shape[1])
    assert result.objective == pytest.approx(frame["objective"].iloc[-1])
    np.testing.assert_allclose(np.linalg.norm(result.W, axis=0), 1, atol=1e-12)


def test_atoms_without_use_get_other_work_and_codes_stay_the_coders_own():
    for seed in range(12):
        V = np.random.default_rng(seed).random((8, 20))
        result = cn.factorize(V, 12).solve(cn.Coded(coding.OMP(2, 0)), seed=seed, stop=4)
        assert np.count_nonzero(result.H, axis=0).max() <= 2
        assert result.W.any(axis=0).all()


@pytest.mark.parametrize("longer", [4.0, 2.0**-12])
@pytest.mark.parametrize("units", [2.0**-24, 2.0**24])
def test_thresholds_are_for_atoms_of_length_one_whatever_the_units_and_the_start(longer, units):
    V = np.random.default_rng(0).random((10, 6))
    W, H = np.random.default_rng(1).random((10, 3)), np.random.default_rng(2).random((3, 6))

    def ending(V, weight, init):
        solver = cn.Coded(coding.Lasso(weight), coding.Threshold(0.125))
        return cn.factorize(V, 3).solve(solver, init=init, stop=4)

    plain = ending(V, 0.125, (W, H))
    other = ending(units * V, 0.125 * units, (longer * W, units * H))
    np.testing.assert_allclose(other.W, plain.W, atol=1e-9)
    np.testing.assert_allclose(other.H, units * plain.H, atol=1e-9 * units)


def test_a_coder_on_the_dictionary_makes_it_sparser(planted):
    start = cn.Given(W=planted.truth["W"] + 0.05)
    problem = cn.factorize(planted.V, 40)
    plain = problem.solve(cn.Coded(coding.L0(0.02)), init=start, stop=3)
    sparse = problem.solve(cn.Coded(coding.L0(0.02), dictionary=coding.L0(0.3)), init=start, stop=3)
    assert np.count_nonzero(sparse.W) < np.count_nonzero(plain.W)


def test_non_negative_sparse_coding_finds_the_bars():
    bars = cn.datasets.bars(n_samples=1000, seed=0)
    problem = cn.factorize(
        bars.V,
        10,
        loss=cn.Frobenius(scale=0.5),
        W=[cn.NonNegative(), cn.UnitNorm()],
        H=[cn.NonNegative(), cn.L1(0.1)],
    )
    runs = cn.multistart(problem, cn.HALS(), 5, stop=300)
    found = cn.measures.matched_cosines(bars.truth["W"], runs.best.W)
    assert (found > 0.95).all()


def test_penalties_are_refused_by_coding_steps():
    problem = cn.factorize(np.ones((4, 3)), 2, H=[cn.NonNegative(), cn.L1(0.1)])
    with pytest.raises(cn.IncompatibleError, match="use a Lasso coder"):
        problem.solve(cn.Coded())


@pytest.mark.parametrize("model", ["2 * W @ H", "W.T @ H.T", "twice"])
def test_any_model_but_a_plain_product_is_refused_with_its_text(model):
    V = np.ones((6, 5))
    texts = ["W @ H", "W @ H"] if model == "twice" else [model]
    problem = cn.compose(*(cn.Approx(V, text) for text in texts), rank=2)
    with pytest.raises(cn.IncompatibleError, match="it codes V ≈ W H, and this problem is V"):
        problem.solve(cn.Coded())
    assert cn.Coded().mismatches(cn.factorize(V, 2)) == []
