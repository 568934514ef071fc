"""Certificates of results in strips: the same verdict as of one array, found where the strips are."""

from __future__ import annotations

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest
from distributed import Client

import conicnmf as cn
from tests.strips.conftest import local_cluster

RNG = np.random.default_rng(3)
V = RNG.random((10, 3)) @ RNG.random((3, 41)) + 0.1 * RNG.random((10, 41))
START = RNG.random((10, 3)) + 0.1, RNG.random((3, 41)) + 0.1
NONNEG = cn.NonNegative()
MODELS = {
    "plain": {},
    "band on W": {"W": [NONNEG, cn.Sparseness(min=0.5)]},
    "band on rows of H": {"H": [NONNEG, cn.Sparseness(min=0.5)]},
    "mask": {"loss": cn.WeightedFrobenius(RNG.random(V.shape) < 0.8)},
    "prices": {"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.1)]},
}


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster) as own:
        yield own


@pytest.mark.parametrize("model", MODELS)
def test_the_verdict_is_that_of_one_array(model, client):
    solver = "ANLS" if model == "mask" else "HALS"
    for stop, fine in ((2, False), (cn.MaxIter(500) | cn.RelDecrease(1e-7), True)):
        whole = cn.factorize(V, 3, **MODELS[model]).solve(solver, init=START, stop=stop)
        # Rows of H are many questions to a cluster, and one process asks itself the same.
        rows = model == "band on rows of H"
        data = V if rows else da.from_array(V, chunks=(10, 9))
        problem = cn.factorize(data, 3, **MODELS[model], memory_limit="20KB" if rows else None)
        found = problem.solve(solver, init=START, stop=stop).certificate()
        assert bool(found) == bool(whole.certificate()) == fine
        assert found.proves == ("stationary" if fine else "nothing")


def test_what_is_wrong_with_a_result_is_seen():
    problem = cn.factorize(V, 3, W=[NONNEG, cn.Sparseness(min=0.5)], memory_limit="20KB")
    result = problem.solve("HALS", init=START, stop=5)
    wrong = {
        "objective as reported": replace(result, objective=2 * result.objective),
        "feasible, H: NonNegative()": replace(
            result, factors=result.factors | {"H": result.H - 1.0}
        ),
        "factors that are not finite": replace(
            result,
            factors=result.factors | {"H": np.where(result.H.max() == result.H, np.nan, result.H)},
        ),
    }
    for name, spoiled in wrong.items():
        failed = [check.name for check in spoiled.certificate(problem).checks if not check.ok]
        assert name in failed


def test_other_starts_are_for_data_in_memory():
    with pytest.raises(cn.InputError, match="leave restarts and budget out"):
        cn.factorize(V, 3, memory_limit="20KB").solve(stop=1).certificate(restarts=2)
