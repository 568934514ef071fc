"""The claims of O'Hanlon and Plumbley (2013), on small dictionaries and, marked long, in full."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import conicnmf as cn
from experiments import reproduce
from experiments.ohanlon_table1 import (
    ALIKE,
    CONSTRAINED,
    DENSITIES,
    L0,
    METHODS,
    NMF,
    NORMAL,
    PRINTED,
    PUBLISHED,
    Case,
    Size,
    _judged,
    learn,
)

SMALL = Size(60, 90, 900, (2, 4), rounds=14, switch=10)


def test_l0_codes_recover_what_least_squares_do_not():
    l0 = learn(Case(L0, SMALL, ALIKE), 0.25, 0)
    plain = learn(Case(NMF, SMALL, ALIKE), 0.25, 0)
    assert l0.similarity[-1] >= 0.95
    assert plain.similarity[-1] < 0.8
    assert l0.atoms < 6 < plain.atoms


def test_curves_begin_at_the_same_start_and_have_a_point_a_round():
    curves = [learn(Case(name, SMALL), 0.25, 0) for name in (L0, CONSTRAINED)]
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


def printed_table(**changes):
    """Return the published table as if it had been measured, with some cells changed."""
    cells = {
        (name, density): PUBLISHED[name][density][0] for name in METHODS for density in DENSITIES
    }
    cells |= {("T-NNLS, 0.02", d): 0.5 for d in DENSITIES} | {
        ("l1², λ = 0.02", d): 0.97 for d in DENSITIES
    }
    cells |= changes.get("cells", {})
    rows = [
        {
            "dictionary, samples": str(PRINTED),
            "start": NORMAL,
            "method": name,
            "density": density,
            "published P": PUBLISHED.get(name, {}).get(density, (np.nan, np.nan))[0],
            "P": value,
        }
        for (name, density), value in cells.items()
    ]
    return pd.DataFrame(rows)


def test_the_verdict_tests_every_published_sentence():
    verdict, reason = _judged(printed_table(), str(PRINTED))
    assert verdict == "agrees"
    assert (
        reason
        == "18 of 18 cells of the table end within 0.03 of print; 9 of 9 published sentences hold."
    )
    verdict, reason = _judged(printed_table(cells={(NMF, 0.1): 0.96}), str(PRINTED))
    assert verdict == "partly"
    assert "17 of 18 cells" in reason
    assert "NMF recovers none" in reason


@pytest.mark.long
def test_the_quick_table_has_l0_succeed_and_nmf_fail():
    outcome = reproduce("ohanlon-table1")
    table = outcome.table[outcome.table["start"] == NORMAL].set_index(["method", "density"])
    assert (table.loc[L0, "P"] >= 0.95).all()
    assert (table.loc[NMF, "P"] < 0.95).all()
    assert table.loc[(L0, 0.5), "published I"] == 27


@pytest.mark.long
def test_most_cells_of_the_full_table_are_as_printed():
    outcome = reproduce("ohanlon-table1", quick=False)
    cells = outcome.table
    main = cells[(cells["dictionary, samples"] == str(PRINTED)) & (cells["start"] == NORMAL)]
    gaps = (main["P"] - main["published P"]).abs()
    assert (gaps <= 0.03).sum() >= 14
