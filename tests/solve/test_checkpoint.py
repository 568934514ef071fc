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


HANDED_OVER = cn.Chain((cn.HALS(), cn.ANLS()), rtol=0.5, patience=2)
"""By the second iteration the second solver is at work."""


@pytest.mark.parametrize(
    "solver",
    [cn.Multiplicative(), cn.HALS(), cn.ANLS(), cn.ProjectedGradient(), HANDED_OVER],
    ids=str,
)
def test_a_solver_that_says_what_it_remembers_continues_exactly(solver, tmp_path, often):
    problem = cn.factorize(np.random.default_rng(3).random((12, 10)), 3)
    whole = problem.solve(solver, stop=12)
    with pytest.raises(Killed):
        problem.solve(solver, stop=12, checkpoint=tmp_path / "run", callback=killed_after(5))
    again = problem.solve(solver, stop=12, checkpoint=tmp_path / "run")
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


N = cn.NonNegative()
V = np.random.default_rng(3).random((12, 10))


def stated(V=V, loss=None, H=(N,)):
    return cn.factorize(V, 3, loss=loss, H=list(H))


def bounded(top):
    return cn.Convex(lambda H: top >= H, name="bounded")


OTHERS = {
    "data": ({}, {"V": V[::-1]}, {}, {}, "its data V is another one"),
    "weights": (
        {"loss": cn.WeightedFrobenius(V > 0.3)},
        {"loss": cn.WeightedFrobenius(V[V > 0.3].size >= V)},
        {},
        {},
        "its loss of V is",
    ),
    "terms": ({}, {"H": (N, cn.L1(0.1))}, {}, {}, "its terms on H is"),
    "functions": ({"H": (N, bounded(2))}, {"H": (N, bounded(3))}, {}, {}, "terms on H is another"),
    "start": ({}, {}, {"init": (np.ones((12, 3)), np.ones((3, 10)))}, {}, "its start is"),
    "given start": (
        {},
        {},
        {"init": (np.ones((12, 3)), np.ones((3, 10)))},
        {"init": (np.ones((12, 3)), np.full((3, 10), 2.0))},
        "its start is another one",
    ),
    "solver": ({}, {}, {"solver": cn.HALS()}, {"solver": cn.ANLS()}, "its solver is HALS"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_is_refused_for_what_it_was_not_made_of(name, tmp_path):
    first, second, how, other_how, reason = OTHERS[name]
    stated(**first).solve(stop=2, checkpoint=tmp_path / "run", **how)
    before = (tmp_path / "run.npz").read_bytes()
    stated(**first).solve(stop=2, checkpoint=tmp_path / "run", **how)
    with pytest.raises(cn.InputError, match="is the checkpoint of another solve") as caught:
        stated(**second).solve(stop=2, checkpoint=tmp_path / "run", **other_how)
    assert reason in str(caught.value)
    assert (tmp_path / "run.npz").stat().st_size == len(before)


def test_two_solves_with_one_file_do_not_mix_their_data(tmp_path):
    A, B = np.random.default_rng(0).random((2, 12, 10))
    cn.factorize(A, 3).solve(cn.HALS(), checkpoint=tmp_path / "run")
    with pytest.raises(cn.InputError, match="data V"):
        cn.factorize(B, 3).solve(cn.HALS(), checkpoint=tmp_path / "run")
