"""l0-sparse coding by backward elimination from a non-negative least-squares solution.

On a support Γ with A = (G_ΓΓ)⁻¹ and x̂ = A c_Γ, leaving out the atoms S raises the squared residual
by Δ_S = x̂_Sᵀ (A_SS)⁻¹ x̂_S, for one atom x̂ₖ²/Aₖₖ. The cheapest is dropped as long as that lowers

    ‖y − A b‖₂ + λ‖b‖₀    or, squared,    ‖y − A b‖₂² + λ²‖b‖₀,

and A and x̂ are down-dated instead of computed afresh.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf.errors import InputError
from conicnmf.geometry.compilers import inlined, inner, jit
from conicnmf.kernels._active import CLOSED, FREE, Work, workspace
from conicnmf.kernels._columns import per_column, scale_columns
from conicnmf.kernels._factor import Places, invert, push, solve
from conicnmf.kernels.nnls import solve_open
from conicnmf.kernels.threads import over_columns
from conicnmf.types import Array


@inner
def _price(A: Array, s: Array, first: int, last: int, M: Array, u: Array) -> float:
    """Return Δ of dropping the places first…last together, eliminated one after another."""
    size = last - first
    for a in range(size):
        u[a] = s[first + a]
        for b in range(size):
            M[a, b] = A[first + a, first + b]
    price = 0.0
    for a in range(size):
        price += u[a] * u[a] / M[a, a]
        for b in range(a + 1, size):
            ratio = M[b, a] / M[a, a]
            u[b] -= ratio * u[a]
            for d in range(a + 1, size):
                M[b, d] -= ratio * M[a, d]
    return price


@inner
def _cheapest(
    A: Array, s: Array, labels: Places, k: int, M: Array, u: Array
) -> tuple[float, int, int]:
    """Return the smallest Δ and the places first…last of its label; the first among equals."""
    best, start, stop = np.inf, 0, 0
    first: Any = np.int64(0)
    while first < k:
        last = first + 1
        while last < k and labels[last] == labels[first]:
            last += 1
        if last == first + 1:
            price = s[first] * s[first] / A[first, first]
        else:
            price = _price(A, s, first, last, M, u)
        if price < best:
            best, start, stop = price, first, last
        first = last
    return best, start, stop


@inner
def _drop(A: Array, s: Array, labels: Places, atoms: Places, k: int, q: int, row: Array) -> None:
    """Down-date A, s and the lists for the loss of place q; what follows it moves up by one."""
    value = s[q] / A[q, q]
    for t in range(k):
        row[t] = A[q, t]
    for i in range(k):
        if i == q:
            continue
        ratio = row[i] / row[q]
        to = i if i < q else i - 1
        s[to] = s[i] - row[i] * value
        labels[to], atoms[to] = labels[i], atoms[i]
        for t in range(q):
            A[to, t] = A[i, t] - ratio * row[t]
        for t in range(q + 1, k):
            A[to, t - 1] = A[i, t] - ratio * row[t]


@inlined
def _eliminate_column(
    G: Array,
    c: Array,
    yy: float,
    x: Array,
    limit: float,
    squared: bool,
    groups: Places,
    order: Places,
    work: Work,
    A: Array,
    M: Array,
    noise: float,
) -> None:
    """Set the entries of the support x to zero whose atoms are dropped."""
    U, z, atoms, v, s, _ = work
    labels = np.empty(c.size, np.int64)
    k: Any = np.int64(0)
    rest = yy
    for j in order:
        inside, x[j] = x[j] > 0, 0.0
        # An atom that depends on those before it goes at no cost.
        if inside and push(U, z, atoms, k, G, c, j, v, noise) > noise:
            labels[k] = groups[j]
            rest -= z[k] * z[k]
            k += 1
    solve(U, z, k, s)
    invert(U, k, M, A)
    rest = max(0.0, rest)
    while k > 0:
        price, first, last = _cheapest(A, s, labels, k, M, v)
        rise = price
        if not squared and price > 0:
            # √(rest + price) − √rest without its cancellation
            rise = price / (np.sqrt(rest + price) + np.sqrt(rest))
        if not rise < limit:
            break
        rest += price
        for q in range(last - 1, first - 1, -1):
            _drop(A, s, labels, atoms, k, q, v)
            k -= 1
    for i in range(k):
        x[atoms[i]] = 1.0


@jit
def _eliminate_range(
    G: Array,
    C: Array,
    yy: Array,
    X: Array,
    limits: Array,
    squared: bool,
    groups: Places,
    order: Places,
    first: int,
    last: int,
    noise: float,
) -> None:
    r = G.shape[1]
    work = workspace(r)
    A, M = np.empty((r, r)), np.empty((r, r))
    for n in range(first, last):
        own = G[0 if len(G) == 1 else n]
        _eliminate_column(
            own, C[n], yy[n], X[n], limits[n], squared, groups, order, work, A, M, noise
        )


def eliminate(
    G: ArrayLike,
    C: ArrayLike,
    yy: ArrayLike,
    B: ArrayLike,
    lam: float,
    squared: bool = False,
    groups: ArrayLike | None = None,
) -> Array:
    """Return a sparser B: per column, atoms are dropped while the l0 cost falls.

    Parameters
    ----------
    G : array of shape (r, r) or (n, r, r)
        AᵀA, or one such matrix for each column.
    C : array of shape (r, n)
        AᵀY.
    yy : array of shape (n,)
        ‖y‖² of every column of Y.
    B : array of shape (r, n)
        The start, as a rule from `nnls_gram`; only its support (entries > 0) is used.
    lam : float
        λ: the cost of an atom in the units of ‖y‖. 0 drops nothing.
    squared : bool
        Drop while the squared residual rises by less than λ²; otherwise while its root rises by
        less than λ.
    groups : array of r integers, optional
        The atoms of one label are dropped together or not at all, at one price λ for the group.

    Returns
    -------
    array of shape (r, n)
        On the kept support the non-negative least-squares solution, elsewhere zero. Prices are
        those of plain least squares, so a kept atom may still come out as zero.

    Examples
    --------
    >>> C = np.array([[3.0], [0.1]])
    >>> eliminate(np.eye(2), C, (C * C).sum(axis=0), C, lam=0.2)
    array([[3.],
           [0.]])
    """
    block = scale_columns(G, C)
    squares = per_column("yy", yy, block)
    n, r = block.C.shape
    start = np.asarray(B)
    if start.shape != (r, n):
        raise InputError(f"B must have the shape of C, {(r, n)}, got {start.shape}")
    if not lam >= 0:
        raise InputError(f"lam is the cost of an atom and must be >= 0, got {lam}")
    labels = _labels(groups, r)
    X = np.ascontiguousarray(start.T > 0).astype(np.float64)
    if lam > 0:
        prices = lam / np.where(block.sizes > 0, block.sizes, 1.0)
        limits = prices**2 if squared else prices
        order = np.argsort(labels, kind="stable")

        def run(first: int, last: int) -> None:
            _eliminate_range(
                *(block.G, block.C, squares, X, limits, bool(squared)),
                *(labels, order, first, last, block.noise),
            )

        over_columns(run, n, work=0.1 * float((X.sum(axis=1) ** 3).sum()))
    solve_open(block, X, np.where(X > 0, FREE, CLOSED).astype(np.int8))
    return block.restore(X)


def _labels(groups: ArrayLike | None, r: int) -> NDArray[np.int64]:
    """Return one label per atom: its group, or itself."""
    if groups is None:
        return np.arange(r)
    labels = np.asarray(groups)
    if labels.shape != (r,) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"groups must hold one integer label per atom ({r}), "
            f"got {labels.dtype} of shape {labels.shape}"
        )
    return labels.astype(np.int64)
