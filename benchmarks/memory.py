"""Peak memory of HALS beyond the imports, in a process of its own, against the size of the input."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks.harness import Row, Setup, fresh_process
from conicnmf._types import Data

_CODE = "import json; from benchmarks.memory import peak; print(json.dumps(peak({!r})))"
LIMIT = 3.0


def run(setup: Setup) -> Iterator[Row]:
    for case in ("dense 10000×2500", "sparse 200000×100000"):
        used, held = fresh_process(_CODE.format(case.split()[0]))
        yield Row(
            case,
            f"{used / 1e6:.0f} MB",
            f"{held / 1e6:.0f} MB",
            used / held,
            target=f"≤ {LIMIT:g}",
            ok=used <= LIMIT * held,
            note="peak growth over the bytes of V, with the factors where it is sparse",
        )


def peak(kind: str) -> tuple[float, float]:
    """Return by how many bytes the peak rises, data included, and the bytes of the data."""
    cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    before = _high_water()
    rank = 20
    V, held = _dense() if kind == "dense" else _sparse(rank)
    cn.factorize(V, rank).solve(cn.HALS(), stop=5)
    return _high_water() - before, held


def _dense() -> tuple[Data, float]:
    V = np.random.default_rng(0).random((10_000, 2_500))
    return V, float(V.nbytes)


def _sparse(rank: int) -> tuple[Data, float]:
    """Draw rows of 50 entries; built in place, so that the data alone make the peak."""
    m, n, entries = 200_000, 100_000, 50
    rng = np.random.default_rng(0)
    columns = rng.integers(n // entries, size=(m, entries), dtype=np.int32)
    columns += np.arange(0, n, n // entries, dtype=np.int32)
    rows = np.arange(0, m * entries + 1, entries, dtype=np.int32)
    V = sp.csr_array((rng.random(m * entries), columns.ravel(), rows), shape=(m, n))
    own = V.data.nbytes + V.indices.nbytes + V.indptr.nbytes
    return V, float(own + 8 * rank * (m + n))


def _high_water() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
