from __future__ import annotations

import numpy as np
import pytest
from fakes import make_comparison, make_result

import conicnmf as cn


@pytest.fixture
def comparison():
    """Two solvers, two problems, two seeds: fast reaches 2, slow 2.2; one pair does not fit."""
    results = {}
    for problem in ("plain", "sparse"):
        for seed in (0, 1):
            fast = make_result([8.0, 4.0, 2.0 + seed / 100], solver="HALS()")
            results[problem, "HALS", seed] = fast
            slow = make_result(
                [8.0, 6.0, 4.0, 2.2], seconds=[0, 0.5, 1, 2], solver="TangentPlane()"
            )
            results[problem, "TangentPlane", seed] = slow
    return make_comparison(results, [("sparse", "Multiplicative", "W must be a < b | c")])


@pytest.fixture
def measured():
    """A comparison as the package itself makes it."""
    V = np.random.default_rng(0).random((12, 9))
    problems = {
        "plain": cn.factorize(V, 3),
        "sparse": cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)]),
    }
    return cn.compare(problems, [cn.HALS(), cn.Multiplicative()], seeds=[0, 1], stop=10)
