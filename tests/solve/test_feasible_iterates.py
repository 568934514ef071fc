"""Zero where it is allowed, stop rules that read feasible iterates, and honest names for the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

import conicnmf as cn
from conicnmf.model.problem import Problem
from conicnmf.results import History, Iteration, Status
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.methods.sparsity_maximization import _one_round
from conicnmf.solve.stop import settled
from conicnmf.types import Factors

N = cn.NonNegative()
RNG = np.random.default_rng(0)
V = RNG.random((7, 6)) + 0.1
WINE = (load_wine().data / load_wine().data.max(axis=0)).T
SPARSE = cn.factorize(V, 2, W=[N, cn.Sparseness(min=0.5)])


@dataclass(frozen=True)
class Moves(Solver[Problem, int]):
    """Goes from one given point to the next, and stays at the last."""

    points: tuple[Factors, ...] = ()

    def start(self, problem: Problem, context: Context) -> int:
        return 0

    def sweep(self, problem: Problem, factors: Factors, memo: int) -> Sweep:
        if memo == len(self.points):
            return Sweep(factors, memo)
        return Sweep(self.points[memo], memo + 1)


def best_kept(result: cn.Result) -> bool:
    seen = result.history.objective[result.history.feasible]
    return bool(result.objective <= seen.min() * (1 + 1e-9))


def test_zero_is_the_answer_for_negative_data() -> None:
    X = -np.random.default_rng(0).random((6, 5))
    result = cn.factorize(X, 2).solve()
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx((X**2).sum(), rel=1e-12)


@pytest.mark.parametrize("solver", [None, cn.HALS(), cn.TangentPlane(engine="conic")], ids=str)
def test_a_penalty_that_is_too_large_empties_a_factor(solver: Any) -> None:
    data = np.random.default_rng(1).random((8, 20))
    # ⟨w, v⟩ ≤ ‖v‖ for unit w, so no entry of H can pay for a slope of twice the longest sample.
    weight = 2.1 * np.linalg.norm(data, axis=0).max()
    length = cn.NormBall() if isinstance(solver, cn.TangentPlane) else cn.UnitNorm()
    problem = cn.factorize(data, 3, W=[N, length], H=[N, cn.L1(weight)])
    result = problem.solve(solver)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx((data**2).sum(), rel=1e-12)
    assert not result.H.any()


def test_penalties_with_a_lower_bound_on_sparseness_leave_the_start() -> None:
    problem = cn.factorize(WINE, 12, W=[N, cn.L1(1.0)], H=[N, cn.Sparseness(min=0.3), cn.L1(1.0)])
    result = problem.solve()
    assert result.status is Status.CONVERGED
    assert best_kept(result)
    assert result.objective <= problem.solve(cn.HALS()).objective * 1.01


def test_upper_bounds_are_served_alike_by_both_engines() -> None:
    W, H = [N, cn.Sparseness(0, 0.02)], [N, cn.Sparseness(max=0.1)]
    problem = cn.factorize(WINE[:, :60], 3, W=W, H=H)
    native, conic = (problem.solve(cn.TangentPlane(engine=e)) for e in ("native", "conic"))
    assert native.status.kind == conic.status.kind == "converged"
    assert native.objective == pytest.approx(conic.objective, rel=0.01)


def test_a_component_that_must_not_be_zero_is_kept_short_instead() -> None:
    """With a large penalty the infimum is at zero, which is not in the band."""
    H = [N, cn.Sparseness(min=0.4), cn.L1(50.0)]
    for solver in (cn.TangentPlane(), cn.TangentPlane(engine="conic"), cn.HALS()):
        result = cn.factorize(V, 2, W=[N, cn.NormBall()], H=H).solve(solver)
        assert result.max_violation <= 1e-6
        assert result.H.any(axis=1).all()
        assert result.objective == pytest.approx((V**2).sum(), rel=1e-2)


def test_a_start_keeps_a_dead_component_where_zero_is_allowed() -> None:
    W, H = RNG.random((7, 2)), RNG.random((2, 6))
    H[1] = 0.0
    result = cn.factorize(V, 2).solve(cn.HALS(), init=(W, H), stop=0)
    np.testing.assert_array_equal(result.H, H)


@pytest.mark.parametrize("each", ["component", "sample"])
def test_a_start_at_zero_is_filled_where_zero_is_forbidden(each: str) -> None:
    zero = cn.Given(np.zeros((7, 2)), np.zeros((2, 6)))
    problem = cn.factorize(V, 2, W=[N, cn.Sparseness(min=0.3, each=each)])
    result = problem.solve(cn.ProjectedGradient(), init=zero, stop=0)
    assert result.max_violation <= 1e-6


def line(number: int, objective: float, feasible: bool = True, violation: float = 0.0) -> Iteration:
    return Iteration(number, objective, violation, 0.1 * number, 0.5, feasible=feasible)


def history(*values: float) -> History:
    """Return a history with these objectives; negative ones stand for infeasible iterates."""
    return History([line(k, abs(v), v > 0) for k, v in enumerate(values)])


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ((9, 5, 5, 5, 5), Status.CONVERGED),
        ((9, -1, -1, -1, -1), Status.NOT_IMPROVED),
        ((9, -1, -1, -1, 5), None),
        ((9, 5, -1, -1, -1), Status.NOT_IMPROVED),
        ((9, 10, 11, 12, 13), Status.NOT_IMPROVED),
        ((9, 10, 9, 9, 9), Status.CONVERGED),
        ((9, 5, 6, 7, 6), Status.OSCILLATING),
        ((-9, -8, -7, -7, -7, -7), None),
        ((-9, -8, -7, -7, -7, 20), None),
    ],
)
def test_the_rule_reads_feasible_iterates(values: tuple[float, ...], status: Any) -> None:
    assert cn.RelDecrease(1e-3, patience=3).check(history(*values)) is status


def test_a_violation_that_no_longer_falls_ends_as_infeasible() -> None:
    falling = [line(k, 1.0, False, 0.9**k) for k in range(30)]
    stuck = falling + [line(30 + k, 1.0, False, 0.9**29) for k in range(20)]
    rule = cn.RelDecrease(1e-3, patience=3)
    assert rule.check(History(falling)) is None
    assert rule.check(History(stuck)) is Status.INFEASIBLE


def test_the_start_being_infinite_does_not_end_a_solve() -> None:
    assert cn.RelDecrease(1e-3, 3).check(history(np.inf, 9, 5, 3, 2, 1)) is None


def test_small_changes_are_no_convergence_at_an_infeasible_point() -> None:
    still = [line(0, 9.0), line(1, 1.0, False), Iteration(2, 1.0, 0.2, 0.2, 0.0, feasible=False)]
    assert cn.FactorChange(1e-6).check(History(still)) is Status.NOT_IMPROVED
    assert cn.FactorChange(1e-6).check(History(still[1:])) is Status.INFEASIBLE


def test_rounding_at_an_exact_fit_is_no_rise() -> None:
    lines = [line(0, 0.0), line(1, 1e-12), line(2, 1e-12)]
    assert settled(History(lines, unit=1.0)) is Status.CONVERGED
    assert settled(History(lines, unit=1e-6)) is Status.NOT_IMPROVED


SOLVERS = ["HALS", "ANLS", "TangentPlane", "SparsityMaximization", "ProjectedGradient"]


@pytest.mark.parametrize("name", SOLVERS)
def test_an_exact_fit_at_the_start_never_oscillates(name: str) -> None:
    rng = np.random.default_rng(4)
    W, H = rng.random((8, 3)), rng.random((3, 9))
    for engine in ({}, {"engine": "conic"}) if name[0] in "TS" else ({},):
        result = cn.factorize(W @ H, 3).solve(getattr(cn, name)(**engine), init=(W, H))
        assert result.status is Status.CONVERGED
        assert result.relative_error <= 1e-9


def test_better_points_outside_the_constraints_are_not_called_convergence() -> None:
    outside = {"W": np.ones((7, 2)), "H": np.full((2, 6), V.mean() / 2)}
    result = SPARSE.solve(Moves((outside,)), stop=cn.MaxIter(50) | cn.RelDecrease(1e-4))
    assert result.status is Status.NOT_IMPROVED
    assert result.status.kind == "stopped"
    assert result.n_iter < 50
    assert result.objective == result.history[0].objective
    assert not result.history[1].feasible
    assert "explain()" in result.status.value


def test_a_solver_that_calls_itself_converged_is_held_to_its_iterates() -> None:
    @dataclass(frozen=True)
    class Boasts(Moves):
        def sweep(self, problem: Problem, factors: Factors, memo: int) -> Sweep:
            return Sweep(self.points[0], memo, status=Status.CONVERGED)

    far = {"W": 9 * np.ones((7, 2)), "H": np.ones((2, 6))}
    result = cn.factorize(V, 2).solve(Boasts((far,)))
    assert result.status is Status.NOT_IMPROVED


def test_a_chain_hands_over_while_nothing_is_feasible() -> None:
    @dataclass(frozen=True)
    class Outside(Moves):
        """Stays where W is dense."""

        def sweep(self, problem: Problem, factors: Factors, memo: int) -> Sweep:
            return Sweep({"W": np.ones((7, 2)), "H": np.ones((2, 6))}, memo)

    result = SPARSE.solve(cn.Chain((Outside(), cn.HALS())))
    assert result.status is Status.CONVERGED
    assert result.max_violation <= 1e-6
    assert result.objective < result.history[0].objective


def test_a_history_keeps_feasibility_when_it_is_saved() -> None:
    told = history(9, -1, 5)
    assert History.from_list(told.to_list()).lowest == told.lowest == [9, 9, 5]
    assert told.to_frame()["feasible"].tolist() == [True, False, True]


def test_a_convex_block_is_feasible_in_pieces_that_are_next_to_nothing_too():
    V = np.random.default_rng(0).random((6, 5))
    falling = [cn.NonNegative(), cn.Monotone(increasing=False, each="sample")]
    problem = cn.factorize(V, 4, W=falling, H=[cn.NonNegative(), cn.Sparseness(min=0.5)])
    solver, W = cn.SparsityMaximization(engine="conic"), problem.blocks[0]
    _, B = problem.subproblems(problem.start(cn.Random(), np.random.default_rng(1)))[0]

    class Rough:
        def convex(self):
            dust = np.array([2.0, 3.0, 1.0, 1.0])[:, None] * 1e-11
            return np.where(np.arange(6) == 2, dust, np.sort(B, axis=0)[::-1]), []

    memo = solver.prepare(W, Context())
    new, _ = _one_round(W, Rough(), B, memo.closing)
    assert W.violation(Rough().convex()[0]) > 0.1
    assert W.violation(new) <= 1e-9
    np.testing.assert_allclose(new, Rough().convex()[0], atol=1e-9)
