"""Matrices that are never formed give what formed ones give; gains of every sign and size."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import conicnmf as cn
from conicnmf.families.one_factor import QuadraticProjection
from conicnmf.model.operators import LowRank, Moments, Products, Symmetric

RNG = np.random.default_rng(0)
G = RNG.standard_normal((12, 4))
A = G @ G.T
FORMS = {
    "dense": Symmetric(A),
    "sparse": Symmetric(sp.csr_array(A)),
    "low rank": LowRank(G),
    "moments": Moments(G),
    "products": Products(aslinearoperator(A)),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_answers_alike(name):
    form, W = FORMS[name], RNG.random((12, 3))
    values = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(form @ W, A @ W)
    np.testing.assert_allclose(form.at(W).G, A @ W)
    np.testing.assert_allclose(form.matrix(), A, atol=1e-12)
    np.testing.assert_allclose(form.diagonal(), np.diag(A), atol=1e-12)
    assert form.trace == pytest.approx(np.trace(A))
    assert form.largest == pytest.approx(values[-1])
    assert form.lowest == pytest.approx(0.0, abs=1e-9)
    assert form.sign == 1
    root, directions = form.root, form.directions
    np.testing.assert_allclose(root @ root.T, A, atol=1e-9)
    np.testing.assert_allclose(directions @ directions.T, A, atol=1e-9)
    top = form.top_vector
    np.testing.assert_allclose(A @ top, values[-1] * top, atol=1e-6)


def test_rank_one_is_seen_in_every_form():
    g = RNG.standard_normal(8)
    one = np.outer(g, g)
    for form in (Symmetric(one), LowRank(g[:, None]), Products(aslinearoperator(one))):
        np.testing.assert_allclose(np.outer(form.single, form.single), one, atol=1e-9)
    assert FORMS["low rank"].single is None


def test_a_ridge_is_kept_apart():
    form = LowRank(G, 0.5)
    B = A + 0.5 * np.eye(12)
    np.testing.assert_allclose(form.matrix(), B)
    np.testing.assert_allclose((form.root @ form.root.T).toarray(), B)
    assert form.lowest >= 0


@pytest.mark.parametrize("shift", [0.0, -3.0, -40.0])
def test_the_ends_of_large_matrices_are_bounds(shift):
    m = 700
    X = RNG.standard_normal((m, 5))
    matrix = X @ X.T / m + shift * np.eye(m)
    values = np.linalg.eigvalsh(matrix)
    form = Symmetric(matrix)
    assert form.largest >= values[-1] - 1e-9
    assert form.largest <= values[-1] + 1e-3 * abs(values).max()
    assert form.lowest <= values[0] + 1e-9
    assert form.sign == (1 if shift == 0 else -1 if values[-1] < 0 else 0)


@pytest.mark.parametrize("seed", range(8))
def test_negative_gains_end_feasible_and_no_worse_than_unit_vectors(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 9))
    negative = -(X @ X.T + 0.1 * np.eye(9))
    result = QuadraticProjection(negative, 2).solve(seed=seed)
    assert result.max_violation <= 1e-6
    unit = np.sort(-np.diag(negative))[:2].sum() / 2
    assert result.objective <= unit + 1e-9


def test_a_gain_may_depend_on_w():
    weights = np.arange(1.0, 7.0)

    def matrix(W):
        return np.diag(weights * (1 + W[:, 0] ** 2))

    problem = QuadraticProjection(matrix, 1, size=6)
    result = problem.solve("ProjectionRule", stop=500)
    assert int(result.W[:, 0].argmax()) == 5
    assert result.max_violation <= 1e-6


@pytest.mark.parametrize(
    "constraint", [cn.Sparseness(min=0.4), cn.Convex(lambda W: W[:3] <= 0.3, name="small head")]
)
def test_several_columns_take_constraints(constraint):
    problem = QuadraticProjection(A, 2, constraints=[constraint])
    result = problem.solve(seed=0)
    assert result.max_violation <= 1e-6
    assert result.W.any(axis=0).all()
    free = min(QuadraticProjection(A, 2).solve(seed=s).objective for s in range(5))
    assert free - 1e-9 <= result.objective < 0


def test_large_operators_are_never_formed():
    m = 20_000
    factor = sp.random_array((m, 30), density=1e-2, rng=np.random.default_rng(1), format="csr")
    result = QuadraticProjection(LowRank(factor.tocsc().toarray()), 1).solve(stop=20)
    assert result.max_violation <= 1e-6
    sparse = sp.random_array((m, m), density=1e-4, rng=np.random.default_rng(2), format="csr")
    operator = aslinearoperator(sparse + sparse.T)
    assert QuadraticProjection(operator, 1).solve("Oja", stop=5, throw=False).n_iter == 5


@pytest.mark.parametrize("ridge", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_least_squares_and_norms_of_low_rank_are_those_of_the_formed_matrix(ridge, kind):
    rng = np.random.default_rng(3)
    factor, g = rng.standard_normal((60, 7)), rng.standard_normal(60) + 0.2
    form = LowRank(sp.csr_array(factor) if kind == "sparse" else factor, ridge)
    formed = Symmetric(form.matrix())
    w = form.nonneg_least(g)
    np.testing.assert_allclose(w, formed.nonneg_least(g), rtol=1e-6, atol=1e-9)
    # w ≥ 0, slope ≥ 0 and one of them zero: the minimum, whatever found it.
    assert np.abs(np.minimum(w, form @ w - g)).max() <= 1e-9 * np.abs(g).max() / min(ridge, 1)
    assert form.inverse_norm(g) == pytest.approx(formed.inverse_norm(g), rel=1e-8)


def test_signs_of_low_rank_are_seen_without_forming_it():
    positive = RNG.random((1100, 3))
    assert not LowRank(positive).signed
    positive[1050] *= -1
    assert LowRank(positive).signed


@pytest.fixture
def large(monkeypatch):
    """Let every matrix count as too large to be formed."""
    for module in ("matrices", "low_rank"):
        monkeypatch.setattr(f"conicnmf.model.operators.{module}.FORMED", 1)


@pytest.mark.parametrize("factor", [G, sp.csr_array(G)], ids=["dense", "sparse"])
@pytest.mark.parametrize("ridge", [0.0, 0.5, -0.5])
def test_a_large_matrix_of_low_rank_is_split_by_the_signs_of_its_factor(large, factor, ridge):
    form, unit = LowRank(factor, ridge), np.eye(12)
    halves = form.at(unit)
    assert form.signed
    assert form.splits
    assert halves.plus.min() >= 0
    assert halves.minus.min() >= 0
    np.testing.assert_allclose(halves.plus - halves.minus, A + ridge * unit, atol=1e-12)


def test_a_factor_of_one_sign_a_column_has_no_negative_half(large):
    form = LowRank(np.abs(G) * [1, -1, 1, -1])
    assert not form.signed
    assert form.at(np.ones((12, 1))).minus is None


def test_a_large_matrix_of_low_rank_ends_where_its_entries_lead(large, monkeypatch):
    problem = QuadraticProjection(LowRank(G), 1)
    by_signs = problem.solve("ProjectionRule").objective
    by_entries = QuadraticProjection(A, 1).solve("ProjectionRule").objective
    assert by_signs == pytest.approx(by_entries, rel=1e-6)


def test_products_alone_are_no_halves(large):
    form = Products(aslinearoperator(A))
    problem = QuadraticProjection(form, 2)
    (reason,) = cn.families.one_factor.ProjectionRule().mismatches(problem)
    assert reason.startswith("it needs A⁺ − A⁻, and A (12 × 12) is known only through its products")
    assert np.isfinite(problem.solve().objective)


def test_small_products_are_split_entry_by_entry():
    W = RNG.random((12, 3))
    found, wanted = (form.at(W) for form in (Products(aslinearoperator(A)), Symmetric(A)))
    np.testing.assert_allclose(found.plus, wanted.plus)
    np.testing.assert_allclose(found.minus, wanted.minus)
