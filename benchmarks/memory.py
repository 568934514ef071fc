"""Peak memory of HALS in a new process, without the imports, relative to the size of the input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks.harness import Row, Setup, fresh_process, peak_memory
from conicnmf.geometry.first_calls import compiled_at_once
from conicnmf.types import Data

_CODE = "import json; from benchmarks.memory import peak; print(json.dumps(peak({!r})))"
LIMIT = 3.0


def run(setup: Setup) -> Iterator[Row]:
    for case in ("dense 10000×2500", "sparse 200000×100000"):
        used, data = fresh_process(_CODE.format(case.split()[0]))
        yield Row(
            case,
            f"{used / 1e6:.0f} MB",
            f"{data / 1e6:.0f} MB",
            used / data,
            target=f"≤ {LIMIT:g}",
            ok=used <= LIMIT * data,
            note="peak growth over the bytes of V; for sparse data, the growth beyond two factors",
        )


def peak(kind: str) -> tuple[float, float]:
    """Return by how many bytes the peak rises, data included, and the bytes of the data.

    The factors of sparse data may be as large as the data, so one pair of them is free.
    """
    with compiled_at_once():  # loads Numba, which is an import that a small solve does without
        cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    before = peak_memory()
    rank = 20
    V, data = _dense() if kind == "dense" else _sparse()
    cn.factorize(V, rank).solve(cn.HALS(), stop=5)
    free = 0.0 if kind == "dense" else 8.0 * rank * sum(V.shape)
    return peak_memory() - before - free, data


def _dense() -> tuple[Data, float]:
    V = np.random.default_rng(0).random((10_000, 2_500))
    return V, float(V.nbytes)


def _sparse() -> tuple[Data, float]:
    """Draw rows of 50 entries; built in place, so that the data alone make the peak."""
    m, n, entries = 200_000, 100_000, 50
    rng = np.random.default_rng(0)
    columns = rng.integers(n // entries, size=(m, entries), dtype=np.int32)
    columns += np.arange(0, n, n // entries, dtype=np.int32)
    rows = np.arange(0, m * entries + 1, entries, dtype=np.int32)
    V = sp.csr_array((rng.random(m * entries), columns.ravel(), rows), shape=(m, n))
    return V, float(V.data.nbytes + V.indices.nbytes + V.indptr.nbytes)
