"""A round of l0-sparse NMF against SciPy's NNLS with full inverses, and pursuit against SPAMS."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, Setup, clock, speedup
from benchmarks.references import l0_round
from conicnmf.datasets import Dataset, synthetic_dictionary
from conicnmf.families.coding import OMP
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.types import Array

try:
    import spams  # type: ignore[import-untyped]
except ImportError:
    spams = None

PRICE = 0.02
MOST, ERROR = 15, 0.05
"""The atoms of a code, and the share of ‖v‖² at which a pursuit stops."""


def run(setup: Setup) -> Iterator[Row]:
    sizes = (100, 200, 800) if setup.quick else (200, 400, 1600)
    V = synthetic_dictionary(*sizes).V
    W = synthetic_dictionary(*sizes, seed=1).truth["W"]
    sides = {"ours": lambda _: _round(V, W), "theirs": lambda _: l0_round(V, W, PRICE)}
    runs = setup.race(sides, warm=("ours",))
    errors = [np.linalg.norm(V - B @ H) for B, H in (runs[name].values[-1] for name in sides)]
    kept = [int((runs[name].values[-1][1] > 0).sum()) for name in sides]
    note = f"entries kept {kept[0]} and {kept[1]}, errors {errors[0]:.5g} and {errors[1]:.5g}"
    note += f"; first call {clock(runs['ours'].first)}"
    case = "×".join(map(str, sizes))
    yield speedup(case, runs["ours"], runs["theirs"], 20.0, note)
    pursued = ((64, 256, 5000), (200, 400, 800), (361, 400, 2000))
    for m, r, n in pursued[1:2] if setup.quick else pursued:
        yield _pursuit(f"pursuit, {m}×{r}×{n}", synthetic_dictionary(m, r, n, seed=2), setup)


def _pursuit(case: str, data: Dataset, setup: Setup) -> Row:
    """Code samples of norm one in the true dictionary; SPAMS may take negative coefficients."""
    if spams is None:
        return Row(case, note="skipped: pip install spams-bin to compare with SPAMS")
    D = np.asfortranarray(data.truth["W"])
    X = np.asfortranarray(data.V / np.linalg.norm(data.V, axis=0))
    sides = {
        "ours": lambda _: OMP(MOST, ERROR).code(D.T @ D, (X.T @ D).T, (X * X).sum(axis=0)),
        "theirs": lambda _: spams.omp(X, D, eps=ERROR, L=MOST, numThreads=1),
    }
    runs = setup.race(sides, warm=("ours",))
    kept = [(runs[name].values[-1] != 0).sum() / X.shape[1] for name in sides]
    note = f"atoms a sample {kept[0]:.2f} and {kept[1]:.2f}, ours are non-negative"
    return speedup(case, runs["ours"], runs["theirs"], 1 / 1.5, note)


def _round(V: Array, W: Array) -> tuple[Array, Array]:
    G, C = W.T @ W, W.T @ V
    H = eliminate(G, C, (V * V).sum(axis=0), nnls_gram(G, C), PRICE)
    W = nnls_gram(H @ H.T, H @ V.T).T
    return W / np.maximum(np.linalg.norm(W, axis=0), 1e-9), H
