"""The blocks of every shape have the values, gradients and forms of the model as it is written."""

import cvxpy as cp
import numpy as np
import pytest
from model_shapes import cases, draw

import conicnmf as cn
from conicnmf.solve.methods.base import Context

CASES = cases()
BLOCKS = [(name, block.name) for name, case in CASES.items() for block in case.problem.blocks]
every_case = pytest.mark.parametrize("name", CASES)
every_block = pytest.mark.parametrize(("name", "variable"), BLOCKS, ids=lambda text: text)


def held_block(name, variable, seed=0):
    """Return a case, its block with the others held, values, and the loss in the block alone."""
    case = CASES[name]
    X = draw(case.problem, seed)
    block = next(own for own in case.problem.blocks if own.name == variable)
    addends = {addend.name for addend in block.addends}
    fits = [
        own for fit, own in zip(case.problem.fits, case.fits, strict=True) if fit.name in addends
    ]
    alone = type(case)(case.problem, tuple(fits))
    return alone, block, block.given(X), X


@every_case
def test_the_objective_is_the_written_one(name):
    case = CASES[name]
    X = draw(case.problem)
    assert case.problem.objective(X) == pytest.approx(case.value(X), rel=1e-10)
    assert case.problem.restated(X) == pytest.approx(case.value(X), rel=1e-10)
    stated = sum(addend.stated(X) for addend in case.problem.addends)
    assert float(stated.value) == pytest.approx(case.value(X), rel=1e-10)


@every_case
def test_relative_errors_are_those_of_the_residuals(name):
    case = CASES[name]
    X = draw(case.problem)
    found = case.problem.relative_errors(X)
    for fit, (data, model, weights, _) in zip(case.problem.fits, case.fits, strict=True):
        parts = [np.sum((weights * Y) ** 2) for Y in (data - model(X), data)]
        assert found[fit.name] == pytest.approx(parts[0] / parts[1], rel=1e-9)


@every_block
def test_a_block_has_the_loss_and_its_gradient(name, variable):
    case, block, held, X = held_block(name, variable)
    B = block.rows(X)
    assert held.loss(B) == pytest.approx(case.value(X), rel=1e-10)
    gradient = held.loss_gradient(B)
    for place in np.ndindex(B.shape):
        ends = []
        for step in (1e-3, -1e-3):
            moved = B.copy()
            moved[place] += step
            ends.append(case.value(block.put(X, moved)))
        # The loss is quadratic, so that the central difference is exact but for rounding.
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-7, abs=1e-7)


@every_block
def test_every_form_of_a_block_has_the_value_of_the_loss(name, variable):
    case, block, held, X = held_block(name, variable)
    other = block.rows(draw(case.problem, 1))
    for B in (block.rows(X), other, np.zeros_like(other)):
        expected = case.value(block.put(X, B))
        near = pytest.approx(expected, rel=1e-9)
        if "quadratic" in block.abilities:
            assert held.quadratic().value(B) == near
        if "vectorized" in block.abilities:
            assert held.vectorized().value(B.reshape(-1, 1)) == near
        if "reduced" in block.abilities:
            assert held.reduced().value(B) == near
        assert float(held.expression(cp.Constant(B)).value) == near
        down, up = (sum(parts) for parts in zip(*(v.ratio(B) for v in held.views), strict=True))
        np.testing.assert_allclose(up - down, held.loss_gradient(B), atol=1e-9)


def test_which_forms_exist():
    plain = {block.name: block.abilities for block in CASES["three"].problem.blocks}
    assert "quadratic" in plain["W"]
    assert not {"quadratic", "reduced"} & plain["S"]
    assert "vectorized" in plain["S"]
    weighted = {block.name: block.abilities for block in CASES["three, weights"].problem.blocks}
    assert "vectorized" not in weighted["S"]


@every_block
def test_the_minimum_over_a_block_is_that_of_the_written_problem(name, variable):
    """Solve the block by the package and the literal expression by CVXPY alone."""
    case, block, held, X = held_block(name, variable, seed=3)
    B = block.rows(X)
    shape = case.problem.shapes[variable]
    free = cp.Variable(shape, nonneg=block.nonneg)
    values = {**X, variable: free}
    squares = [
        factor * cp.sum_squares(cp.multiply(weights * np.ones(data.shape), data - model(values)))
        for data, model, weights, factor in case.fits
    ]
    problem = cp.Problem(cp.Minimize(sum(squares)))
    problem.solve("CLARABEL")
    size = sum(np.sum(data**2) for data, *_ in case.fits)
    found = {}
    tangent = cn.TangentPlane(engine="conic")
    found["cone"] = tangent.update(held, B, tangent.prepare(block, Context())).B
    if not cn.HALS().unmet(block):
        found["HALS"] = cn.HALS(sweeps=20_000).minimize(held, B)[0]
    for method, new in found.items():
        value = case.value(block.put(X, new))
        assert value == pytest.approx(problem.value, abs=1e-6 * size), method


@pytest.mark.parametrize(
    "name", [name for name, c in CASES.items() if not cn.HALS().mismatches(c.problem)]
)
def test_component_steps_never_rise(name):
    problem = CASES[name].problem
    stop = cn.MaxIter(3000) | cn.RelDecrease(1e-10)
    result = problem.solve("HALS", stop=stop)
    unit = problem.unit
    assert np.diff(result.history.objective).max() <= 1e-12 * unit
    assert result.objective == pytest.approx(CASES[name].value(result.factors), abs=1e-9 * unit)


def test_all_solvers_agree_where_the_problem_is_convex():
    """With one of two factors known, the problem is convex and has one minimum."""
    case = CASES["offset"]
    W = np.random.default_rng(0).random((6, 2))
    known = cn.compose(cn.Approx(case.problem.V, "A @ H + b @ 1"), rank=2, constants={"A": W})
    stop = cn.MaxIter(20_000) | cn.RelDecrease(1e-13)
    found = [known.solve(name, stop=stop).objective for name in ("HALS", "TangentPlane")]
    H, b = cp.Variable((2, 5), nonneg=True), cp.Variable((6, 1))
    loss = cp.sum_squares(case.problem.V - W @ H - b @ np.ones((1, 5)))
    lowest = cp.Problem(cp.Minimize(loss)).solve("CLARABEL")
    assert found == pytest.approx([lowest] * 2, rel=1e-5)
