"""A killed solve goes on from its checkpoint."""

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve import checkpoint as checkpoints


@pytest.fixture
def problem():
    V = np.random.default_rng(3).random((12, 10))
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.4)])


@pytest.fixture
def often(monkeypatch):
    """Write after every iteration."""
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)


class Killed(BaseException):
    """What a test throws where the machine would go down."""


def killed_after(count):
    def callback(iteration, factors):
        if iteration.iteration == count:
            raise Killed

    return callback


@pytest.mark.parametrize("solver", [cn.ANLS(), cn.ProjectedGradient()], ids=str)
def test_a_killed_solve_continues_and_ends_where_an_unbroken_one_does(solver, tmp_path, often):
    problem = cn.factorize(np.random.default_rng(3).random((12, 10)), 3)
    whole = problem.solve(solver, stop=12)
    with pytest.raises(Killed):
        problem.solve(solver, stop=12, checkpoint=tmp_path / "run", callback=killed_after(5))
    seen = []
    again = problem.solve(
        solver, stop=12, checkpoint=tmp_path / "run", callback=lambda it, _: seen.append(it)
    )
    assert seen[0].iteration == 6
    assert again.n_iter == whole.n_iter == 12
    assert again.objective == pytest.approx(whole.objective, rel=1e-3)
    np.testing.assert_array_equal(again.history.objective[:6], whole.history.objective[:6])
    assert (np.diff(again.history.seconds) >= 0).all()


def test_a_solver_without_memory_continues_exactly(tmp_path, often):
    problem = cn.factorize(np.random.default_rng(3).random((12, 10)), 3)
    whole = problem.solve(cn.Multiplicative(), stop=12)
    with pytest.raises(Killed):
        problem.solve(
            cn.Multiplicative(), stop=12, checkpoint=tmp_path / "run", callback=killed_after(5)
        )
    again = problem.solve(cn.Multiplicative(), stop=12, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(again.W, whole.W)
    np.testing.assert_array_equal(again.history.objective, whole.history.objective)


def test_the_best_iterate_survives(problem, tmp_path, often):
    with pytest.raises(Killed):
        problem.solve(
            cn.TangentPlane(), stop=9, checkpoint=tmp_path / "run", callback=killed_after(6)
        )
    again = problem.solve(cn.TangentPlane(), stop=9, checkpoint=tmp_path / "run")
    assert again.objective == pytest.approx(again.history.objective.min())
    assert again.max_violation <= 1e-6


def test_a_finished_solve_returns_at_once_and_a_longer_one_goes_on(problem, tmp_path):
    first = problem.solve(cn.HALS(), stop=5, checkpoint=tmp_path / "run")
    same = problem.solve(cn.HALS(), stop=5, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(first.W, same.W)
    longer = problem.solve(cn.HALS(), stop=8, checkpoint=tmp_path / "run")
    assert longer.n_iter == 8
    assert longer.objective <= first.objective


def test_the_checkpoint_of_another_solve_is_refused(problem, tmp_path):
    problem.solve(cn.HALS(), stop=2, checkpoint=tmp_path / "run.npz")
    with pytest.raises(cn.InputError, match=r"another solve: its seed is 0, not 1; name another"):
        problem.solve(cn.HALS(), stop=2, checkpoint=tmp_path / "run.npz", seed=1)
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
