"""Codes of many samples, strip by strip."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

RNG = np.random.default_rng(0)
W = RNG.random((10, 6))
V = W @ (RNG.random((6, 57)) * (RNG.random((6, 57)) < 0.4))


@pytest.mark.parametrize("kind", ["limit", "path", "dask"])
@pytest.mark.parametrize("coder", [None, cn.coding.OMP(max_atoms=2)])
def test_codes_are_those_of_one_array(kind, coder, tmp_path):
    np.save(tmp_path / "V.npy", V)
    data = {"limit": V, "path": tmp_path / "V.npy", "dask": da.from_array(V, chunks=(10, 9))}[kind]
    found = cn.sparse_code(data, W, coder, memory_limit=None if kind == "dask" else "10KB")
    assert sp.issparse(found)
    assert found.format == "csc"
    np.testing.assert_allclose(found.toarray(), cn.sparse_code(V, W, coder), atol=1e-12)


def test_what_strips_do_not_take_is_said():
    with pytest.raises(cn.InputError, match="without init and known"):
        cn.sparse_code(V, W, known=V > 0, memory_limit="10KB")


@pytest.mark.long
def test_a_million_samples_need_little_memory(tmp_path):
    from benchmarks.scale import Peak

    path, n = tmp_path / "V.npy", 1_000_000
    stored = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(10, n))
    for first in range(0, n, 100_000):
        codes = RNG.random((6, 100_000)) * (RNG.random((6, 100_000)) < 0.2)
        stored[:, first : first + 100_000] = W @ codes
    stored.flush()
    del stored
    with Peak() as peak:
        found = cn.sparse_code(path, W, cn.coding.OMP(max_atoms=2), memory_limit="50MB")
    assert found.shape == (6, n)
    own = found.data.nbytes + found.indices.nbytes + found.indptr.nbytes
    assert peak.rise <= 5e7 + 3 * own
