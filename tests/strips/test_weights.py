"""Weights and masks of data in strips."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client

import conicnmf as cn
from tests.strips.conftest import local_cluster

RNG = np.random.default_rng(3)
V = RNG.random((12, 4)) @ RNG.random((4, 57)) + 0.1 * RNG.random((12, 57))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 57)) + 0.1
SEEN = RNG.random(V.shape) < 0.7
SEEN[:, :8] = False  # a whole strip without any entry
LAZY = da.from_array(V, chunks=(12, 7))

WEIGHTS = {
    "mask": SEEN,
    "weights": RNG.random(V.shape),
    "of features": RNG.random((12, 1)),
    "of samples": RNG.random((1, 57)),
    "sparse": sp.csr_array(SEEN.astype(float)),
}


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster) as own:
        yield own


def lazy(weights):
    """Return weights as a Dask array with chunks of its own."""
    return da.from_array(np.asarray(weights), chunks=(5, 10))


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("loss", [cn.WeightedFrobenius, cn.KullbackLeibler])
def test_weights_of_every_kind(kind, loss, client):
    solver = "Multiplicative" if loss is cn.KullbackLeibler else "ANLS"  # the same for all of them
    whole = cn.factorize(V, 4, loss=loss(weights=WEIGHTS[kind])).solve(solver, init=START, stop=5)
    stated = [
        cn.factorize(V, 4, loss=loss(weights=WEIGHTS[kind]), memory_limit="20KB"),
        cn.factorize(LAZY, 4, loss=loss(weights=WEIGHTS[kind])),
    ]
    if kind != "sparse":
        stated.append(cn.factorize(LAZY, 4, loss=loss(weights=lazy(WEIGHTS[kind]))))
    for problem in stated:
        found = problem.solve(solver, init=START, stop=5)
        np.testing.assert_allclose(found.W, whole.W, atol=1e-8)
        np.testing.assert_allclose(found.H, whole.H, atol=1e-8)
        assert found.relative_error == pytest.approx(whole.relative_error, rel=1e-9)


def test_a_random_start_does_not_look_at_missing_entries():
    spoiled = np.where(SEEN, V, 1e6)
    loss = cn.WeightedFrobenius(SEEN)
    one, other = (
        cn.factorize(X, 4, loss=loss, memory_limit="20KB").solve("Multiplicative", stop=3)
        for X in (V, spoiled)
    )
    assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_lazy_weights_of_data_in_memory_are_refused():
    with pytest.raises(cn.InputError, match="in memory"):
        cn.factorize(V, 4, loss=cn.WeightedFrobenius(lazy(SEEN)))
