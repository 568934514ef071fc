"""Cells of the table against other packages: what is marked runs, what is not is refused."""

import inspect
import re
import warnings
from pathlib import Path

import cvxpy as cp
import dccp
import matcouply.penalties
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition as sk
import tensorly as tl
from matcouply.decomposition import cmf_aoadmm
from tensorly.decomposition import constrained_parafac, non_negative_parafac

import conicnmf as cn

PAGE = (Path(__file__).parents[2] / "docs/comparison.md").read_text(encoding="utf-8")
PAGE = PAGE.replace("\u00ad", "")  # where words may be split
RNG = np.random.default_rng(0)
V = RNG.random((8, 2)) @ RNG.random((2, 9)) + 0.1
MASK = (RNG.random(V.shape) < 0.8).astype(float)
NONNEG = cn.NonNegative()


def cells(package):
    """Return the column of a package by the names of the rows."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    column = rows[0].index(package)
    return {row[0]: row[column] for row in rows[2:]}


def names(function):
    return set(inspect.signature(function).parameters)


def test_every_row_has_a_cell_for_every_package():
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in lines} == {12}
    empty = [line for line in lines[2:] if "**" not in line and re.search(r"\| +\|", line)]
    assert empty == []


OURS = {
    "counts (Kullback–Leibler)": {"loss": "kl"},
    "robust (Huber or L1)": {"loss": "huber"},
    "missing entries": {"loss": cn.WeightedFrobenius(MASK)},
    "L1, L2": {"W": [NONNEG, cn.L1(0.01)], "H": [NONNEG, cn.L2(0.01)]},
    "number of non-zeros": {"W": [NONNEG, cn.Cardinality(4)]},
    "columns that sum to one": {"H": [cn.Simplex(each="sample")]},
    "smooth, total variation": {
        "W": [NONNEG, cn.Smooth(0.1)],
        "H": [NONNEG, cn.TotalVariation(0.1)],
    },
    "monotone, unimodal": {"W": [NONNEG, cn.Monotone()], "H": [NONNEG, cn.Unimodal()]},
    "known entries": {"W": [NONNEG, cn.Fixed(np.eye(8, 2, dtype=bool), np.eye(8, 2))]},
}


@pytest.mark.parametrize("row", OURS)
def test_what_is_marked_as_ours_is_solved(row):
    assert cells("conicnmf")[row] == "✓"
    result = cn.factorize(V, 2, **OURS[row]).solve(stop=5, seed=0)
    assert result.max_violation < 1e-6


def test_scikit_learn():
    column = cells("scikit-learn")
    with pytest.raises(ValueError, match="NaN"):
        sk.NMF(2).fit(np.where(MASK == 1, V, np.nan))
    assert column["missing entries"] == "–"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sk.NMF(2, solver="mu", beta_loss="kullback-leibler", max_iter=5).fit(sp.csr_array(V))
    assert column["counts (Kullback–Leibler)"] == column["sparse data stay sparse"] == "✓"
    assert {"alpha_W", "l1_ratio", "beta_loss"} <= names(sk.NMF)
    assert not names(sk.NMF) & {"mask", "simplex", "sparseness", "smoothness", "graph"}
    assert "update_H" in names(sk.non_negative_factorization)
    assert hasattr(sk.MiniBatchNMF, "partial_fit")
    assert (column["known entries"], column["larger than memory"]) == (
        "whole factor",
        "mini-batches",
    )


@pytest.mark.parametrize(
    "options",
    [
        {"simplex": {0: 1.0}},
        {"monotonicity": {0: True}},
        {"unimodality": {0: True}},
        {"smoothness": {0: 0.1}},
        {"hard_sparsity": {0: 4}},
        {"l1_reg": {0: 0.01}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_tensorly_takes_constraints(options):
    constrained_parafac(tl.tensor(V), 2, n_iter_max=3, init="random", random_state=0, **options)


def test_tensorly_takes_masks_without_these_constraints():
    assert "mask" not in names(constrained_parafac)
    found = non_negative_parafac(
        tl.tensor(V), 2, mask=tl.tensor(MASK), n_iter_max=20, init="random", random_state=0
    )
    assert np.isfinite(tl.cp_to_tensor(found)).all()
    assert cells("tensorly")["missing entries"] == "no constraints"
    assert "fixed_modes" in names(constrained_parafac)


def test_matcouply():
    column, penalties = cells("matcouply"), matcouply.penalties
    smooth, unit = penalties.TemporalSmoothnessPenalty(0.1), penalties.UnitSimplex()
    options = {"n_iter_max": 1, "random_state": 0}
    cmf_aoadmm([V], 2, non_negative=True, mask=[MASK], **options)
    cmf_aoadmm([V, V[:5]], 2, unimodal=[False, True, False], **options)
    cmf_aoadmm([V], 2, regs=[[], [smooth], [unit]], **options)
    assert {"tv_penalty", "generalized_l2_penalty", "update_A", "l1_penalty"} <= names(cmf_aoadmm)
    assert inspect.isclass(penalties.ADMMPenalty)
    for row in ("missing entries", "coupled matrices", "columns that sum to one", "graph"):
        assert column[row] == "✓"
    assert column["your own convex constraint"] == "own class"


def test_dccp_takes_one_factor():
    W, H = cp.Variable((8, 2), nonneg=True), cp.Variable((2, 9), nonneg=True)
    bound = cp.norm1(W[:, 0]) <= 1.5 * cp.norm2(W[:, 0])
    given = cp.Problem(cp.Minimize(cp.sum_squares(V - W @ np.ones((2, 9)))), [bound])
    assert dccp.is_dccp(given)
    assert not dccp.is_dccp(cp.Problem(cp.Minimize(cp.sum_squares(V - W @ H))))
    assert cells("dccp")["bounds on sparseness"] == "one factor"
