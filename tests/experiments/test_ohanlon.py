"""The claims of O'Hanlon and Plumbley (2013), on small dictionaries and, marked long, in full."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from experiments import reproduce
from experiments.ohanlon_table1 import CONSTRAINED, EXTENDED, L0, METHODS, NMF, Size, learn

SMALL = Size(60, 90, 900, (2, 4), rounds=14, switch=10)


def test_l0_codes_recover_what_least_squares_do_not():
    l0 = learn(METHODS[L0], SMALL, 0.25, 0)
    plain = learn(METHODS[NMF], SMALL, 0.25, 0)
    assert l0.similarity[-1] >= 0.95
    assert plain.similarity[-1] < 0.8
    assert l0.atoms < 6 < plain.atoms


def test_curves_begin_at_the_same_start_and_have_a_point_a_round():
    curves = [learn(stages, SMALL, 0.25, 0) for stages in (METHODS[L0], EXTENDED[CONSTRAINED])]
    first, second = (curve.similarity for curve in curves)
    assert len(first) == len(second) == SMALL.rounds + 1
    # Until the second stage begins both do the same.
    np.testing.assert_array_equal(first[: SMALL.switch + 1], second[: SMALL.switch + 1])
    assert first[-1] != second[-1]


def test_a_sparse_dictionary_is_found_exactly_from_near_by():
    data = cn.datasets.synthetic_dictionary(40, 50, 600, 0.1, (2, 4), seed=1)
    truth = data.truth["W"]
    near = truth + 0.02 * np.random.default_rng(0).random(truth.shape)
    problem = cn.factorize(data.V, 50)
    found = {
        name: problem.solve(solver, init=cn.Given(W=near), stop=10).W
        for name, solver in {
            "free": cn.Coded(cn.coding.L0(0.02)),
            "sparse": cn.Coded(cn.coding.L0(0.02), dictionary=cn.coding.L0(0.02)),
        }.items()
    }
    assert np.count_nonzero(found["sparse"]) < np.count_nonzero(found["free"])
    similarity = {name: cn.measures.dictionary_similarity(truth, W) for name, W in found.items()}
    assert similarity["sparse"] >= max(0.99, similarity["free"] - 1e-6)


@pytest.mark.long
def test_the_quick_table_agrees():
    outcome = reproduce("ohanlon-table1")
    assert outcome.verdict == "agrees"
    assert outcome.table.set_index(["method", "density"]).loc[(L0, 0.5), "published I"] == 27


@pytest.mark.long
def test_the_full_table_agrees():
    outcome = reproduce("ohanlon-table1", quick=False)
    table = outcome.table.set_index(["method", "density"])
    assert outcome.verdict == "agrees"
    assert table.loc[(CONSTRAINED, 0.1), "P"] >= table.loc[(L0, 0.1), "P"]
