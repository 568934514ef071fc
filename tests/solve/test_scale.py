"""V and V·2ᵏ, with terms to match, are solved in the same steps by every solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.choice import fitting

RNG = np.random.default_rng(5)
V = RNG.random((9, 8)) * 1000
MASK = (RNG.random(V.shape) > 0.3).astype(float)
PLUS = cn.NonNegative()


def model(name, c, data=V):
    """Return a model of data·c², its factors c times as large."""
    size = c**4  # of the objective

    def of(term):
        return term.scaled(c).times(size) if isinstance(term, cn.extend.Penalty) else term.scaled(c)

    smooth = cn.Convex(lambda X: cp.abs(cp.diff(X, axis=0)) <= 20)
    terms = {
        "plain": {},
        "penalties": {"W": [PLUS, of(cn.L1(300.0))], "H": [PLUS, of(cn.L2(2.0))]},
        "bands": {"W": [PLUS, cn.Sparseness(0.4, 0.8)], "H": [PLUS, of(cn.NormBall(50.0))]},
        "unit": {"W": [PLUS, of(cn.UnitNorm())], "H": [PLUS, of(cn.L1(200.0))]},
        "mask": {"loss": cn.WeightedFrobenius(MASK), "H": [of(cn.Simplex(each="sample"))]},
        "convex": {"W": [PLUS, of(smooth)], "H": [PLUS, cn.Sparseness(min=0.3)]},
        "cap": {
            "loss": cn.Frobenius(cap=0.3 * size * float((V**2).sum())),
            "H": [PLUS, of(cn.SparsenessReward(1e5))],
        },
    }[name]
    return cn.factorize(data * data.dtype.type(c**2), 2, **terms)


def solvers(name):
    """Return every solver that fits, and forms of them that are not the default."""
    known = [s for s in fitting(model(name, 1.0)) if not s.absolute]
    more = [cn.TangentPlane(engine="conic"), cn.SparsityMaximization(form="taylor")]
    return known + [s for s in more if not s.mismatches(model(name, 1.0))]


CASES = [
    (name, solver)
    for name in ("plain", "penalties", "bands", "unit", "mask", "convex", "cap")
    for solver in solvers(name)
]


@pytest.mark.parametrize(("name", "solver"), CASES, ids=str)
def test_powers_of_two_change_nothing(name, solver):
    base = model(name, 1.0).solve(solver, stop=3, throw=False)
    for power in (-100, -13, 13, 100):
        c = 2.0**power
        result = model(name, c).solve(solver, stop=3, throw=False)
        assert result.status is base.status
        assert result.objective / c**4 == pytest.approx(base.objective, rel=1e-8)
        assert result.relative_error == pytest.approx(base.relative_error, rel=1e-8)
        for own in base.factors:
            np.testing.assert_allclose(result[own] / c, base[own], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("power", [-15, 15])
@pytest.mark.parametrize("name", ["plain", "bands", "penalties"])
def test_the_same_in_single_precision(name, power):
    single = V.astype(np.float32)
    base = model(name, 1.0, single).solve(stop=5)
    result = model(name, 2.0**power, single).solve(stop=5)
    assert result.W.dtype == np.float32
    np.testing.assert_allclose(result.W / 2.0**power, base.W, rtol=1e-6)


def test_starts_callbacks_and_histories_are_those_of_the_stated_problem():
    W, H = 1e6 * RNG.random((9, 2)), RNG.random((2, 8))
    seen = []
    problem = model("plain", 2.0**10)
    result = problem.solve(
        cn.HALS(), init=(W, H), stop=2, callback=lambda it, X: seen.append((it.objective, X))
    )
    begun = problem.solve(cn.HALS(), init=(W, H), stop=0)
    assert (begun.W == W).all()
    for objective, factors in seen:
        assert problem.objective(factors) == pytest.approx(objective, rel=1e-9)
    assert result.history.objective[0] == pytest.approx(problem.objective({"W": W, "H": H}))


def test_coders_have_thresholds_in_the_units_of_the_data():
    code = cn.coding.L0(40.0)
    problem = model("plain", 1.0)
    result = problem.solve(cn.Coded(code), stop=3)
    again = cn.coding.sparse_code(V, result.W, code)
    assert (again > 0).sum() == (result.H > 0).sum()


@pytest.mark.parametrize("start", ["NNDSVD", "Random", "KMeans"])
def test_coders_begin_alike_in_every_unit(start):
    ends = [
        cn.factorize(V * unit, 2).solve(cn.Coded(), init=start, seed=0, stop=3).history.objective
        for unit in (1.0, 2.0**24, 2.0**-24)
    ]
    np.testing.assert_allclose(ends[1] / 2.0**48, ends[0], rtol=1e-12)
    np.testing.assert_allclose(ends[2] * 2.0**48, ends[0], rtol=1e-12)
