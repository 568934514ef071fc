"""Signed-rank tests against SciPy and brute force, and findings that do not overreach."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

import conicnmf as cn
from conicnmf.results import Iteration
from conicnmf.study.compare.significance import holm, signed_rank


def comparison(**objectives):
    """A comparison whose runs end at given objectives after 1, 2, … seconds; None failed."""
    rows, results = [], {}
    for solver, values in objectives.items():
        for seed, value in enumerate(values):
            failed = value is None
            end = 1.0 if failed else float(value)
            lines = [Iteration(0, 100.0, 0.0, 0.0, 1.0), Iteration(1, end, 0.0, end, 0.1)]
            status = cn.Status.INFEASIBLE if failed else cn.Status.CONVERGED
            factors = {"W": np.ones((2, 1)), "H": np.ones((1, 2))}
            results["p", solver, seed] = cn.Result(
                factors, end, 0.1, {}, status, cn.History(lines), seed, solver, "p", {}
            )
            rows.append({"problem": "p", "solver": solver, "seed": seed, "status": status.name})
    return cn.Comparison(pd.DataFrame(rows), results)


@given(
    st.lists(
        st.floats(-9, 9).filter(lambda x: abs(x) > 1e-3), min_size=1, max_size=20, unique_by=abs
    )
)
@settings(max_examples=40, deadline=None)
def test_p_is_scipys_where_nothing_is_level(d):
    d = np.array(d)
    assert signed_rank(d) == pytest.approx(wilcoxon(d, method="exact").pvalue, rel=1e-9)


@given(st.lists(st.integers(-3, 3), max_size=9))
@settings(max_examples=40, deadline=None)
def test_p_is_exact_with_ties_and_zeros(values):
    d = np.array([v for v in values if v], dtype=float)
    ranks = rankdata(np.abs(d))
    seen = abs(ranks[d > 0].sum() - ranks.sum() / 2)
    sums = [
        abs(ranks @ np.array(signs) - ranks.sum() / 2) for signs in product((0, 1), repeat=d.size)
    ]
    expected = np.mean([s >= seen - 1e-9 for s in sums])
    assert signed_rank(np.array(values, dtype=float)) == pytest.approx(expected)


def test_many_pairs_take_the_normal_approximation():
    d = np.random.default_rng(0).normal(0.2, 1, 400)
    exact = signed_rank(d[:300])
    assert exact == pytest.approx(wilcoxon(d[:300], method="asymptotic").pvalue, rel=0.05)
    assert signed_rank(d) == pytest.approx(wilcoxon(d).pvalue)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
@settings(max_examples=40, deadline=None)
def test_holm_rejects_what_the_step_down_procedure_rejects(p):
    p = np.array(p)
    adjusted = holm(p)
    for level in (0.01, 0.05, 0.3):
        rejected = np.zeros(p.size, dtype=bool)
        for step, i in enumerate(np.argsort(p)):
            if p[i] * (p.size - step) > level:
                break
            rejected[i] = True
        np.testing.assert_array_equal(adjusted <= level, rejected)


def test_a_clear_difference_is_found_with_its_size():
    runs = comparison(good=[2, 3, 4, 5, 6, 7], bad=[4, 6, 8, 10, 12, 14])
    (row,) = runs.significance().to_dict("records")
    assert (row["first"], row["second"], row["pairs"]) == ("good", "bad", 6)
    assert (row["lower"], row["higher"], row["level"]) == (6, 0, 0)
    assert row["ratio"] == 0.5
    assert row["p"] == row["p_holm"] == pytest.approx(2 / 64)
    assert row["finding"] == "good is lower"


def test_few_pairs_show_nothing_and_say_how_many_it_takes():
    three = comparison(good=[1, 2, 3], bad=[9, 9, 9]).significance()
    assert three["finding"].item() == "too few pairs that differ: at least 6 are needed"
    many = comparison(a=[1] * 6, b=[2] * 6, c=[3] * 6, d=[4] * 6).significance()
    assert set(many["finding"]) == {"too few pairs that differ: at least 8 are needed"}
    assert (many["p_holm"] >= many["p"]).all()


def test_mixed_and_equal_runs_are_no_difference():
    mixed = comparison(a=[1, 2, 1, 2, 1, 2, 1, 2], b=[2, 1, 2, 1, 2, 1, 2, 1]).significance()
    assert mixed["finding"].item() == "no difference seen"
    equal = comparison(a=[1, 2, 3], b=[1, 2 + 1e-12, 3]).significance()
    assert equal["finding"].item() == "level in every pair"
    assert equal["p"].item() == 1


def test_a_failed_run_is_worse_than_any_other():
    runs = comparison(good=[5, 5, 5, 5, 5, 5, 5], fails=[1, None, None, None, None, None, None])
    row = runs.significance().iloc[0]
    assert (row["lower"], row["higher"]) == (6, 1)
    both = comparison(a=[1, None], b=[2, None]).significance()
    assert both["pairs"].item() == 1


def test_time_is_counted_until_the_target():
    runs = comparison(quick=[1.0] * 6, late=[1.005] * 6, never=[3.0] * 6)
    frame = runs.significance("seconds", level=0.2).set_index(["first", "second"])
    assert frame.loc[("quick", "late"), "ratio"] == pytest.approx(1 / 1.005)
    assert frame.loc[("quick", "never"), "finding"] == "quick is lower"


def test_negative_objectives_have_no_ratio():
    row = comparison(a=[-5] * 6, b=[-2] * 6).significance().iloc[0]
    assert np.isnan(row["ratio"])
    assert row["finding"] == "a is lower"


def test_wrong_arguments_are_refused():
    runs = comparison(a=[1], b=[2])
    with pytest.raises(cn.InputError, match="measure"):
        runs.significance("money")
    with pytest.raises(cn.InputError, match="level"):
        runs.significance(level=5)


def test_one_solver_makes_an_empty_table():
    assert comparison(a=[1, 2]).significance().empty
