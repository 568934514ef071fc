"""Starts of coupled views, offsets and three factors, and the singular vectors they begin at."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.solve.starts.offsets import Centered
from conicnmf.solve.starts.singular import leading_singular

RNG = np.random.default_rng(0)
W1, W2, S, H = (RNG.random(shape) ** 2 for shape in ((14, 3), (9, 3), (3, 2), (3, 11)))
V1, V2 = W1 @ H, W2 @ H


def start(init, problem, seed=0):
    return init.factors(problem, np.random.default_rng(seed))


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (8, 8)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_singular_vectors_are_those_of_lapack(shape, form):
    V = np.random.default_rng(1).random(shape)
    U, s, Vt = leading_singular(form(V), 4, np.random.default_rng(0))
    _, expected, _ = np.linalg.svd(V)
    np.testing.assert_allclose(s, expected[:4])
    np.testing.assert_allclose(V @ Vt.T, U * s, atol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-12)


def test_a_large_matrix_has_the_same_leading_singular_values():
    rng = np.random.default_rng(2)
    V = rng.random((1700, 6)) @ rng.random((6, 1600)) + 1e-3 * rng.random((1700, 1600))
    s = leading_singular(V, 5, np.random.default_rng(0))[1]
    # The Gram matrix of the other side, whose eigenvalues are the squares.
    squares = np.linalg.eigvalsh(V.T @ V)[::-1][:5]
    np.testing.assert_allclose(s**2, squares, rtol=1e-6)


@pytest.mark.parametrize("size", [16, 1600])
def test_no_gap_between_singular_values_is_no_chance(size):
    for V in (np.ones((size, 14)), sp.eye_array(size).tocsr()):
        runs = [leading_singular(V, 3, np.random.default_rng(0)) for _ in range(3)]
        for again in runs[1:]:
            for here, there in zip(runs[0], again, strict=True):
                np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize(
    "V", [np.ones((16, 14)), np.eye(16, 14), np.kron(np.eye(4), np.ones((4, 3)))]
)
@pytest.mark.parametrize("fill", ["zero", "mean", "random"])
def test_data_of_low_rank_give_the_same_result_in_every_run(V, fill):
    problem = cn.factorize(V, 4)
    results = [problem.solve("HALS", init=cn.NNDSVD(fill), throw=False) for _ in range(3)]
    for again in results[1:]:
        np.testing.assert_array_equal(results[0].W, again.W)


def test_coupled_views_start_as_their_scaled_stack():
    problem = cn.factorize({"a": V1, "b": V2}, 3, weight={"b": 0.25})
    found = start(cn.NNDSVD("zero"), problem)
    stacked = start(cn.NNDSVD("zero"), cn.factorize(np.vstack([V1, 0.5 * V2]), 3))
    np.testing.assert_allclose(found["H"], stacked["H"], atol=1e-9)
    np.testing.assert_allclose(found["W_a"], stacked["W"][:14], atol=1e-9)
    np.testing.assert_allclose(found["W_b"], 2 * stacked["W"][14:], atol=1e-9)


def test_views_that_share_w_start_as_those_of_the_transposes():
    turned = cn.factorize({"a": V1.T, "b": V2.T}, 3, shared="W")
    plain = cn.factorize({"a": V1, "b": V2}, 3)
    found, expected = (start(cn.NNDSVD("zero"), problem) for problem in (turned, plain))
    np.testing.assert_allclose(found["W"], expected["H"].T, atol=1e-9)
    np.testing.assert_allclose(found["H_b"], expected["W_b"].T, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_offset_starts_at_the_smallest_entries(form):
    V = V1 + np.arange(14.0)[:, None]
    problem = cn.factorize(form(V), 3, offset="feature")
    found = start(cn.NNDSVD("zero"), problem)
    low = V.min(axis=1, keepdims=True)
    np.testing.assert_allclose(found["b"], low)
    by_hand = start(cn.NNDSVD("zero"), cn.factorize(V - low, 3))
    for name in "WH":
        np.testing.assert_allclose(found[name], by_hand[name], atol=1e-8)


def test_offsets_of_both_sides_leave_nothing_negative():
    problem = cn.factorize(V1 - 0.5, 3, offset="both")
    found = start(cn.NNDSVD(), problem)
    rest = V1 - 0.5 - found["b"] - found["c"]
    assert rest.min() > -1e-12
    assert np.abs(rest.min(axis=0)).max() < 1e-12


def test_offsets_of_signed_factors_start_at_the_means():
    problem = cn.factorize(V1, 3, offset="both", W=[], H=[])
    found = start(cn.NNDSVD(), problem)
    rest = V1 - found["b"] - found["c"]
    assert np.abs(rest.mean(axis=0)).max() < 1e-12
    assert np.abs(rest.mean(axis=1)).max() < 1e-12


def test_sparse_data_are_not_densified_by_an_offset(monkeypatch):
    V = sp.random_array((3000, 200), density=0.01, rng=np.random.default_rng(0)).tocsr()
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("densified"))
    problem = cn.factorize(V, 2, offset="feature")
    assert start(cn.NNDSVD(), problem)["W"].shape == (3000, 2)
    assert problem.solve("HALS", stop=3).relative_error < 1


def test_an_operator_is_the_centered_matrix():
    b, c = RNG.random((14, 1)), RNG.random((1, 11))
    rest, X = Centered(V1, b, c), RNG.random((11, 2))
    np.testing.assert_allclose(rest @ X, (V1 - b - c) @ X)
    np.testing.assert_allclose(rest.T @ X.repeat(2, 0)[:14], (V1 - b - c).T @ X.repeat(2, 0)[:14])
    assert rest.mean() == pytest.approx((V1 - b - c).mean())


@pytest.mark.parametrize("terms", [None, []])
def test_a_middle_factor_starts_at_least_squares(terms):
    V = W1 @ S @ H[:2]
    problem = cn.factorize(V, (3, 2), S=terms)
    found = start(cn.NNDSVD("zero"), problem)
    X = cp.Variable((3, 2), nonneg=terms is None)
    lowest = cp.Problem(cp.Minimize(cp.sum_squares(V - found["W"] @ X @ found["H"]))).solve()
    assert problem.objective(found) <= lowest + 1e-3 * np.sum(V**2)


INITS = [cn.NNDSVD(), cn.NNDSVD("zero"), cn.NNDSVD("random"), cn.Random()]
INITS += [cn.DataColumns(), cn.SPA(), cn.VCA(), cn.KMeans()]
SHAPES = {
    "coupled": lambda: cn.factorize({"a": V1, "b": V2}, 3),
    "offset": lambda: cn.factorize(V1, 3, offset="both"),
    "three": lambda: cn.factorize(V1, (3, 2)),
    "three, free": lambda: cn.factorize(V1, (3, 2), S=[]),
    "coupled three with offsets": lambda: cn.factorize(
        {"a": V1, "b": sp.csr_array(V2)}, (3, 2), offset="feature"
    ),
}


@pytest.mark.parametrize("state", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("init", INITS, ids=repr)
def test_every_shape_starts_the_same_way_from_the_same_seed(state, init):
    problem = state()
    found, again = start(init, problem), start(init, problem)
    assert {name: X.shape for name, X in found.items()} == problem.shapes
    for name in found:
        np.testing.assert_array_equal(found[name], again[name])
    before = problem.objective(problem.start(init, np.random.default_rng(0)))
    assert problem.solve(init=init, stop=5).objective < before


def test_single_precision_is_kept():
    problem = cn.factorize({"a": V1.astype(np.float32), "b": V2.astype(np.float32)}, 3)
    assert {X.dtype for X in start(cn.NNDSVD(), problem).values()} == {np.dtype(np.float32)}


def test_starts_are_given_by_name_by_cvxpy_variable_or_in_order():
    A, B = cp.Variable((14, 3), nonneg=True), cp.Variable((9, 3), nonneg=True)
    K = cp.Variable((11, 3), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V1 - A @ K.T) + cp.sum_squares(V2 - B @ K.T)))
    names = list(problem.variables)
    for init in (
        {A: W1, K: H.T, B: W2},
        dict(zip(names, (W1, H, W2), strict=True)),
        (W1, H, W2),
        cn.Given({K: H.T}, **{names[0]: W1, names[2]: W2}),
    ):
        result = problem.solve("HALS", init=init, stop=0)
        np.testing.assert_array_equal(result[K], H.T)
        np.testing.assert_array_equal(result[B], W2)
    assert problem.solve("HALS", init={K: H.T}, stop=0)[K] == pytest.approx(H.T)
    with pytest.raises(cn.InputError, match=r"must have shape \(11, 3\)"):
        problem.solve("HALS", init={K: H}, stop=0)
    with pytest.raises(cn.InputError, match="its variables are W1, H, W2"):
        problem.solve("HALS", init={"S": H}, stop=0)


def test_what_has_no_singular_start_is_refused_with_the_way_out():
    D = np.eye(14)
    for problem in (
        cn.compose(cn.Approx(V1, "D @ W @ H"), rank=3, constants={"D": D}),
        cn.compose(cn.Approx(V1, "W @ H + A @ B"), rank=3),
        cn.compose(cn.Approx(V1, "W @ H"), cn.Approx(V2, "A @ B"), rank=3),
    ):
        for init in ("nndsvd", "spa"):
            with pytest.raises(cn.InputError, match=r"the start needs .* use Random\(\)"):
                problem.solve("HALS", init=init)


def test_what_an_expression_has_beside_its_product_is_drawn():
    V = np.random.default_rng(0).random((6, 5)) + 0.1
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
    b = cp.Variable((6, 1), nonneg=True)
    stated = cp.sum(cp.kl_div(V, W @ H + b @ np.ones((1, 5))))
    result = cn.Problem(cp.Minimize(stated)).solve(init="NNDSVD", stop=2)
    assert result[b].shape == (6, 1)
    assert result.history.objective[-1] < result.history.objective[0]


@pytest.mark.parametrize("start", ["nndsvd", "kmeans", "spa", "vca", "data-columns"])
@pytest.mark.parametrize("offset", ["", " + b @ 1"])
def test_a_number_before_a_product_is_a_part_of_the_datas_unit(start, offset):
    V = np.random.default_rng(0).random((8, 6))
    quarter = cn.compose(cn.Approx(V / 4, "W @ H" + offset), rank=2)
    whole = cn.compose(cn.Approx(V, "4 * W @ H" + offset), rank=2)
    one, other = (p.start(start, np.random.default_rng(0)) for p in (quarter, whole))
    for name in ("W", "H"):
        np.testing.assert_allclose(other[name], one[name], rtol=1e-9)


@pytest.mark.parametrize("start", ["nndsvd", "spa"])
@pytest.mark.parametrize("rows", [1, 14])
@pytest.mark.parametrize("text", ["W @ H + S", "W @ H + D @ S"])
def test_what_is_added_to_a_product_and_is_no_offset_has_a_start_of_its_own(start, text, rows):
    """With one row 1 c is c, which is as large as V."""
    V = V1[:rows]
    terms = {"W": [cn.NonNegative()], "H": [cn.NonNegative()], "S": [cn.NonNegative()]}
    known = {"D": 2 * np.eye(rows)}
    problem = cn.compose(cn.Approx(V, text), rank=1, constants=known, **terms)
    begun = problem.solve(init=start, stop=0, seed=0)
    alone = cn.factorize(V, 1).solve(init=start, stop=0, seed=0)
    np.testing.assert_array_equal(begun["W"], alone.W)
    assert begun["S"].shape == V.shape
    assert begun["S"].any()
