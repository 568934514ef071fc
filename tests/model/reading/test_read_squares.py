"""Every spelling of the squared loss is read as what it is, and equals what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

M, N, R = 5, 4, 3
V = np.random.default_rng(1).random((M, N)) + 0.1
MASK = (np.random.default_rng(2).random((M, N)) < 0.7).astype(float)
WEIGHTS = np.random.default_rng(3).random((M, N)) + 0.1
OBSERVED = np.where(MASK > 0, V, 0.0)


class Spelling(NamedTuple):
    """An objective of (W, H), with the scale, weights and offset it should be read as."""

    write: Callable[[Any, Any], cp.Expression]
    scale: float = 1.0
    weights: Any = None
    offset: float = 0.0
    V: Any = V


def r(W: Any, H: Any) -> Any:
    return V - W @ H


def vec(X: Any) -> Any:
    return cp.vec(X, order="F")


SPELLINGS = {
    "sum_squares": Spelling(lambda W, H: cp.sum_squares(V - W @ H)),
    "turned round": Spelling(lambda W, H: cp.sum_squares(W @ H - V)),
    "norm fro squared": Spelling(lambda W, H: cp.norm(r(W, H), "fro") ** 2),
    "square of norm": Spelling(lambda W, H: cp.square(cp.norm(r(W, H), "fro"))),
    "power of norm": Spelling(lambda W, H: cp.power(cp.norm(vec(r(W, H)), 2), 2)),
    "sum of square": Spelling(lambda W, H: cp.sum(cp.square(r(W, H)))),
    "sum of power": Spelling(lambda W, H: cp.sum(r(W, H) ** 2)),
    "sum of sums": Spelling(lambda W, H: cp.sum(cp.sum(cp.square(r(W, H)), axis=0))),
    "sum of columns": Spelling(lambda W, H: cp.sum(cp.sum_squares(r(W, H), axis=1))),
    "norms of columns": Spelling(lambda W, H: cp.sum_squares(cp.norm(r(W, H), 2, axis=0))),
    "squared norms": Spelling(lambda W, H: cp.sum(cp.square(cp.norm(r(W, H), 2, axis=1)))),
    "square of magnitudes": Spelling(lambda W, H: cp.sum_squares(cp.abs(r(W, H)))),
    "entries by a mask": Spelling(lambda W, H: cp.sum_squares(r(W, H)[MASK > 0]), weights=MASK),
    "entries of both": Spelling(
        lambda W, H: cp.sum_squares(V[MASK > 0] - (W @ H)[MASK > 0]), weights=MASK, V=OBSERVED
    ),
    "entries by places": Spelling(
        lambda W, H: cp.sum_squares(r(W, H)[MASK.nonzero()]), weights=MASK
    ),
    "weighted entries": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(WEIGHTS[MASK > 0], r(W, H)[MASK > 0])),
        weights=MASK * WEIGHTS,
    ),
    "some rows": Spelling(
        lambda W, H: 2 * cp.sum_squares(r(W, H).T[:, :3]),
        2.0,
        (np.arange(M) < 3)[:, None] * np.ones(N),
    ),
    "mean": Spelling(lambda W, H: cp.mean(cp.square(r(W, H))), 1 / (M * N)),
    "quad_over_lin": Spelling(lambda W, H: cp.quad_over_lin(r(W, H), 4), 0.25),
    "scaled": Spelling(lambda W, H: 0.5 * cp.sum_squares(r(W, H)), 0.5),
    "divided": Spelling(lambda W, H: cp.sum_squares(r(W, H)) / 8, 0.125),
    "scaled twice": Spelling(lambda W, H: 3 * (cp.sum_squares(r(W, H)) * 2) / 4, 1.5),
    "scaled inside the sum": Spelling(lambda W, H: cp.sum(0.5 * cp.square(r(W, H))), 0.5),
    "scaled residual": Spelling(lambda W, H: cp.sum_squares(2 * r(W, H)), 4.0),
    "divided residual": Spelling(lambda W, H: cp.sum_squares(r(W, H) / 2), 0.25),
    "negative residual": Spelling(lambda W, H: cp.sum_squares(-(r(W, H)))),
    "scalar before the product": Spelling(lambda W, H: cp.sum_squares(V - 2 * W @ H), 4.0, V=V / 2),
    "scalar in the middle": Spelling(lambda W, H: cp.sum_squares(V - W @ (2 * H)), 4.0, V=V / 2),
    "scalar after": Spelling(lambda W, H: cp.sum_squares(V - (W @ H) * 2), 4.0, V=V / 2),
    "two signs": Spelling(lambda W, H: cp.sum_squares(V - (-W) @ (-H))),
    "product divided": Spelling(lambda W, H: cp.sum_squares(V - (W / 2) @ H), 0.25, V=2 * V),
    "data scaled": Spelling(lambda W, H: cp.sum_squares(2 * cp.Constant(V) - 2 * (W @ H)), 4.0),
    "constant added": Spelling(lambda W, H: cp.sum_squares(r(W, H)) + 3, offset=3.0),
    "constant taken off": Spelling(
        lambda W, H: 2 * (cp.sum_squares(r(W, H)) - cp.sum_squares(V)) - 1,
        2.0,
        offset=-2 * float((V**2).sum()) - 1,
    ),
    "two data parts": Spelling(
        lambda W, H: cp.sum_squares(V - 1 - W @ H + WEIGHTS), V=V - 1 + WEIGHTS
    ),
    "one number for V": Spelling(lambda W, H: cp.sum_squares(1 - W @ H), V=np.ones((M, N))),
    "transposed": Spelling(lambda W, H: cp.sum_squares(V.T - H.T @ W.T)),
    "residual transposed": Spelling(lambda W, H: cp.sum_squares((V - W @ H).T)),
    "product transposed": Spelling(lambda W, H: cp.sum_squares(V.T - (W @ H).T)),
    "constant transposed": Spelling(lambda W, H: cp.sum_squares(cp.Constant(V.T).T - W @ H)),
    "stacked": Spelling(lambda W, H: cp.sum_squares(vec(r(W, H)))),
    "both stacked": Spelling(lambda W, H: cp.sum_squares(vec(cp.Constant(V)) - vec(W @ H))),
    "stacked data": Spelling(lambda W, H: cp.sum_squares(V.ravel(order="F") - vec(W @ H))),
    "reshaped by rows": Spelling(
        lambda W, H: cp.sum_squares(V.ravel() - cp.reshape(W @ H, (M * N,), order="C"))
    ),
    "mask on the residual": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(MASK, r(W, H))), 1.0, MASK
    ),
    "mask on the right": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(r(W, H), MASK)), 1.0, MASK
    ),
    "mask on both parts": Spelling(
        lambda W, H: cp.sum_squares(MASK * V - cp.multiply(MASK, W @ H)), 1.0, MASK, V=OBSERVED
    ),
    "mask on the product": Spelling(
        lambda W, H: cp.sum_squares(V - cp.multiply(MASK, W @ H)),
        1.0,
        MASK,
        offset=float((V[MASK == 0] ** 2).sum()),
        V=OBSERVED,
    ),
    "boolean mask": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(MASK > 0, r(W, H))), 1.0, MASK
    ),
    "weights inside the sum": Spelling(
        lambda W, H: cp.sum(cp.multiply(WEIGHTS, cp.square(r(W, H)))), 1.0, np.sqrt(WEIGHTS)
    ),
    "signed weights": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(-WEIGHTS, r(W, H))), 1.0, WEIGHTS
    ),
    "weights twice": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(WEIGHTS, cp.multiply(MASK, 2 * r(W, H)))) / 2,
        2.0,
        WEIGHTS * MASK,
    ),
    "weights transposed": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(WEIGHTS.T, V.T - H.T @ W.T)), 1.0, WEIGHTS
    ),
    "equal weights": Spelling(
        lambda W, H: cp.sum_squares(cp.multiply(np.full((M, N), 3.0), r(W, H))), 9.0
    ),
}


def variables() -> tuple[cp.Variable, cp.Variable]:
    return cp.Variable((M, R), nonneg=True, name="W"), cp.Variable((R, N), nonneg=True, name="H")


def assert_equal_at_random_points(
    problem: cn.Problem, stated: cp.Expression, W: cp.Variable, H: cp.Variable
) -> None:
    rng = np.random.default_rng(7)
    for size in (1e-3, 1.0, 1e3):
        W.value, H.value = (size * rng.random(X.shape) for X in (W, H))
        read = problem.objective({"W": W.value, "H": H.value})
        assert read == pytest.approx(float(stated.value), rel=1e-9)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("sense", ["minimize", "maximize"])
def test_the_squared_loss_is_read_in_any_spelling(name: str, sense: str) -> None:
    spelling = SPELLINGS[name]
    W, H = variables()
    stated = spelling.write(W, H)
    objective = cp.Minimize(stated) if sense == "minimize" else cp.Maximize(-stated)
    problem = cn.Problem(objective)
    assert_equal_at_random_points(problem, stated, W, H)
    assert problem.offset == pytest.approx(spelling.offset)
    assert problem.loss.scale == pytest.approx(spelling.scale)
    if spelling.weights is None:
        assert isinstance(problem.loss, cn.Frobenius)
    else:
        assert isinstance(problem.loss, cn.WeightedFrobenius)
        np.testing.assert_allclose(problem.loss.weights, spelling.weights)
    np.testing.assert_allclose(problem.V, spelling.V)
    assert tuple(problem.shapes.values()) == ((M, R), (R, N))


def test_an_entry_that_is_taken_twice_counts_twice() -> None:
    W, H = variables()
    stated = cp.sum_squares(r(W, H)[[0, 0, 2], [1, 1, 3]])
    problem = cn.Problem(cp.Minimize(stated))
    assert_equal_at_random_points(problem, stated, W, H)


def test_samples_may_have_losses_of_their_own() -> None:
    W, H = variables()
    residual = r(W, H)
    stated = cp.sum_squares(residual[:, :2]) + 2 * cp.sum(cp.abs(residual[:, 2:]))
    problem = cn.Problem(cp.Minimize(stated))
    assert [type(fit.loss) for fit in problem.fits] == [cn.WeightedFrobenius, cn.Absolute]
    assert_equal_at_random_points(problem, stated, W, H)
    result = problem.solve(stop=20, throw=False)
    assert (np.diff(result.history.objective) <= 1e-9).all()
    assert result.objective < 0.5 * result.history.objective[0]


def test_there_are_many_spellings() -> None:
    assert len(SPELLINGS) >= 36


@pytest.mark.parametrize(
    ("shape_w", "shape_h", "write"),
    [
        ((R, M), (R, N), lambda A, B: V - A.T @ B),
        ((M, R), (N, R), lambda A, B: V - A @ B.T),
        ((R, M), (R, N), lambda A, B: V.T - B.T @ A),
        ((R, M), (R, N), lambda A, B: V - (2 * A).T @ (B / 2)),
    ],
    ids=["W.T @ H", "W @ H.T", "(W.T @ H).T", "scaled inside"],
)
def test_a_variable_may_be_the_transpose_of_its_factor(
    shape_w: Any, shape_h: Any, write: Any
) -> None:
    A, B = cp.Variable(shape_w, nonneg=True), cp.Variable(shape_h, nonneg=True)
    stated = cp.sum_squares(write(A, B)) + 0.1 * cp.sum(A) + cp.sum_squares(B[0, :])
    axis = int(shape_w == (R, M))
    problem = cn.Problem(cp.Minimize(stated), [cn.sparseness(A, axis=axis) >= 0.5, A[0, 1] == 0.3])
    rng = np.random.default_rng(0)
    A.value, B.value = rng.random(shape_w), rng.random(shape_h)
    by_variable = {A.id: A.value, B.id: B.value}
    # Whichever variable became W: the one with features × rank entries, up to a transpose.
    turned = {X.shape: X for v in by_variable.values() for X in (v, v.T)}
    factors = {
        name: turned[shape]
        for name, shape in zip("WH", tuple(problem.shapes.values()), strict=True)
    }
    assert problem.objective(factors) == pytest.approx(float(stated.value), rel=1e-12)
    holder = problem.blocks[0 if problem.shapes["W"][0] == M else 1]
    band = next(c for c in holder.constraints if isinstance(c, cn.Sparseness))
    assert (band.min, band.each) == (0.5, "component")
    fixed = next(c for c in holder.constraints if isinstance(c, cn.Fixed))
    where = np.argwhere(fixed.mask)[0].tolist()
    assert where == ([0, 1] if axis == 1 else [1, 0])  # blocks hold components as rows


def test_integers_and_plain_lists_of_columns_are_data() -> None:
    W, H = cp.Variable((2, 1)), cp.Variable((1, 2))
    problem = cn.Problem(cp.Minimize(cp.sum_squares(np.array([[1, 2], [3, 4]]) - W @ H)))
    assert problem.V.dtype == np.float64
    np.testing.assert_array_equal(problem.V, [[1, 2], [3, 4]])


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_the_reading_does_not_depend_on_the_units_of_the_data(scale: float) -> None:
    W, H = variables()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(scale * V - W @ H)))
    assert isinstance(problem.loss, cn.Frobenius)
    np.testing.assert_allclose(problem.V, scale * V, rtol=1e-15)


def test_the_data_are_taken_over_exactly_and_not_changed() -> None:
    W, H = variables()
    given = V.copy()
    problem = cn.Problem(cp.Minimize(cp.sum_squares(given - W @ H)))
    np.testing.assert_array_equal(problem.V, V)
    given[0, 0] = 99.0
    assert problem.V[0, 0] == V[0, 0]


def test_the_left_factor_is_w_whatever_it_is_called() -> None:
    A, B = cp.Variable((M, R), name="A"), cp.Variable((R, N), name="B")
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - A @ B)), [A >= 0])
    assert list(problem.W) == [cn.NonNegative()]
    assert not problem.H


def test_h_on_the_left_stays_h() -> None:
    H, W = cp.Variable((M, R), name="H"), cp.Variable((R, N), name="W")
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - H @ W)), [H >= 0])
    assert list(problem.H) == [cn.NonNegative()]
    assert problem.shapes == {"H": (M, R), "W": (R, N)}


@pytest.mark.parametrize("after", [False, True])
def test_a_known_factor_of_one_entry_is_a_factor_and_no_number(after: bool) -> None:
    known, X = np.array([[0.3]]), cp.Variable((N, 1) if after else (1, N), nonneg=True)
    data = V[:1].T if after else V[:1]
    model = X @ known if after else known @ X
    problem = cn.Problem(cp.Minimize(cp.sum_squares(data - model)))
    result = problem.solve(seed=0)
    assert result.relative_error == pytest.approx(0, abs=1e-12)
    (found,) = result.factors.values()
    np.testing.assert_allclose(found.ravel(), data.ravel() / 0.3)
