"""The l0 cost as a term: solvers, certificates, paths and comparisons see its price."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

import conicnmf as cn
from conicnmf.model.blocks import fitted_block
from conicnmf.study import compare, path
from conicnmf.study.stationarity import by_single_rows, remaining_descent
from conicnmf.testing import check_penalty

PLUS = cn.NonNegative()


def small_block(seed, weight=0.05):
    rng = np.random.default_rng(seed)
    V, W = rng.random((6, 3)), rng.random((6, 4))
    _, held = fitted_block("H", V, W, cn.Frobenius(), [PLUS, cn.NonZeros(weight)])
    return V, W, held


def best_codes(V, W, weight):
    """Return the best of all supports for each sample."""
    H = np.zeros((W.shape[1], V.shape[1]))
    for j, v in enumerate(V.T):
        least = v @ v
        for support in product([False, True], repeat=W.shape[1]):
            kept = np.flatnonzero(support)
            if kept.size:
                h, residual = nnls(W[:, kept], v)
                if residual**2 + weight * np.count_nonzero(h) < least:
                    least = residual**2 + weight * np.count_nonzero(h)
                    H[:, j] = 0
                    H[kept, j] = h
    return H


@pytest.mark.parametrize("nonneg", [True, False])
def test_every_form_agrees(nonneg):
    check_penalty(cn.NonZeros(0.3), nonneg)


@pytest.mark.parametrize("step", [0.3, 3.0])
def test_proximal_steps_are_the_best_of_all_points(step):
    penalty, points = cn.NonZeros(0.2), np.linspace(-2, 2, 4001)
    prices = 0.2 * (points != 0)
    for b in np.linspace(-1.6, 1.6, 43):
        for prox, allowed in ((penalty.prox, points), (penalty.prox_nonneg, points[2000:])):
            near = prices[-len(allowed) :] if allowed is not points else prices
            least = (near + (allowed - b) ** 2 / (2 * step)).min()
            x = prox(np.array([[b]]), step).item()
            assert 0.2 * (x != 0) + (x - b) ** 2 / (2 * step) <= least + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_left_to_gain_at_the_best_of_all_supports(seed):
    V, W, held = small_block(seed)
    best = best_codes(V, W, 0.05)
    assert remaining_descent(held, best)[0] <= 1e-7
    step = cn.HALS(extrapolate=False).minimize(held, best)[0]
    assert held.objective(step) == pytest.approx(held.objective(best), rel=1e-9)


def test_a_certificate_sees_an_entry_that_should_come_and_one_that_should_go():
    V, W, held = small_block(0)
    best = best_codes(V, W, 0.05)
    lacking = best.copy()
    lacking[best.argmax(axis=0), range(3)] = 0
    more = np.where(best == 0, 1e-3, best)
    for wrong in (lacking, more):
        assert remaining_descent(held, wrong)[0] > 0.05
        better = by_single_rows(held, wrong)  # alone, without the routes that go along gradients
        assert held.objective(wrong) - held.objective(better) > 0.05
    assert remaining_descent(held, 0.7 * best)[0] > 0.05


@pytest.mark.parametrize(
    ("solver", "loss"), [("HALS", "frobenius"), ("HALS", "huber"), ("Splitting", "frobenius")]
)
def test_the_objective_holds_the_price_and_falls(solver, loss):
    V = np.random.default_rng(1).random((8, 20))
    problem = cn.factorize(V, 4, loss=loss, H=[PLUS, cn.NonZeros(0.02)])
    result = problem.solve(solver, seed=0)
    fit = cn.factorize(V, 4, loss=loss).objective(result.factors)
    assert result.objective == pytest.approx(fit + 0.02 * np.count_nonzero(result.H))
    assert (np.diff(result.history.objective) <= 1e-9).all()
    assert result.certificate(), result.certificate()
    assert not any("melts away" in remark for remark in result.remarks)


def test_a_path_over_the_weight_drops_entries_and_a_comparison_ranks_by_the_price():
    V = np.random.default_rng(2).random((8, 15))

    def priced(weight):
        return cn.factorize(V, 4, H=[PLUS, cn.NonZeros(weight)])

    walk = path(priced, [0.0, 0.01, 0.1, 1.0, 100.0], "HALS")
    counts = [np.count_nonzero(result.H) for result in walk.results]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[2] > counts[-1] == 0
    rows = compare(priced(0.1), ["HALS", "Splitting", "ANLS"], seeds=[0]).table.set_index("solver")
    alone = priced(0.1).solve("HALS", seed=0)
    assert rows["objective"]["HALS"] == pytest.approx(alone.objective)
    assert rows["status"]["ANLS"] == "SKIPPED"


def test_copies_that_settle_with_the_same_zeros_still_pay_for_the_others():
    V = np.random.default_rng(4).random((9, 6))
    terms = [PLUS, cn.Simplex(1.5, each="sample"), cn.FactorSum(9.0, equal=True), cn.NonZeros(0.3)]
    problem = cn.factorize(V, 5, W=[PLUS, cn.FactorNorm(5.0)], H=terms)
    result = problem.solve("Splitting", stop=30)
    least = result.history.objective[result.history.violation <= 1e-6].min()
    assert problem.objective(result.factors) == pytest.approx(least)


def test_other_terms_stay_beside_it():
    V = np.random.default_rng(3).random((9, 12))
    problem = cn.factorize(
        V,
        3,
        W=[PLUS, cn.UnitNorm(), cn.Sparseness(min=0.4)],
        H=[PLUS, cn.L1(0.1), cn.NonZeros(0.05)],
    )
    result = problem.solve("HALS")
    assert result.max_violation <= 1e-6
    assert result.certificate(), result.certificate()
