"""Codes of new samples are optimal, obey the constraints of a sample, and say what they leave out."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse as sp
from scipy.optimize import nnls
from sklearn.linear_model import Lasso, Ridge

import conicnmf as cn
from conicnmf.estimators import L0NMF, Factorizer, NonNegativeSparseCoding, SparseNMF
from conicnmf.families.coding import sparse_code
from conicnmf.families.coding.sample_codes import _descent, find_codes
from conicnmf.model.blocks import fitted_block

NONNEG = cn.NonNegative()


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).random((30, 12))


@pytest.fixture(scope="module")
def new():
    return np.random.default_rng(1).random((6, 12))


def test_lasso_codes_agree_with_scikit_learn(X, new):
    model = NonNegativeSparseCoding(4, weight=0.6).fit(X)
    # scikit-learn's Lasso divides the squares by twice the number of features.
    lasso = Lasso(0.6 / 24, positive=True, fit_intercept=False, tol=1e-12, max_iter=100_000)
    wanted = [lasso.fit(model.components_.T, x).coef_ for x in new]
    codes = model.transform(new)
    np.testing.assert_allclose(codes, wanted, atol=1e-7)
    assert (codes == 0).any()


def test_plain_codes_with_missing_entries_are_least_squares_on_what_is_there(X, new):
    model = SparseNMF(4).fit(X)
    hole = np.where(np.random.default_rng(2).random(new.shape) < 0.3, np.nan, new)
    hole[3] = np.nan
    W = model.components_.T
    wanted = [
        nnls(W[~np.isnan(x)], x[~np.isnan(x)])[0] if not np.isnan(x).all() else np.zeros(4)
        for x in hole
    ]
    np.testing.assert_allclose(model.transform(hole), wanted, atol=1e-9)


def test_free_codes_are_least_squares_with_or_without_a_ridge(new):
    W = np.random.default_rng(3).standard_normal((12, 4))
    plain = find_codes(new.T, W, [])
    np.testing.assert_allclose(plain, np.linalg.lstsq(W, new.T, rcond=None)[0], atol=1e-10)
    ridge = Ridge(0.7, fit_intercept=False).fit(W, new.T)
    np.testing.assert_allclose(find_codes(new.T, W, [cn.L2(0.7)]), ridge.coef_.T, atol=1e-10)


@pytest.mark.parametrize(
    ("term", "stated"),
    [
        (cn.Simplex(each="sample"), lambda h: [h >= 0, cp.sum(h) == 1]),
        (cn.NormBall(0.3, each="sample"), lambda h: [h >= 0, cp.norm(h) <= 0.3]),
        (cn.Box(0, 0.2), lambda h: [h >= 0, h <= 0.2]),
        (cn.Sparseness(max=0.4, each="sample"), lambda h: [h >= 0, _dense(h, 0.4)]),
    ],
    ids=["simplex", "ball", "box", "dense"],
)
def test_codes_under_convex_constraints_agree_with_cvxpy(term, stated, new):
    W = np.random.default_rng(4).random((12, 4))
    codes = find_codes(new.T, W, [NONNEG, term])
    h = cp.Variable(4)
    for x, code in zip(new, codes.T, strict=True):
        best = cp.Problem(cp.Minimize(cp.sum_squares(x - W @ h)), stated(h)).solve(cp.CLARABEL)
        assert np.sum((x - W @ code) ** 2) == pytest.approx(best, rel=1e-5, abs=1e-7)
    assert term.violation(codes).max() < 1e-6


def _dense(h, s):
    n = h.shape[0]
    return (np.sqrt(n) - s * (np.sqrt(n) - 1)) * cp.norm(h) <= cp.sum(h)


def test_codes_of_single_samples_are_as_sparse_as_is_asked(X, new):
    model = SparseNMF(5, code_sparseness=0.7, max_iter=20, tol=1e-2).fit(X)
    codes = model.transform(new)
    assert cn.sparseness(codes, axis=1).min() > 0.7 - 1e-6
    # None of many random codes of that sparseness, scaled to fit, is much better.
    rng = np.random.default_rng(0)
    tried = cn.Sparseness(min=0.7, each="sample").project(rng.random((5, 2000)))
    W = model.components_.T
    for x, code in zip(new, codes, strict=True):
        models = W @ tried
        scale = (x @ models) / np.sum(models**2, axis=0)
        lucky = np.sum((x[:, None] - models * scale) ** 2, axis=0).min()
        assert np.sum((x - W @ code) ** 2) <= 1.05 * lucky


def test_codes_on_a_sphere_fit_better_than_rescaled_least_squares(new):
    W = np.random.default_rng(4).random((12, 3))
    codes = find_codes(new.T, W, [NONNEG, cn.UnitNorm(each="sample")])
    np.testing.assert_allclose(np.linalg.norm(codes, axis=0), 1)
    for x, code in zip(new, codes.T, strict=True):
        start = nnls(W, x)[0]
        start /= np.linalg.norm(start)
        assert np.sum((x - W @ code) ** 2) <= np.sum((x - W @ start) ** 2) + 1e-9


def test_codes_of_a_sample_do_not_depend_on_its_company(X, new):
    model = Factorizer(3, H=[cn.Simplex(each="sample")], max_iter=300).fit(X)
    together = model.transform(new)
    alone = np.vstack([model.transform(x[None]) for x in new])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_terms_that_tie_samples_hold_for_the_fit_and_are_left_out_for_new_samples(X, new):
    model = SparseNMF(3, code_sparseness=0.6, code_each="component", H=[cn.L1(0.01)])
    codes = model.fit_transform(X)
    assert cn.sparseness(codes, axis=0).min() > 0.6 - 1e-6
    assert model.sample_terms_ == (NONNEG, cn.L1(0.01))
    wanted = [nnls(model.components_.T, x)[0] for x in new]
    np.testing.assert_allclose(model.transform(new), wanted, atol=0.05)


def test_a_constraint_of_unknown_reach_is_left_out():
    together = cn.Convex(lambda H: cp.sum(H, axis=1) == 3, name="shares")
    X = np.random.default_rng(0).random((8, 5))
    model = Factorizer(2, H=[NONNEG, together], max_iter=20, tol=1e-2).fit(X)
    assert model.sample_terms_ == (NONNEG,)
    np.testing.assert_allclose(model.fit_transform(X).sum(axis=0), 3, atol=1e-5)


def test_fit_transform_is_fit_then_transform_where_samples_are_free(X):
    model = SparseNMF(3, sparseness=0.4)
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))


def test_elimination_codes_new_samples_as_sparse_code_does(X, new):
    model = L0NMF(6, weight=0.2).fit(X)
    wanted = sparse_code(new.T, model.components_.T, cn.coding.L0(0.2)).T
    np.testing.assert_array_equal(model.transform(new), wanted)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


def test_the_score_is_the_share_of_the_squares_explained(X, new):
    model = SparseNMF(3).fit(X)
    left = new - model.inverse_transform(model.transform(new))
    share = 1 - np.sum(left**2) / np.sum(new**2)
    assert model.score(new) == pytest.approx(share, rel=1e-12)


def test_codes_of_the_wrong_width_are_refused(X):
    with pytest.raises(cn.InputError, match=r"must have 3 columns, one per component, got shape"):
        SparseNMF(3).fit(X).inverse_transform(np.ones((2, 4)))


def test_a_weighted_loss_codes_data_of_its_own_shape_only(X):
    weights = np.random.default_rng(0).random((12, 30))
    model = Factorizer(2, loss=cn.WeightedFrobenius(weights), solver="ProjectedGradient", tol=1e-3)
    codes = model.fit(X).transform(X)
    for x, code, w in zip(X, codes, weights.T, strict=True):
        wanted = nnls(model.components_.T * w[:, None], x * w)[0]
        np.testing.assert_allclose(code, wanted, atol=1e-4)
    with pytest.raises(cn.InputError, match="weights must have the shape of V"):
        model.transform(X[:5])


@dataclass(frozen=True)
class Ratio(cn.Frobenius):
    """A squared loss that can do nothing but be updated by products."""

    @property
    def abilities(self):
        return frozenset({"ratio"})


def test_a_loss_that_knows_products_only_is_coded_by_them(new):
    W = np.random.default_rng(4).random((12, 3))
    terms = [NONNEG, cn.L1(0.1)]
    exact = find_codes(new.T, W, terms)
    H = _descent(fitted_block("H", new.T, W, Ratio(), terms)[1], new.T, W)
    values = [cn.Frobenius().value(new.T, W, B) + 0.1 * B.sum() for B in (exact, H)]
    assert values[0] <= values[1] <= 1.01 * values[0]


def test_a_code_that_is_sparse_enough_as_it_is_stays_so_good():
    rng = np.random.default_rng(10)
    W = rng.random((3, 4))
    v = W @ rng.random((4, 1)) ** 2
    h = find_codes(v, W, [cn.NonNegative(), cn.Sparseness(min=0.3, each="sample")])
    assert ((v - W @ h) ** 2).sum() < 1e-6 * (v**2).sum()  # 9e-4 where steps began it anew


def test_terms_no_solver_can_hold_are_refused_with_every_reason(new):
    W = np.ones((12, 2))
    terms = [cn.UnitNorm(each="sample"), cn.Unimodal(each="sample")]
    with pytest.raises(cn.IncompatibleError, match="ProjectedGradient: no joint projection"):
        find_codes(new.T, W, terms)


@pytest.mark.filterwarnings("ignore:Sparseness:UserWarning")
def test_terms_that_the_fit_leaves_out_are_left_out_of_codes_too():
    X = np.vstack([np.zeros(5), 1e6 * np.random.default_rng(0).random((11, 5))])
    model = SparseNMF(1, code_sparseness=0.3).fit(X)  # one component: no sparseness to speak of
    assert not any(isinstance(term, cn.Sparseness) for term in model.sample_terms_)
    assert model.transform(X)[0] == 0


def test_a_sample_of_which_nothing_is_known_has_a_code_by_itself(X):
    model = SparseNMF(3, code_sparseness=0.3, tol=0.1).fit(X)
    unknown = np.full((1, X.shape[1]), np.nan)
    code = model.transform(unknown)
    assert np.isfinite(code).all()
    assert np.isnan(model.score(unknown))
    assert np.isfinite(model.transform(np.vstack([unknown, X[:1]]))).all()


@pytest.mark.filterwarnings("ignore:TangentPlane reached")
def test_a_small_sample_beside_a_large_one_has_the_code_that_it_has_alone():
    rng = np.random.default_rng(0)
    X = rng.random((12, 5)) @ rng.random((5, 9))
    X[3] *= 1e6
    model = SparseNMF(5, code_sparseness=0.3, max_iter=8, tol=1e-2).fit(X)
    together, alone = model.transform(X)[:1], model.transform(X[:1])
    np.testing.assert_allclose(together @ model.components_, alone @ model.components_, rtol=1e-6)


def test_shares_of_an_empty_sample_are_exact():
    rng = np.random.default_rng(0)
    W = np.hstack([rng.random((2, 3)), np.zeros((2, 1))])
    V = np.hstack([np.zeros((2, 1)), W[:, :3] @ rng.dirichlet(np.ones(3), 5).T])
    H = find_codes(V, W, [cn.Simplex(each="sample")])
    np.testing.assert_allclose(H[:, 0], [0, 0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(W @ H, V, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", [1, 3, 5])
def test_codes_of_counts_are_minima_of_the_divergence(form, seed):
    rng = np.random.default_rng(seed)
    W = 0.2 + rng.random((9, 5)) ** 2
    some = np.where(rng.random((5, 8)) < 0.5, rng.random((5, 8)), 0.0)
    V = W @ some + 0.3 * rng.random((9, 8))
    H = find_codes(form(V), W, [NONNEG], loss=cn.KullbackLeibler())
    slopes = W.sum(axis=0)[:, None] - W.T @ (V / (W @ H))
    assert slopes.min() >= -1e-3
    assert np.abs(H * slopes).max() <= 1e-4


@pytest.mark.parametrize("seed", [0, 5])
def test_planes_of_one_sample_do_not_stop_with_those_of_others(seed):
    rng = np.random.default_rng(seed)
    W = rng.random((5, 4))
    V = W @ rng.random((4, 20)) + 0.1 * rng.random((5, 20))
    terms = [cn.NonNegative(), cn.Sparseness(min=0.3, each="sample")]
    alone = np.hstack([find_codes(V[:, j : j + 1], W, terms) for j in range(20)])
    np.testing.assert_allclose(W @ find_codes(V, W, terms), W @ alone, atol=1e-4)
