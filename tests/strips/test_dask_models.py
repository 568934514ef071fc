"""Kinds of models: whatever the number of workers, the answer is that of one process."""

from __future__ import annotations

import cvxpy as cp
import dask.array as da
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.large import large_problem
from conicnmf.strips import LocalCrew
from conicnmf.strips.readers import SlicedReader

RNG = np.random.default_rng(5)
V = RNG.random((12, 4)) @ RNG.random((4, 45)) + 0.1 * RNG.random((12, 45))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 45)) + 0.1
LAZY = da.from_array(V, chunks=(12, 7))
NONNEG = cn.NonNegative()
SUMS = cn.Convex(lambda B: [cp.sum(B, axis=0) <= 3.0])

MODELS = {
    "plain": ({}, None),
    "band on W": ({"W": [NONNEG, cn.Sparseness(min=0.6)]}, "HALS"),
    "reverse-convex on W": ({"W": [NONNEG, cn.Sparseness(min=0.6)]}, "TangentPlane"),
    "band on rows of H": ({"H": [NONNEG, cn.Sparseness(min=0.5)]}, "HALS"),
    "simplex of each sample": ({"H": [NONNEG, cn.Simplex(each="sample")]}, None),
    "mask": ({"loss": cn.WeightedFrobenius(RNG.random(V.shape) < 0.7)}, "ANLS"),
    "counts": ({"loss": "kl"}, "Multiplicative"),
    "fixed entries of W": ({"W": [NONNEG, cn.Fixed(RNG.random((12, 4)) < 0.3, 0.5)]}, None),
    "user's convex set of W": ({"W": [NONNEG, SUMS]}, None),
    "L1 and unit norm": ({"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.1)]}, "HALS"),
}


MEMORY, STRIPS = {}, {}


def in_memory(model):
    """Solve in memory, once for all numbers of workers."""
    if model not in MEMORY:
        stated, solver = MODELS[model]
        MEMORY[model] = cn.factorize(V, 4, **stated).solve(solver, init=START, stop=6)
    return MEMORY[model]


def in_strips(model):
    """Solve strip by strip in this process."""
    if model not in STRIPS:
        stated, solver = MODELS[model]
        terms = [stated.get(name) for name in ("loss", "W", "H")]
        problem = large_problem(LocalCrew(SlicedReader(V, 7)), 4, *terms)
        STRIPS[model] = problem.solve(solver, init=START, stop=6)
    return STRIPS[model]


@pytest.mark.parametrize("model", MODELS)
def test_workers_give_the_answer_of_one_process(model, workers):
    stated, solver = MODELS[model]
    found = cn.factorize(LAZY, 4, **stated).solve(solver, init=START, stop=6)
    wanted, strips = in_memory(model), in_strips(model)
    assert found.problem.V.crew.reader.count == 7
    assert found.status is wanted.status
    for name in ("W", "H"):
        np.testing.assert_allclose(found[name], strips[name], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.history.objective, wanted.history.objective, rtol=1e-8)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"H": [NONNEG, cn.Monotone()]}, "links samples"),
        ({"loss": cn.WeightedFrobenius(V[:, 1:])}, "must have the shape of V"),
        ({"loss": cn.WeightedFrobenius(-LAZY)}, "finite and non-negative"),
    ],
)
def test_models_that_strips_cannot_do_are_refused_with_the_reason(given, said):
    with pytest.raises(cn.InputError, match=said):
        cn.factorize(LAZY, 4, **given)
