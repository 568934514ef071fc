"""One round of l0-sparse NMF, 200×400×1600: against SciPy's NNLS and full inverses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, Setup, clock, speedup
from benchmarks.references import l0_round
from conicnmf.datasets import synthetic_dictionary
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.types import Array

PRICE = 0.02


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


def _round(V: Array, W: Array) -> tuple[Array, Array]:
    G, C = W.T @ W, W.T @ V
    H = eliminate(G, C, (V * V).sum(axis=0), nnls_gram(G, C), PRICE)
    W = nnls_gram(H @ H.T, H @ V.T).T
    return W / np.maximum(np.linalg.norm(W, axis=0), 1e-9), H
