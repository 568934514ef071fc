"""Constraints in CVXPY's words state what they state in Python, and nothing else is run."""

from __future__ import annotations

import json

import cvxpy as cp
import numpy as np
import pytest
from command_line import run

import conicnmf as cn
from conicnmf.cli.data import Source
from conicnmf.cli.statement import Statement

V = np.random.default_rng(0).random((6, 8))
W, H = cp.Variable((6, 2), nonneg=True, name="W"), cp.Variable((2, 8), nonneg=True, name="H")

SAID = {
    "norm(W, 2, axis=0) >= 1": cp.norm(W, 2, axis=0) >= 1,
    "cp.norm1(W[:, 0]) <= 2 * cp.norm2(W[:, 0])": cp.norm1(W[:, 0]) <= 2 * cp.norm2(W[:, 0]),
    "cn.sparseness(W[:4].T, axis=1) == [0.2, 0.4]": cn.sparseness(W[:4], axis=0) == [0.2, 0.4],
    "sum(H, axis=0) == 1": cp.sum(H, axis=0) == 1,
    "abs(diff(H, axis=1)) <= 1/2": cp.abs(cp.diff(H, axis=1)) <= 0.5,
    "-H[0, ::2] + sqrt(H[1, 1:2]) >= -2**2": -H[0, ::2] + cp.sqrt(H[1, 1:2]) >= -4,
    "[[1, 2, 0, 0, 0, 0]] @ W <= 3": np.array([[1, 2, 0, 0, 0, 0]]) @ W <= 3,
}


@pytest.mark.parametrize("said", SAID)
def test_words_state_what_they_state_in_python(said):
    problem = Statement(rank=2, constraint=[said]).problem(Source("V", V))
    same = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [SAID[said]])
    rng = np.random.default_rng(1)
    for _ in range(3):
        factors = {"W": rng.random((6, 2)), "H": rng.random((2, 8))}
        seen, expected = problem.violations(factors), same.violations(factors)
        assert list(seen.values()) == pytest.approx(list(expected.values()), abs=1e-12)
    assert [type(term) for term in problem.W] == [type(term) for term in same.W]
    assert [type(term) for term in problem.H] == [type(term) for term in same.H]


def test_several_constraints_and_terms_are_all_met(tmp_path):
    np.save(tmp_path / "V.npy", V)
    words = ["--constraint", "norm(W, 2, axis=0) >= 1", "--constraint", "sum(H, axis=0) <= 1"]
    words += ["--term-w", "Box(0, 2)", "--max-iter", 5, "--output", tmp_path / "o", "--json"]
    told = json.loads(run("fit", tmp_path / "V.npy", "--rank", 2, *words).stdout)
    assert max(told["violation"].values()) < 1e-6
    result = cn.load(tmp_path / "o" / "result")
    assert np.linalg.norm(result.W, axis=0).min() >= 1 - 1e-6
    assert result.H.sum(axis=0).max() <= 1 + 1e-6
    assert result.W.max() <= 2 + 1e-6


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("W", "one comparison"),
        ("0 <= W <= 1", "one comparison"),
        ("W < 1", "'W < 1'"),
        ("1 <= 2", "one of W, H"),
        ("sum(W) + sum(H) <= 1", "one of W, H"),
        ("V >= W", "'V'"),
        ("norm(W, axis=7) <= 1", "axis"),
        ("W[9] <= 1", "IndexError"),
        ("W + H <= 1", "ValueError"),
        ("frobnicate(W) <= 1", "no function 'frobnicate'"),
        ("Problem(W) <= 1", "no function 'Problem'"),
        ("__import__('os').system('true') <= W", "no function"),
        ("(lambda: W)() <= 1", "no function"),
        ("W.__class__ <= 1", "'W.__class__'"),
        ("sum(W <= 1", "SyntaxError"),
        ("cumprod(W) <= 1", "curvature"),
    ],
)
def test_what_cannot_be_read_is_said_with_a_remedy(said, why):
    with pytest.raises(cn.ConicNMFError, match=r"try 'norm\(W|both sides must be") as error:
        Statement(rank=2, constraint=[said]).problem(Source("V", V))
    assert why in str(error.value)


def test_strips_are_refused_and_a_wrong_rank_is_told(tmp_path):
    np.save(tmp_path / "V.npy", V)
    words = [tmp_path / "V.npy", "--constraint", "W <= 1"]
    assert (
        "in strips" in run("explain", *words, "--rank", 2, "--memory-limit", "1MB", code=2).stderr
    )
    assert "whole number >= 1" in run("explain", *words, "--rank", 0, code=2).stderr


def test_effort_reaches_the_race():
    words = ("fit", "bars", "--samples", 30, "--rank", 2, "--sparse-w", 0.5, "--no-certificate")
    low, normal = (
        json.loads(run(*words, "--max-iter", 3, *more, "--json").stdout)["solver"]
        for more in ((), ("--effort", "normal"))
    )
    assert low != normal
    assert "low" in run(*words, "--effort", "much", code=2).stderr
