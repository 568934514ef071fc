"""Rules that end a solve, alone and combined."""

import time

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.results import History, Iteration, Status
from conicnmf.solve.stop import Stop, expected_fall


def history(objectives, seconds=None, changes=None):
    """Return a history with these numbers."""
    count = len(objectives)
    seconds = seconds or [0.1 * k for k in range(count)]
    changes = changes or [np.inf] + [0.5] * (count - 1)
    lines = zip(range(count), objectives, [0.0] * count, seconds, changes, strict=True)
    return History([Iteration(*line) for line in lines])


def test_the_iteration_limit_counts_iterations_after_the_start():
    assert cn.MaxIter(2).check(history([3, 2])) is None
    assert cn.MaxIter(2).check(history([3, 2, 1])) is Status.MAX_ITER
    assert cn.MaxIter(0).check(history([3])) is Status.MAX_ITER


def test_the_time_limit_looks_at_the_clock():
    assert cn.TimeLimit(1).check(history([3, 2], [0.0, 0.9])) is None
    assert cn.TimeLimit(1).check(history([3, 2], [0.0, 1.1])) is Status.TIME_LIMIT


def test_small_changes_of_the_factors_end_a_solve():
    rule = cn.FactorChange(1e-3)
    assert rule.check(history([3])) is None
    assert rule.check(history([3, 2], changes=[np.inf, 1e-2])) is None
    assert rule.check(history([3, 2], changes=[np.inf, 1e-4])) is Status.STILL_FALLING
    assert rule.check(history([3, 2, 2], changes=[np.inf, 1, 1e-4])) is Status.CONVERGED


@pytest.mark.parametrize(
    ("objectives", "status"),
    [
        ([9, 5, 4, 3], None),
        ([9, 5, 4.9999, 4.9998, 4.9997], Status.CONVERGED),
        ([9, 5, 5, 5], None),
        ([9, 5, 5, 5, 5], Status.CONVERGED),
        ([9, 5, 6, 7, 6], Status.OSCILLATING),
        ([9, 5, 6, 5, 5.00001], Status.CONVERGED),
        ([9, 5, 7, 7, 3], None),
        ([1.0, 1e-17, 1e-17, 1e-18, 1e-17], Status.CONVERGED),
        ([-1.0, -2.0, -2.00001, -2.00001, -2.00001], Status.CONVERGED),
        ([0.0, 0.0, 0.0, 0.0], Status.CONVERGED),
    ],
)
def test_the_decrease_of_the_best_objective_decides(objectives, status):
    assert cn.RelDecrease(1e-3, patience=3).check(history(objectives)) is status


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ([2.0**-k for k in range(9)], None),
        ([9 + 0.05 * 0.9**k for k in range(9)], Status.STILL_FALLING),
        ([9 + 0.05 * 0.01**k for k in range(9)], Status.CONVERGED),
        ([np.inf, 9.0, 8.95, 8.9], Status.STILL_FALLING),
        ([9 + 0.5 / k for k in range(8, 20)], Status.STILL_FALLING),
    ],
)
def test_a_rule_that_is_met_while_the_objective_falls_does_not_say_converged(values, status):
    assert cn.RelDecrease(1e-2, patience=1).check(history(values)) is status


def test_what_is_left_to_fall_is_the_sum_of_the_falls_to_come():
    for q in (0.5, 0.7, 0.9):
        values = [3 + q**k for k in range(20)]
        assert expected_fall(history(values), 3) == pytest.approx(q**19)
    slow = [3 + 1 / k for k in range(1, 100)]
    assert 0.4 / 99 < expected_fall(history(slow), 3) < 1.1 / 99


def test_patience_is_the_number_of_iterations_without_progress():
    values = [9, 5, 5, 5, 5, 5]
    for patience in range(1, 5):
        ended = next(
            k
            for k in range(1, len(values) + 1)
            if cn.RelDecrease(1e-3, patience).check(history(values[:k]))
        )
        assert ended == patience + 2


class Always(Stop):
    def __init__(self, status):
        self.status = status

    def check(self, history):
        return self.status


def test_either_rule_may_end_and_the_first_says_how():
    none, time_, converged = Always(None), Always(Status.TIME_LIMIT), Always(Status.CONVERGED)
    here = history([1])
    assert (none | time_).check(here) is Status.TIME_LIMIT
    assert (time_ | converged).check(here) is Status.TIME_LIMIT
    assert (none | none).check(here) is None
    assert (none | none | converged).check(here) is Status.CONVERGED


def test_both_rules_must_agree_and_the_last_says_how():
    none, time_, converged = Always(None), Always(Status.TIME_LIMIT), Always(Status.CONVERGED)
    here = history([1])
    assert (none & time_).check(here) is None
    assert (time_ & converged).check(here) is Status.CONVERGED
    assert ((none & time_) | converged).check(here) is Status.CONVERGED
    assert ((none | time_) & converged).check(here) is Status.CONVERGED
    assert (converged & (none | none)).check(here) is None


def test_rules_are_written_as_they_are_read():
    rule = cn.MaxIter(5) | (cn.TimeLimit(2) & cn.FactorChange(0.1))
    assert repr(rule) == "MaxIter(limit=5) | (TimeLimit(seconds=2)) & (FactorChange(rtol=0.1))"


PROBLEM = cn.factorize(np.random.default_rng(0).random((12, 10)), 3)


def test_a_solve_ends_by_its_rule():
    assert PROBLEM.solve(cn.HALS(), stop=4).n_iter == 4
    both = cn.MaxIter(3) & cn.MaxIter(6)
    assert PROBLEM.solve(cn.HALS(), stop=both).n_iter == 6
    either = cn.MaxIter(3) | cn.MaxIter(6)
    assert PROBLEM.solve(cn.HALS(), stop=either).n_iter == 3


def test_a_looser_rule_ends_sooner():
    loose, tight = (PROBLEM.solve(cn.HALS(), stop=cn.RelDecrease(r)) for r in (1e-2, 1e-7))
    assert loose.n_iter < tight.n_iter
    assert tight.status is Status.CONVERGED
    assert tight.objective <= loose.objective


def test_a_time_limit_is_kept(monkeypatch):
    looks = iter(range(10**6))  # every look at the clock takes a second
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(looks)))
    result = PROBLEM.solve(cn.Multiplicative(), stop=cn.MaxIter(10**9), time_limit=60)
    assert result.status is Status.TIME_LIMIT
    assert result.n_iter >= 10
    assert next(looks) < 70


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cn.MaxIter(-1), ["MaxIter", ">= 0", "-1"]),
        (lambda: cn.TimeLimit(-2.0), ["TimeLimit", ">= 0", "-2.0"]),
        (lambda: cn.TimeLimit(float("nan")), ["nan"]),
        (lambda: cn.RelDecrease(-1e-3), ["RelDecrease", ">= 0", "-0.001"]),
        (lambda: cn.RelDecrease(1e-3, 0), ["patience to be", ">= 1", "patience=0"]),
        (lambda: PROBLEM.solve(cn.HALS(), stop=0.5), ["0.5"]),
        (lambda: PROBLEM.solve(cn.HALS(), stop=True), ["True"]),
        (lambda: PROBLEM.solve(cn.HALS(), stop="10"), ["'10'"]),
    ],
)
def test_bad_rules_are_refused(make, words):
    with pytest.raises(cn.InputError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_rule_must_say_how_it_checks():
    with pytest.raises(TypeError, match="must define check"):
        Stop().check(history([1]))


@pytest.mark.parametrize("name", ["HALS", "ANLS", "TangentPlane", "Multiplicative"])
def test_an_exact_fit_at_the_start_has_converged(name):
    rng = np.random.default_rng(0)
    W, H = rng.random((8, 2)), rng.random((2, 6))
    result = cn.factorize(W @ H, 2).solve(getattr(cn, name)(), init=(W, H))
    assert result.status is cn.Status.CONVERGED
    assert result.objective <= 1e-25


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e25), (np.float64, 1e200)])
def test_the_change_of_factors_whose_squares_overflow_is_a_number(dtype, size):
    V = np.random.default_rng(0).random((4, 3)).astype(dtype)
    W, H = np.full((4, 1), size, dtype), np.full((1, 3), 1 / size, dtype)
    result = cn.factorize(V, 1, W=[], H=[]).solve("ANLS", init=(W, H), stop=2)
    assert np.isfinite(result.history[-1].change)


def test_a_long_step_from_an_infinite_objective_leaves_no_warning():
    V = np.random.default_rng(5).random((6, 5))
    result = cn.factorize(V, 2, loss="is", W=[]).solve("ProjectedGradient", stop=2)
    assert result.status is Status.MAX_ITER
    assert np.isfinite(result.history[-1].change)
