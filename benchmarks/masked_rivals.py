"""Published methods for missing entries in plain NumPy and SciPy, as rivals.

Each is a generator that yields the factors and the objective ‖M ∘ (V − W H)‖² + λ(‖W‖² + ‖H‖²), had
from products that the method makes anyway. V is zero where nothing was observed; M and V are
dense, or sparse with the same pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.references import Iterate
from conicnmf.types import Array, Data

_TINY = 1e-12


def masked_mu(V: Data, M: Data, W: Array, H: Array, l2: float) -> Iterator[Iterate]:
    """Multiplicative updates with weights (Lee and Seung's rule for the observed entries)."""
    square = _square(V)
    while True:
        H = H * (W.T @ V) / (W.T @ _observed(M, W, H) + l2 * H + _TINY)
        pull, push = V @ H.T, _observed(M, W, H) @ H.T
        value = square + float(np.vdot(push - 2 * pull, W))
        yield W, H, value + l2 * float(np.vdot(W, W) + np.vdot(H, H))
        W = W * pull / (push + l2 * W + _TINY)


def masked_als(V: Data, M: Data, W: Array, H: Array, l2: float) -> Iterator[Iterate]:
    """Alternating ridge regressions, all samples at once, then features; what is negative is cut."""
    square = _square(V)
    VT, MT = (X.T.tocsr() if sp.issparse(X) else np.ascontiguousarray(X.T) for X in (V, M))
    while True:
        W = _ridge(V, M, H.T, l2)[0]
        B, G, C = _ridge(VT, MT, W, l2)
        H = B.T
        bent = np.vdot((G @ B[:, :, None])[:, :, 0], B)
        value = square - 2 * float(np.vdot(C, B)) + float(bent)
        yield W, H, value + l2 * float(np.vdot(W, W))


def _ridge(V: Data, M: Data, A: Array, l2: float) -> tuple[Array, Array, Array]:
    """Return the rows b of least ‖m ∘ (v − A b)‖² + λ‖b‖², cut at zero, and their systems."""
    rank = A.shape[1]
    first, second = np.triu_indices(rank)
    packed = M @ (A[:, first] * A[:, second])
    G = np.empty((len(packed), rank, rank))
    G[:, first, second] = G[:, second, first] = packed
    ridge = l2 or 1e-10 * np.trace(G, axis1=1, axis2=2).mean()
    G += ridge * np.eye(rank)
    C = V @ A
    return np.maximum(np.linalg.solve(G, C[:, :, None])[:, :, 0], 0.0), G, C


def _observed(M: Data, W: Array, H: Array) -> Any:
    """Return W H at the observed entries."""
    if not sp.issparse(M):
        return M * (W @ H)
    rows = np.repeat(np.arange(M.shape[0]), np.diff(M.indptr))
    values = np.einsum("ij,ij->i", W[rows], np.ascontiguousarray(H.T)[M.indices])
    return sp.csr_array((values, M.indices, M.indptr), shape=M.shape)


def _square(V: Data) -> float:
    values = V.data if sp.issparse(V) else V
    return float(np.vdot(values, values))
