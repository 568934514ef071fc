"""What users of other packages write first is understood, or answered with our own word."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = np.random.default_rng(0).random((6, 8))


@pytest.mark.parametrize(
    ("theirs", "ours"), [("mu", cn.Multiplicative()), ("cd", cn.HALS()), ("als", cn.ANLS())]
)
def test_usual_short_names_stand_for_solvers(theirs, ours):
    assert cn.factorize(V, 2).solve(theirs, stop=2).solver == str(ours)


@pytest.mark.parametrize("theirs", ["squares", "euclidean", "frobenius"])
def test_usual_names_of_the_squared_loss_are_understood(theirs):
    assert str(cn.factorize(V, 2, loss=theirs).loss) == str(cn.Frobenius())


@pytest.mark.parametrize(
    ("name", "place"),
    [("SparseNMF", "estimators"), ("OMP", "coding"), ("ProjectiveNMF", "estimators")],
)
def test_a_name_that_is_not_at_the_top_is_answered_with_its_place(name, place):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; write cn.{place}.{name}$"):
        getattr(cn, name)
    assert hasattr(getattr(cn, place), name)


def test_a_name_that_is_nowhere_is_told_plainly():
    with pytest.raises(AttributeError, match=r"no attribute 'Hals'$") as caught:
        _ = cn.Hals
    assert (caught.value.name, caught.value.obj) == ("Hals", cn)  # from which Python says HALS
    assert not hasattr(cn, "__wrapped__")


def test_a_number_of_seeds_is_answered_with_a_range():
    with pytest.raises(cn.InputError, match=r"seeds must be different.*got 2; try range\(2\)"):
        cn.compare(cn.factorize(V, 2), ["HALS"], seeds=2)


def test_a_race_is_shown_by_its_parts_and_kept_with_its_settings(tmp_path):
    result = cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.4)]).solve(stop=2)
    assert result.solver.startswith("Race(")
    shown = repr(result).splitlines()[1]
    assert "TangentPlane → HALS or " in shown
    assert "Race(" not in shown
    assert repr(cn.load(result.save(tmp_path / "r"))).splitlines()[1] == shown
    assert "HALS(sweeps=3" in repr(cn.factorize(V, 2).solve("HALS", stop=2))


def test_sparseness_in_an_objective_is_answered_with_where_it_stands():
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 8), nonneg=True)
    loss, own = cp.sum_squares(V - W @ H), cn.sparseness(W, axis=0)
    for stated in (lambda: loss - own, lambda: loss - 0.1 * own, lambda: -own + loss):
        with pytest.raises(cn.ModelError, match=r"belongs in a constraint.*SparsenessReward"):
            stated()
