"""A certificate passes right answers, and every kind of wrong one planted here fails it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.study.certificate import Check


@pytest.fixture(scope="module")
def problem():
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])


@pytest.fixture(scope="module")
def result(problem):
    return problem.solve(cn.HALS(), stop=cn.MaxIter(2000) | cn.RelDecrease(1e-9))


def failed(certificate):
    return {check.name.split(",")[0] for check in certificate.checks if not check.ok}


def planted(result, **factors):
    return replace(result, factors={**result.factors, **factors})


def test_a_converged_result_is_certified(result):
    certificate = result.certificate()
    assert certificate.ok, str(certificate)
    assert str(certificate).endswith("\ncertified")


@pytest.mark.parametrize("solver", [cn.TangentPlane(), cn.SparsityMaximization()], ids=str)
def test_so_are_those_of_the_cone_drivers(problem, solver):
    best = problem.solve(solver, stop=cn.MaxIter(300) | cn.RelDecrease(1e-8))
    assert best.certificate().ok, str(best.certificate())


def test_dense_components_fail(result):
    wrong = planted(result, W=np.ones_like(result.W))
    assert "feasible" in failed(wrong.certificate())


def test_negative_entries_fail(result):
    assert "feasible" in failed(planted(result, W=result.W - 0.1).certificate())


def test_a_point_that_can_still_fall_fails(problem, result):
    early = problem.solve(cn.HALS(), stop=1)
    assert "stationary" in failed(early.certificate())


def test_a_false_objective_fails(result):
    assert "objective as reported" in failed(
        replace(result, objective=0.9 * result.objective).certificate()
    )


def test_a_rising_trace_of_a_monotone_solver_fails(result):
    trace = result.history.iterations
    bent = [*trace[:-1], replace(trace[-2], objective=2 * trace[0].objective), trace[-1]]
    wrong = replace(result, history=cn.History(bent))
    assert "trace never rises" in failed(wrong.certificate())


def test_infinite_objectives_at_the_begin_are_no_rise(result):
    first, *trace = result.history.iterations
    endless = replace(first, objective=np.inf)
    late = replace(result, history=cn.History([endless, endless, *trace]))
    assert late.certificate()


def test_a_way_into_the_constraints_may_rise(result):
    first, *trace = result.history.iterations
    outside = replace(first, objective=0.5 * result.objective, violation=0.1)
    assert replace(result, history=cn.History([outside, *trace])).certificate()


def test_a_worse_iterate_than_the_best_fails(result):
    trace = result.history.iterations
    better = replace(trace[-1], objective=0.5 * result.objective, violation=0.0)
    wrong = replace(result, history=cn.History([*trace, better]))
    assert "best feasible iterate kept" in failed(wrong.certificate())


def test_dead_and_duplicate_components_fail(result):
    W = result.W.copy()
    W[:, 0] = 0.0
    assert "dead components" in failed(planted(result, W=W).certificate())
    W = result.W.copy()
    W[:, 1] = 3 * W[:, 0]
    assert "duplicate components" in failed(planted(result, W=W).certificate())


def test_a_loaded_result_needs_its_problem(result, problem, tmp_path):
    again = cn.load(result.save(tmp_path / "saved"))
    with pytest.raises(cn.InputError, match="pass it"):
        again.certificate()
    assert again.certificate(problem).ok


def test_the_wrong_problem_is_refused(result):
    with pytest.raises(cn.InputError, match="shape"):
        result.certificate(cn.factorize(np.ones((3, 3)), 1))


@pytest.mark.parametrize("solver", [cn.HALS(), cn.ANLS(), cn.TangentPlane()], ids=lambda s: s.name)
def test_an_exact_fit_is_certified_although_only_rounding_is_left(solver):
    rng = np.random.default_rng(0)
    V = rng.random((12, 2)) @ rng.random((2, 10))
    result = cn.factorize(V, 2).solve(solver, stop=cn.MaxIter(3000) | cn.RelDecrease(1e-12))
    assert result.relative_error < 1e-12
    assert result.certificate(), result.certificate()


def reported(result, factors):
    """Return the result with other factors, and everything that it reports of them true."""
    problem = result.problem
    return replace(
        result,
        factors=factors,
        objective=problem.objective(factors),
        relative_error=problem.relative_error(factors),
        relative_errors=problem.relative_errors(factors),
        violation=problem.violations(factors),
    )


def test_what_the_result_reports_is_held_against_the_factors(result):
    wrong = {
        "relative error as reported": {"relative_error": 0.9 * result.relative_error},
        "violation as reported": {"violation": {"W: NonNegative()": 0.1}},
        "solve did not fail": {"status": cn.Status.BACKEND_FAILED},
    }
    for name, claims in wrong.items():
        assert failed(replace(result, **claims).certificate()) == {name}
    by_fit = replace(result, relative_errors={"V": 0.0})
    assert failed(by_fit.certificate()) == {"relative error as reported"}


def test_a_zero_component_that_a_band_forbids_is_a_false_status(result):
    wrong = reported(result, {**result.factors, "W": result.W * [1.0, 1.0, 0.0]})
    assert "solve did not fail" in failed(wrong.certificate())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_entries_that_are_no_numbers_fail_without_an_exception(result, value):
    H = result.H.copy()
    H[0, 0] = value
    certificate = planted(result, H=H).certificate()
    assert failed(certificate) == {"non-finite entries"}
    assert not certificate


@pytest.mark.parametrize("each", ["component", "sample"])
def test_rewards_are_linearized_at_the_result(each):
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    H = [cn.NonNegative(), cn.SparsenessReward(0.5, each=each)]
    problem = cn.factorize(V, 3, H=H)
    best = problem.solve(stop=cn.MaxIter(300) | cn.RelDecrease(1e-8))
    assert best.certificate(), best.certificate()
    assert "stationary" in failed(problem.solve(stop=1).certificate())
    assert "stationary" in failed(reported(best, {"W": best.W, "H": 1.2 * best.H}).certificate())


SIGNED = {
    "band": [cn.Sparseness(min=0.5)],
    "band and ball": [cn.Sparseness(min=0.5), cn.NormBall(1.0)],
    "band and sphere": [cn.Sparseness(min=0.5), cn.UnitNorm()],
    "prescribed": [cn.Sparseness(0.5, 0.5)],
}


@pytest.mark.parametrize("terms", SIGNED.values(), ids=SIGNED)
def test_signed_factors_are_judged_by_what_they_could_gain(terms):
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    problem = cn.factorize(V - V.mean(), 3, W=terms, H=[])
    best = problem.solve(stop=cn.MaxIter(2000) | cn.RelDecrease(1e-9))
    assert best.certificate(), best.certificate()
    longer = reported(best, {"W": best.W, "H": 1.05 * best.H})
    assert "stationary" in failed(replace(longer, history=cn.History([])).certificate())


def test_codes_are_judged_with_their_zeros_kept():
    data = cn.datasets.synthetic_dictionary(m=20, k=24, n=150, density=0.25, active=(2, 4), seed=0)
    problem = cn.factorize(data.V, 24)
    result = problem.solve(cn.Coded(cn.coding.OMP(3)), stop=50)
    assert result.certificate(), result.certificate()
    assert "stationary" in failed(
        reported(result, {"W": result.W, "H": 1.1 * result.H}).certificate()
    )
    plain = replace(result, promises=cn.HALS().promises)  # as if it minimized the plain loss
    assert "stationary" in failed(plain.certificate())
    # A penalty of the coder's own shrinks its codes, which the stated loss cannot judge.
    shrunk = problem.solve(cn.Coded(cn.coding.Lasso(0.05)), stop=50).certificate()
    assert shrunk, shrunk
    assert "Coded does not guarantee it" in str(shrunk)


def test_text_in_a_page_is_escaped():
    certificate = cn.Certificate((Check("feasible, W: <b>", 0.0, 1.0, "a & b"),))
    assert "<td>feasible, W: &lt;b&gt;</td>" in certificate._repr_html_()
    assert "a &amp; b" in certificate._repr_html_()


@dataclass(frozen=True)
class Restless(cn.HALS):
    """A solver of somebody else, with a name like ours, that promises nothing."""

    monotone: ClassVar[bool] = False

    def __str__(self):
        return "HALS(but not really)"


def test_what_a_solver_promises_is_kept_in_the_result_not_read_from_its_name(tmp_path):
    problem = cn.factorize(np.random.default_rng(0).random((6, 5)), 2)
    for solver, promised in ((Restless(), False), (cn.HALS(), True)):
        result = problem.solve(solver, stop=3)
        first, *rest = result.history.iterations
        risen = [first, replace(first, objective=2 * first.objective), *rest]
        forged = replace(result, history=cn.History(risen, result.history.unit))
        loaded = cn.load(forged.save(tmp_path / "forged"))
        (rise,) = (c for c in loaded.certificate(problem).checks if c.name == "trace never rises")
        assert rise.ok != promised


def test_dead_components_of_turned_and_of_several_products_fail():
    V, U = np.random.default_rng(0).random((9, 11)), np.random.default_rng(1).random((4, 3))
    turned = cn.compose(cn.Approx(V, "W.T @ H.T"), rank=4)
    result = turned.solve("HALS", stop=3)
    W = result.W.copy()
    W[0] = 0
    assert "dead components" in failed(planted(result, W=W).certificate())
    two = cn.compose(cn.Approx(V, "A @ B"), cn.Approx(U, "C @ D"), rank=2)
    result = two.solve("HALS", stop=3)
    C = result["C"].copy()
    C[:, 0] = 0
    checks = planted(result, C=C).certificate().checks
    verdicts = {check.name: check.ok for check in checks if check.name.startswith("dead")}
    assert verdicts == {"dead components, V1": True, "dead components, V2": False}


JOINED = {
    "peaks in a box": [cn.NonNegative(), cn.Unimodal(), cn.Box(0, 0.6)],
    "few entries that are even": [cn.NonNegative(), cn.Cardinality(8), cn.Sparseness(max=0.6)],
    "parts that are even": [cn.Orthogonal(), cn.Sparseness(max=0.75)],
}


@pytest.mark.parametrize("name", JOINED)
def test_sets_without_cone_and_projection_are_judged_in_a_convex_part(name):
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    problem = cn.factorize(V, 3, H=JOINED[name])
    best = problem.solve(
        cn.Splitting(extrapolate=False), stop=cn.MaxIter(500) | cn.RelDecrease(1e-7)
    )
    (check,) = [check for check in best.certificate().checks if check.name == "stationary, H"]
    assert "in a convex part" in check.note
    assert check.ok
    worse = reported(best, {"W": best.W, "H": 0.8 * best.H})
    assert "stationary" in failed(worse.certificate())


TOGETHER, IN_TURN = "projected gradient steps", "alternating projections"
MET = {
    "box": (cn.Box(0, 0.6), TOGETHER),
    "entries that are known": (cn.Fixed(np.arange(48).reshape(16, 3).T == 20, 0.25), TOGETHER),
    "ball of samples": (cn.NormBall(0.9, each="sample"), IN_TURN),
    "rising": (cn.Monotone(), IN_TURN),
}


@pytest.mark.parametrize("name", MET)
def test_spheres_that_meet_other_sets_are_judged_by_projections(name):
    V = cn.datasets.low_rank(20, 16, 3, noise=0.05, seed=0).V
    other, route = MET[name]
    problem = cn.factorize(V, 3, H=[cn.NonNegative(), cn.UnitNorm(), other])
    best = problem.solve(stop=cn.MaxIter(300) | cn.RelDecrease(1e-5))
    (check,) = [check for check in best.certificate().checks if check.name == "stationary, H"]
    assert route in check.note
    assert check.ok, check
    start = problem.solve(stop=0)
    early = replace(best, factors={"W": best.W, "H": start.H})
    assert "stationary" in failed(early.certificate())


@pytest.mark.parametrize("power", [96, -90])
def test_blocks_of_huge_and_tiny_data_are_judged_in_units_of_one(power):
    V, unit = np.ldexp(cn.datasets.low_rank(6, 5, 1, noise=0.05, seed=0).V, power), 2.0**power
    H = [cn.NonNegative(), cn.NormBall(0.5 * unit, each="sample"), cn.FactorSum(4 * unit)]
    problem = cn.factorize(V, 1, loss="kl", W=[cn.NonNegative(), cn.NormBall(3.0)], H=H)
    best = problem.solve("TangentPlane")
    assert best.certificate(), best.certificate()
    shorter = reported(best, {"W": best.W, "H": 0.8 * best.H})
    assert "stationary" in failed(shorter.certificate())


def test_a_point_outside_its_constraints_is_refuted_without_an_exception():
    V = np.random.default_rng(0).random((5, 6))
    known = np.zeros((5, 2), dtype=bool)
    known[0] = True
    terms = [cn.NonNegative(), cn.Cardinality(2), cn.Fixed(known, 0.5), cn.NormBall(1.0)]
    result = cn.factorize(V, 2, W=terms).solve(stop=3, throw=False)
    W = np.zeros((5, 2))
    W[1:3] = 0.5  # what is known is zero: the part of the set with these zeros holds no point
    wrong = replace(result, factors=result.factors | {"W": W})
    assert not wrong.certificate()


def test_lengths_with_kinks_in_the_price_are_judged_by_proximal_steps():
    """A unit length is no cone program, and a norm of groups has no gradient."""
    V = cn.datasets.low_rank(8, 7, 2, noise=0.05, seed=3).V
    W, H = [cn.NonNegative()], [cn.NonNegative(), cn.UnitNorm(), cn.L21(0.05)]
    result = cn.factorize(V, 2, W=W, H=H).solve(stop=cn.MaxIter(2000) | cn.RelDecrease(1e-8))
    assert result.certificate(), result.certificate()
    turned = {**result.factors, "H": cn.UnitNorm().project(result.H[:, ::-1] + 0.1)}
    checks = cn.factorize(V, 2, W=W, H=H).solve(init=(result.W, turned["H"]), stop=1)
    moved = planted(checks, **turned)
    assert not moved.certificate()
