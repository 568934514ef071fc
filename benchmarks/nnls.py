"""Non-negative least squares for many columns, against SciPy in a loop and SPAMS' lasso with λ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, Setup, clock, dataset, guarded, relative_gap, speedup
from benchmarks.references import nnls_columns
from conicnmf.datasets import synthetic_dictionary
from conicnmf.kernels.nnls import kkt_residual, nnls_gram
from conicnmf.types import Array

try:
    import spams  # type: ignore[import-untyped]
except ImportError:
    spams = None


def run(setup: Setup) -> Iterator[Row]:
    yield from guarded("256×20×7000", _digits(setup))
    # The work grows with the supports, so both ends are shown: atoms that did not make the data,
    # as in the first round of dictionary learning, and true atoms with an offset to be fitted.
    made, other = synthetic_dictionary(n=800), synthetic_dictionary(n=800, seed=1)
    offset = 0.01 * np.random.default_rng(0).random(made.V.shape)
    yield from _rows("200×400×800, other atoms", other.truth["W"], made.V, 30.0, setup)
    yield from _rows("200×400×800, offset", made.truth["W"], made.V + offset, 30.0, setup)


def _digits(setup: Setup) -> Iterator[Row]:
    """Take 20 of the digits as atoms for the others."""
    V = np.asarray(dataset("usps"))
    yield from _rows("256×20×7000", V[:, :20], V[:, 20:7020], 12.0, setup)


def _rows(case: str, A: Array, Y: Array, target: float, setup: Setup) -> Iterator[Row]:
    G, C = A.T @ A, A.T @ Y
    rivals = {"scipy": lambda _: nnls_columns(A, Y)}
    if spams is not None:
        A_f, Y_f = np.asfortranarray(A), np.asfortranarray(Y)
        rivals["spams"] = lambda _: spams.lasso(
            Y_f, D=A_f, lambda1=0.0, mode=2, pos=True, numThreads=1
        )
    sides = {"ours": lambda _: nnls_gram(A.T @ A, A.T @ Y)} | rivals
    runs = setup.race(sides, warm=("ours", *list(rivals)[1:]))
    B = runs["ours"].values[-1]
    exact = kkt_residual(G, C, B)
    support = (B > 0).sum(axis=0).mean()
    for name in rivals:
        X = runs[name].values[-1]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        gap = relative_gap([float(np.sum((Y - A @ Z) ** 2)) for Z in (B, X)])
        note = f"{support:.0f} active, KKT {exact:.0e}, objectives within {gap:.0e}"
        note += f"; first call {clock(runs['ours'].first)}"
        at_least = target if name == "scipy" else 1.5
        yield speedup(f"{case}, {name}", runs["ours"], runs[name], at_least, note, exact <= 1e-10)
    if spams is None:
        yield Row(f"{case}, spams", note="skipped: pip install spams-bin to compare with SPAMS")
