"""Every coder against a plain model of what it claims to minimize, or to do."""

from __future__ import annotations

import importlib
import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import conicnmf as cn
from conicnmf.families import coding

sparse_code_module = importlib.import_module("conicnmf.families.coding.sparse_code")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    W = rng.random((12, 8))
    W /= np.linalg.norm(W, axis=0)
    H = np.where(rng.random((8, 6)) < 0.3, rng.random((8, 6)), 0.0)
    return W @ H + 0.01 * rng.random((12, 6)), W


def minimized(V, W, penalty):
    H = cp.Variable((W.shape[1], V.shape[1]), nonneg=True)
    program = cp.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + penalty(H)))
    program.solve(solver="CLARABEL")
    return H.value


@pytest.mark.parametrize(
    ("coder", "penalty"),
    [
        (coding.LeastSquares(), lambda H: 0),
        (coding.Lasso(0.3), lambda H: 0.3 * cp.sum(H)),
        (coding.SquaredLasso(0.2), lambda H: 0.2 * cp.sum(cp.square(cp.sum(H, axis=0)))),
    ],
    ids=lambda x: str(x) if isinstance(x, coding.Coder) else "",
)
def test_convex_coders_reach_the_global_optimum(data, coder, penalty):
    V, W = data
    np.testing.assert_allclose(cn.sparse_code(V, W, coder), minimized(V, W, penalty), atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_codes_come_in_parts_as_they_come_at_once(data, kind, monkeypatch):
    V, W = np.tile(data[0], 4), data[1]
    known = np.random.default_rng(1).random(V.shape) < 0.8
    whole = cn.sparse_code(kind(V), W, coding.L0(0.05)), cn.sparse_code(V, W, known=known)
    monkeypatch.setattr(sparse_code_module, "_ENTRIES", 7 * W.shape[1])  # seven samples at a time
    parts = cn.sparse_code(kind(V), W, coding.L0(0.05)), cn.sparse_code(V, W, known=known)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(other, one, atol=1e-12)
    few = cn.sparse_code(kind(V), W, coding.L0(0.05), sparse=True)
    assert few.format == "csc"
    assert few.nnz == np.count_nonzero(whole[0])
    np.testing.assert_allclose(few.toarray(), whole[0], atol=1e-12)


def test_many_samples_are_coded_in_bounded_memory():
    rng = np.random.default_rng(0)
    W = rng.random((10, 400), dtype=np.float32)
    V = rng.random((10, 60_000), dtype=np.float32)
    cn.sparse_code(V[:, :10], W, coding.OMP(max_atoms=1))  # compiles
    tracemalloc.start()
    H = cn.sparse_code(V, W, coding.OMP(max_atoms=1), sparse=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert H.shape == (400, 60_000)
    assert H.nnz == 60_000
    assert peak < 400 * 60_000 * 4  # less than the codes would take


def test_threshold_cuts_and_refits(data):
    V, W = data
    plain = cn.sparse_code(V, W)
    cut = cn.sparse_code(V, W, coding.Threshold(0.1))
    np.testing.assert_array_equal(cut, np.where(plain < 0.1, 0.0, plain))
    refit = cn.sparse_code(V, W, coding.Threshold(0.1, refit=True))
    assert (refit[cut == 0] == 0).all()
    assert np.sum((V - W @ refit) ** 2) <= np.sum((V - W @ cut) ** 2) + 1e-12


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_refit_codes_follow_the_scale_of_the_samples(data, scale):
    V, W = data
    expected = cn.sparse_code(V, W, coding.Threshold(0.1, refit=True))
    found = cn.sparse_code(scale * V, W, coding.Threshold(0.1 * scale, refit=True))
    np.testing.assert_allclose(found / scale, expected, atol=1e-12)


def test_refit_codes_are_the_least_squares_codes_of_the_kept_atoms(data):
    V, W = data
    refit = cn.sparse_code(V, W, coding.Threshold(0.1, refit=True))
    cut = cn.sparse_code(V, W, coding.Threshold(0.1))
    for v, h, kept in zip(V.T, refit.T, cut.T > 0, strict=True):
        np.testing.assert_allclose(h[kept], nnls(W[:, kept], v)[0], atol=1e-10)


def test_groups_of_atoms_are_used_together_or_not_at_all():
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(6), 3)
    W = rng.random((30, 18))
    W /= np.linalg.norm(W, axis=0)
    active = groups[:, None] == rng.integers(0, 6, size=20)  # one group a sample
    V = W @ np.where(active, rng.uniform(0.5, 1.0, size=active.shape), 0.0)
    V += 0.02 * rng.random(V.shape)
    together = cn.sparse_code(V, W, coding.L0(0.1, groups=groups)) > 0
    assert (together == active).mean() > 0.98
    used = [len(np.unique(groups[column])) for column in together.T]
    single = cn.sparse_code(V, W, coding.L0(0.1)) > 0
    assert max(used) == 1
    assert (single != active).sum() >= (together != active).sum()


def test_greedy_coders_pay_with_error_for_fewer_atoms(data):
    V, W = data
    errors, atoms = [], []
    for weight in (0.0, 0.02, 0.1, 10.0):
        H = cn.sparse_code(V, W, coding.L0(weight))
        errors.append(np.sum((V - W @ H) ** 2))
        atoms.append(np.count_nonzero(H))
    assert atoms == sorted(atoms, reverse=True)
    assert errors == sorted(errors)
    assert atoms[-1] == 0


def test_omp_stops_at_its_count_and_at_its_error(data):
    V, W = data
    assert (np.count_nonzero(cn.sparse_code(V, W, coding.OMP(2, 0.0)), axis=0) <= 2).all()
    H = cn.sparse_code(V, W, coding.OMP(8, 0.05))
    assert (np.sum((V - W @ H) ** 2, axis=0) <= 0.05 * np.sum(V**2, axis=0) + 1e-12).all()


def test_the_two_way_pursuit_is_no_worse_than_elimination_in_its_own_cost(data):
    V, W = data

    def cost(H, weight):
        return np.sum((V - W @ H) ** 2, axis=0) + weight**2 * np.count_nonzero(H, axis=0)

    both = cost(cn.sparse_code(V, W, coding.ForwardBackward(0.05)), 0.05).mean()
    backward = cost(cn.sparse_code(V, W, coding.L0(0.05, squared=True)), 0.05).mean()
    assert both <= 1.1 * backward


def test_sparse_samples_are_coded_as_dense_ones(data):
    V, W = data
    V = np.where(V < 0.3, 0.0, V)
    for coder in (coding.L0(0.02), coding.OMP(3), coding.Lasso(0.1)):
        dense, sparse = cn.sparse_code(V, W, coder), cn.sparse_code(sp.csr_array(V), W, coder)
        np.testing.assert_allclose(dense, sparse, atol=1e-12)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((3, 2)), "a row for each of the 12 features"),
        (-np.ones((12, 2)), "non-negative"),
        (np.ones((12, 0)), "a column for each atom"),
        (sp.csr_array(np.ones((12, 2))), "W must be dense, got a sparse csr"),
    ],
)
def test_bad_dictionaries_are_refused(data, W, message):
    with pytest.raises(cn.InputError, match=message):
        cn.sparse_code(data[0], W)


def test_what_is_no_coder_and_no_code_is_refused(data):
    V, W = data
    with pytest.raises(cn.InputError, match="a Coder or None, got coder"):
        cn.sparse_code(V, W, "OMP")
    with pytest.raises(cn.InputError, match="init must have shape"):
        cn.sparse_code(V, W, init=np.ones((2, 2)))


@pytest.mark.parametrize(
    "make", [coding.L0, coding.Lasso, coding.SquaredLasso, coding.Threshold, coding.ForwardBackward]
)
def test_negative_weights_are_refused(make):
    with pytest.raises(cn.InputError, match=r">= 0, got .*=-1"):
        make(-1)


@pytest.mark.parametrize(
    "make", [lambda: coding.OMP(max_atoms=0), lambda: coding.ForwardBackward(0.1, max_atoms=0)]
)
def test_codes_of_no_atoms_are_refused(make):
    with pytest.raises(cn.InputError, match=r"whole number >= 1.*, got max_atoms=0"):
        make()


@pytest.mark.parametrize("size", [1e30, 1e200, 1e-30])
def test_atoms_whose_squares_leave_the_precision_of_the_data_are_refused(size):
    V, W = np.ones((3, 2), dtype=np.float32), np.full((3, 2), size)
    with pytest.raises(
        cn.InputError, match=r"W must have a largest entry whose square .* got 1e.*; divide W"
    ):
        cn.sparse_code(V, W)


def l0_cost(V, W, H, weight):
    return np.sum((V - W @ H) ** 2, axis=0) + weight**2 * np.count_nonzero(H, axis=0)


@pytest.mark.parametrize("weight", [0.02, 0.1, 0.4])
def test_branch_and_bound_is_the_best_of_all_supports_and_its_gaps_hold(data, weight):
    V, W = data
    V = V + 0.1 * np.random.default_rng(3).random(V.shape)
    best = np.full(V.shape[1], np.inf)
    for mask in range(2**8):
        atoms = [k for k in range(8) if mask >> k & 1]
        for j, v in enumerate(V.T):
            left = nnls(W[:, atoms], v)[1] ** 2 if atoms else v @ v
            best[j] = min(best[j], left + weight**2 * len(atoms))
    found = cn.sparse_code(V, W, coding.BranchAndBound(weight))
    np.testing.assert_allclose(l0_cost(V, W, found, weight), best, rtol=1e-9)
    stats = W.T @ W, W.T @ V, np.sum(V**2, axis=0)
    early, gaps = coding.BranchAndBound(weight, max_nodes=1).proved(*stats)
    cost = l0_cost(V, W, early, weight)
    assert (cost - gaps <= best + 1e-9).all()
    assert (cost >= best - 1e-9).all()


def test_soft_thresholds_end_where_the_lasso_is(data):
    V, W = data
    exact = cn.sparse_code(V, W, coding.Lasso(0.1))
    soft = cn.sparse_code(V, W, coding.IterativeThreshold(0.1, soft=True, max_iter=20000))
    np.testing.assert_allclose(soft, exact, atol=1e-5)


@pytest.mark.parametrize("scale", [2.0**-90, 1.0, 2.0**24])
@pytest.mark.parametrize("short", [1e-4, 1.0])
@pytest.mark.parametrize("init", [None, np.ones((9, 2))])
def test_soft_thresholds_never_cost_more_than_no_codes(scale, short, init):
    # Least squares may have long codes in an atom that is short.
    W = np.random.default_rng(0).random((1, 9))
    W[:, 0] *= short
    V = scale * np.array([[0.59, 0.32]])
    H = cn.sparse_code(V, W, coding.IterativeThreshold(0.1 * scale, soft=True), init=init)
    cost = ((V - W @ H) ** 2).sum(axis=0) + 0.1 * scale * H.sum(axis=0)
    assert (cost <= (V**2).sum(axis=0)).all()


def test_hard_thresholds_end_in_a_local_minimum_not_above_least_squares(data):
    V, W = data
    hard = cn.sparse_code(V, W, coding.IterativeThreshold(0.2))
    plain = cn.sparse_code(V, W)
    cost = l0_cost(V, W, hard, 0.2)
    assert (cost <= l0_cost(V, W, plain, 0.2) + 1e-9).all()
    assert (
        cost >= l0_cost(V, W, cn.sparse_code(V, W, coding.BranchAndBound(0.2)), 0.2) - 1e-9
    ).all()
    few = cn.sparse_code(V, W, coding.IterativeThreshold(0.2, max_iter=1))
    assert (cost <= l0_cost(V, W, few, 0.2) + 1e-9).all()


PAIRS = [0, 0, 1, 1, 2, 2, 3, 3]
EVERY = [
    coding.LeastSquares(),
    coding.Lasso(0.1),
    coding.SquaredLasso(0.1),
    coding.Threshold(0.1),
    coding.Threshold(0.1, refit=True),
    coding.OMP(max_atoms=2),
    coding.GroupOMP(PAIRS, max_groups=2),
    coding.L0(0.05),
    coding.L0(0.05, groups=PAIRS),
    coding.ForwardBackward(0.1),
    coding.IterativeThreshold(0.1),
    coding.IterativeThreshold(0.1, soft=True),
    coding.BranchAndBound(0.1),
]


def test_every_coder_is_tried_with_missing_entries():
    kinds = {kind for name in coding.__all__ if isinstance(kind := getattr(coding, name), type)}
    coders = {kind for kind in kinds if issubclass(kind, coding.Coder)} - {coding.Coder}
    assert {type(coder) for coder in EVERY} == coders


@pytest.mark.parametrize("fill", [np.nan, np.inf, 7e3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_stands_in_unknown_places_does_not_matter(data, form, fill):
    V, W = data
    known = np.random.default_rng(6).random(V.shape) < 0.7
    expected = cn.sparse_code(np.where(known, V, 0.0), W, known=known)
    found = cn.sparse_code(form(np.where(known, V, fill)), W, known=known)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_masked_samples_are_coded_by_their_known_features(data, form):
    V, W = data
    known = np.random.default_rng(5).random(V.shape) < 0.7
    known[:, 0], known[:, 1] = False, known[:, 2]
    hidden = form(np.where(known, V, 0.0))
    for coder in (None, *EVERY):
        H = cn.sparse_code(hidden, W, coder, known=known)
        assert not H[:, 0].any()
        for j in range(1, V.shape[1]):
            rows = known[:, j]
            alone = cn.sparse_code(V[rows, j : j + 1], W[rows], coder)
            np.testing.assert_allclose(H[:, [j]], alone, atol=1e-9)
    with pytest.raises(cn.InputError, match=r"try ~np\.isnan"):
        cn.sparse_code(V, W, known=known[:3])
    with pytest.raises(cn.InputError, match=r"leave them out with known=np\.isfinite"):
        cn.sparse_code(np.where(known, V, np.nan), W)
