"""Dask arrays of every kind, with a cluster and without one, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import threading

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client

import conicnmf as cn
from conicnmf.strips.cluster import DaskCrew

RNG = np.random.default_rng(5)
V = RNG.random((12, 4)) @ RNG.random((4, 45)) + 0.1 * RNG.random((12, 45))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 45)) + 0.1
LAZY = da.from_array(V, chunks=(12, 7))


def test_without_a_client_a_cluster_is_started_and_closed():
    found = cn.factorize(LAZY, 4).solve("HALS", init=START, stop=6)
    whole = cn.factorize(V, 4).solve("HALS", init=START, stop=6)
    np.testing.assert_allclose(found.H, whole.H, atol=1e-10)
    with pytest.raises(ValueError, match="No clients"):
        Client.current()
    assert not [thread for thread in threading.enumerate() if "IO loop" in thread.name]


def test_a_limit_without_a_client_reads_chunk_by_chunk():
    found = cn.factorize(LAZY, 4, memory_limit="20KB").solve("HALS", init=START, stop=6)
    whole = cn.factorize(V, 4).solve("HALS", init=START, stop=6)
    assert not isinstance(found.problem.V.crew, DaskCrew)
    np.testing.assert_allclose(found.H, whole.H, atol=1e-10)


@pytest.mark.parametrize(
    "kind", ["sparse", "float32", "whole numbers", "chunked features", "persisted"]
)
def test_every_kind_of_chunk(kind, three):
    data = np.round(8 * V)
    lazy = {
        "sparse": lambda: da.from_array(data, chunks=(12, 7)).map_blocks(sp.csr_matrix),
        "float32": lambda: da.from_array(data.astype(np.float32), chunks=(12, 7)),
        "whole numbers": lambda: da.from_array(data.astype(int), chunks=(12, 7)),
        "chunked features": lambda: da.from_array(data, chunks=(5, 7)),
        "persisted": lambda: da.from_array(data, chunks=(12, 7)).persist(),
    }[kind]()
    found = cn.factorize(lazy, 4).solve("HALS", init=START, stop=5)
    whole = cn.factorize(data, 4).solve("HALS", init=START, stop=5)
    assert found.H.dtype == (np.float32 if kind == "float32" else float)
    np.testing.assert_allclose(found.H, whole.H, atol=1e-3 if kind == "float32" else 1e-10)


def test_h_that_does_not_fit_stays_at_the_workers(three):
    found = cn.factorize(LAZY, 4, memory_limit="1KB").solve("HALS", init=START, stop=5)
    whole = cn.factorize(V, 4).solve("HALS", init=START, stop=5)
    assert isinstance(found.H, da.Array)
    assert found.H.chunks[1] == LAZY.chunks[1]
    np.testing.assert_allclose(found.H.compute(), whole.H, atol=1e-10)


@pytest.mark.parametrize(
    ("lazy", "said"),
    [
        (LAZY[:, 0], "matrix of Dask"),
        (LAZY[:, LAZY[0] > 1], "compute_chunk_sizes"),
        (LAZY.astype(complex), "real numbers"),
        (da.where(LAZY > 2, np.nan, LAZY), "must be finite"),
        (LAZY.map_blocks(lambda X: X[:5], dtype=float), "must have shape"),
    ],
)
def test_what_cannot_be_done_is_said(lazy, said):
    with pytest.raises(cn.InputError, match=said):
        cn.factorize(lazy, 4)


def test_without_the_extra_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(cn.ConicNMFError, match=r"pip install 'conicnmf\[dask\]'"):
        cn.factorize(LAZY, 4)


def test_arrays_in_memory_never_load_dask():
    code = (
        "import sys, numpy as np, conicnmf as cn; cn.factorize(np.ones((3, 4)), 1).solve(stop=1); "
        "cn.factorize(np.ones((3, 4)), 1, memory_limit='1MB'); "
        "sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
