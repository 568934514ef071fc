"""Programs that differ in their numbers alone are lowered once, and answer as new ones do."""

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

import conicnmf as cn
from conicnmf.solve.programs.kept import Kept

PLUS = cn.NonNegative()
V = np.random.default_rng(0).random((7, 6))
LOW_SUMS = cn.Convex(lambda B: cp.sum(B, axis=0) <= 3.0)
BANDS = {
    "prescribed": [PLUS, cn.Sparseness(0.5, 0.5), LOW_SUMS],
    "at least": [PLUS, cn.Sparseness(min=0.5), LOW_SUMS, cn.L2(0.1)],
    "two bounds": [PLUS, cn.Sparseness(min=0.4), cn.Sparseness(min=0.2, each="sample"), LOW_SUMS],
}
SOLVERS = [cn.SparsityMaximization(engine="conic"), cn.TangentPlane(engine="conic")]
LOSSES = [None, cn.Absolute()]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.parametrize("terms", BANDS.values(), ids=BANDS)
def test_more_iterations_lower_hardly_more_programs(terms, solver, loss, monkeypatch):
    lowered = []
    own = Dcp2Cone.apply
    monkeypatch.setattr(
        Dcp2Cone, "apply", lambda self, problem: lowered.append(1) or own(self, problem)
    )
    counts = {}
    for iterations in (4, 12):
        lowered.clear()
        problem = cn.factorize(V, 2, W=terms, loss=loss)
        result = problem.solve(solver, stop=cn.MaxIter(iterations), throw=False)
        counts[iterations] = len(lowered)
    inner = sum(len(line.inner) for line in result.history)
    assert inner > 24
    assert counts[12] - counts[4] <= inner / 6


def test_a_program_with_parameters_has_the_answer_of_one_with_numbers():
    x = cp.Variable(3)
    rng = np.random.default_rng(1)

    def build(_, weight, target, normal):
        near = cp.Minimize(cp.sum_squares(x - target) + weight * cp.norm1(x))
        return cp.Problem(near, [normal @ x >= 1])

    kept = Kept(build)
    for _ in range(4):
        numbers = {"weight": float(rng.random()), "target": rng.random(3), "normal": rng.random(3)}
        answers = []
        for program in (kept(None, **numbers), build(None, **numbers)):
            program.solve(solver="CLARABEL")
            answers.append(x.value)
        np.testing.assert_allclose(*answers, atol=1e-6)


def test_another_pattern_is_another_program():
    x = cp.Variable(2)
    kept = Kept(lambda k, level: cp.Problem(cp.Minimize(cp.sum(x)), [x >= 0, x[k] >= level]))
    for k in (0, 0, 1, 1, 0):
        kept(k, level=np.array(2.0)).solve(solver="CLARABEL")
        np.testing.assert_allclose(x.value[[k, 1 - k]], [2.0, 0.0], atol=1e-6)
