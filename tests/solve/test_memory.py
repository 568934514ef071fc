"""Memory is linear in what the data store: sparse data are never made dense, whatever the loss."""

import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

PLUS = cn.NonNegative()
M, N, ENTRIES, RANK = 4000, 3000, 30_000, 3


def sparse_counts(m=M, n=N, entries=ENTRIES):
    rng = np.random.default_rng(4)
    rows = np.concatenate([np.arange(m), rng.integers(m, size=entries - m)])
    columns = np.concatenate([np.arange(n), rng.integers(n, size=entries - n)])
    return sp.csr_array((1.0 + rng.poisson(2.0, entries), (rows, columns)), shape=(m, n))


def peak(work):
    """Return what a call returns, and by how many bytes memory rose meanwhile."""
    tracemalloc.start()
    try:
        found = work()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


V = sparse_counts()
SEEN = sp.csr_array((np.ones(V.nnz), V.indices, V.indptr), shape=V.shape)
STATED = {
    "kl": {"loss": "kl"},
    "kl and sums": {"loss": "kl", "H": [PLUS, cn.L1(0.1)]},
    "kl and a band": {"loss": "kl", "W": [PLUS, cn.Sparseness(min=0.7)]},
    "kl and shares": {"loss": "kl", "H": [cn.Simplex(each="sample")]},
    "kl and a user's own": {"loss": "kl", "W": [PLUS, cn.Convex(lambda W: cp.sum(W) <= 1e5)]},
    "kl of what was seen": {"loss": cn.KullbackLeibler(weights=SEEN)},
    "squares": {},
    "squares of what was seen": {"loss": cn.WeightedFrobenius(SEEN)},
    "huber": {"loss": cn.Huber(1.0, weights=SEEN)},
}


def refusing(method):
    """Return a method of sparse matrices that raises for one with the shape of the data."""

    def checked(self, *given, **named):
        if self.shape in (V.shape, V.shape[::-1]):
            raise AssertionError("sparse data were made dense")
        return method(self, *given, **named)

    return checked


@pytest.mark.parametrize("name", STATED)
def test_sparse_data_are_never_made_dense(name, monkeypatch):
    problem = cn.factorize(V, RANK, **STATED[name])
    problem.solve(init="random", stop=1)  # compiling takes memory, too
    for kind in (sp.csr_array, sp.csc_array):
        monkeypatch.setattr(kind, "toarray", refusing(kind.toarray))
        monkeypatch.setattr(kind, "todense", refusing(kind.todense))
    result, used = peak(lambda: problem.solve(init="random", stop=2, seed=0))
    assert np.isfinite(result.objective)
    assert used < 8 * M * N / 4


@pytest.mark.parametrize("loss", ["kl", "is", "huber", "absolute", "frobenius"])
def test_memory_grows_as_the_data_do(loss):
    def used(n):
        X = np.random.default_rng(1).random((200, n)) + 0.1
        solve = cn.factorize(X, RANK, loss=loss).solve
        return peak(lambda: solve(init="random", stop=3))[1] / X.nbytes

    used(100)  # what a first call imports
    assert used(4000) < 1.2 * max(used(1000), 1.0)


def test_hals_holds_two_points_of_two_iterates_and_little_more():
    X = sparse_counts(20_000, 12_000, 100_000)
    pair = 8 * 10 * sum(X.shape)
    problem = cn.factorize(X, 10)
    problem.solve(cn.HALS(), stop=1)  # what is kept for a second solve, or imported
    _, rise = peak(lambda: problem.solve(cn.HALS(), stop=4))
    assert rise <= X.data.nbytes + 4.8 * pair


def test_iterates_that_a_callback_keeps_do_not_change_later():
    seen, copies = [], []

    def keep(_, factors):
        seen.append(dict(factors))
        copies.append({name: X.copy() for name, X in factors.items()})

    for X in (V, V.toarray()[:, :200]):
        cn.factorize(X, RANK).solve(cn.HALS(), stop=6, callback=keep, seed=0)
    assert len(seen) > 10
    for kept, copy in zip(seen, copies, strict=True):
        for name, own in copy.items():
            np.testing.assert_array_equal(kept[name], own)
