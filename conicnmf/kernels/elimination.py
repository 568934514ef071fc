"""l0-sparse coding by backward elimination from a non-negative least-squares solution.

On a support Γ with A = (G_ΓΓ)⁻¹ and x̂ = A c_Γ, leaving out the atoms S raises the squared residual
by Δ_S = x̂_Sᵀ (A_SS)⁻¹ x̂_S, for one atom x̂ₖ²/Aₖₖ. The cheapest is dropped as long as that lowers

    ‖y − A b‖₂ + λ‖b‖₀    or, squared,    ‖y − A b‖₂² + λ²‖b‖₀,

and A and x̂ are down-dated instead of computed afresh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conicnmf._types import Array
from conicnmf.errors import InputError
from conicnmf.kernels._active import State, Work, solve_column, workspace
from conicnmf.kernels._columns import over_columns, per_column, scale_columns
from conicnmf.kernels._factor import Places, invert, push, solve
from conicnmf.kernels._jit import jit


@jit
def _independent(G: Array, c: Array, x: Array, work: Work, eps: float) -> tuple[int, float]:
    """Factor the support of x without the atoms that depend on others: these go at no cost.

    Returns the size of the factor and the squared norm of its fit, and solves for s.
    """
    U, z, atoms, v, s, _ = work
    k = 0
    for j in range(c.size):
        if x[j] > 0 and push(U, z, atoms, k, G, c, j, v, eps) > 16 * eps * (k + 4):
            k += 1
    solve(U, z, k, s)
    explained = 0.0
    for i in range(k):
        explained += z[i] * z[i]
    return k, explained


@jit
def _price(A: Array, s: Array, members: Places, size: int, M: Array, u: Array) -> float:
    """Return Δ of dropping the listed places together: they are eliminated one after another."""
    for a in range(size):
        u[a] = s[members[a]]
        for b in range(size):
            M[a, b] = A[members[a], members[b]]
    price = 0.0
    for a in range(size):
        price += u[a] * u[a] / M[a, a]
        for b in range(a + 1, size):
            ratio = M[b, a] / M[a, a]
            u[b] -= ratio * u[a]
            for d in range(a + 1, size):
                M[b, d] -= ratio * M[a, d]
    return price


@jit
def _cheapest_group(
    A: Array, s: Array, atoms: Places, k: int, labels: Places, members: Places, M: Array, u: Array
) -> tuple[float, int]:
    """Return the smallest Δ and its label; between equals the smaller label goes."""
    best, chosen = np.inf, -1
    for i in range(k):
        label = labels[atoms[i]]
        size = 0
        for other in range(k):
            if labels[atoms[other]] == label:
                members[size] = other
                size += 1
        if members[0] != i:
            continue  # this group has been priced at its first member
        price = _price(A, s, members, size, M, u)
        if price < best or (price == best and label < chosen):
            best, chosen = price, label
    return best, chosen


@jit
def _cheapest_atom(A: Array, s: Array, atoms: Places, k: int) -> tuple[float, int]:
    """Return the smallest Δ and its atom; between equals the smaller index goes."""
    best, chosen = np.inf, -1
    for i in range(k):
        price = s[i] * s[i] / A[i, i]
        if price < best or (price == best and atoms[i] < chosen):
            best, chosen = price, atoms[i]
    return best, chosen


@jit
def _drop(A: Array, s: Array, atoms: Places, k: int, q: int) -> None:
    """Down-date A and s for the loss of place q, which the last place then fills."""
    pivot, value = A[q, q], s[q]
    last = k - 1
    for i in range(k):
        A[i, q], A[i, last] = A[i, last], A[i, q]
    for t in range(k):
        A[q, t], A[last, t] = A[last, t], A[q, t]
    s[q], atoms[q] = s[last], atoms[last]
    for i in range(last):
        ratio = A[last, i] / pivot
        s[i] -= ratio * value
        for t in range(last):
            A[i, t] -= ratio * A[last, t]


@jit
def _eliminate_column(
    G: Array,
    c: Array,
    yy: float,
    x: Array,
    limit: float,
    squared: bool,
    labels: Places,
    work: Work,
    A: Array,
    M: Array,
    eps: float,
) -> int:
    """Leave the kept atoms at the front of the work list and return their number."""
    U, _, atoms, v, s, _ = work
    members = np.empty(c.size if labels.size else 0, np.int64)
    k: int
    k, explained = _independent(G, c, x, work, eps)
    invert(U, k, M, A)
    rest = max(0.0, yy - explained)
    while k > 0:
        if labels.size:
            price, chosen = _cheapest_group(A, s, atoms, k, labels, members, M, v)
        else:
            price, chosen = _cheapest_atom(A, s, atoms, k)
        rise = price
        if not squared and price > 0:
            # √(rest + price) − √rest without its cancellation
            rise = price / (np.sqrt(rest + price) + np.sqrt(rest))
        if not rise < limit:
            break
        rest += price
        for i in range(k - 1, -1, -1):
            if (labels[atoms[i]] if labels.size else atoms[i]) == chosen:
                _drop(A, s, atoms, k, i)
                k -= 1
    return k


@jit
def _solve_kept(G: Array, c: Array, x: Array, k: int, work: Work, state: State, eps: float) -> None:
    """Overwrite x by the non-negative least-squares solution on the first k atoms listed."""
    kept = work[2][:k].copy()
    block, pull, part = np.empty((k, k)), np.empty(k), np.ones(k)
    for i in range(k):
        pull[i] = c[kept[i]]
        for t in range(k):
            block[i, t] = G[kept[i], kept[t]]
    solve_column(block, pull, part, work, state, eps, 3 * k + 30)
    x[:] = 0.0
    for i in range(k):
        x[kept[i]] = part[i]


@jit
def _eliminate_range(
    G: Array,
    C: Array,
    yy: Array,
    X: Array,
    limits: Array,
    squared: bool,
    labels: Places,
    first: int,
    last: int,
    eps: float,
) -> None:
    r = G.shape[0]
    work = workspace(r)
    state = np.empty(r, np.int8)
    A, M = np.empty((r, r)), np.empty((r, r))
    for n in range(first, last):
        c, x, limit = C[n], X[n], limits[n]
        k = 0
        if limit > 0:
            k = _eliminate_column(G, c, yy[n], x, limit, squared, labels, work, A, M, eps)
        else:
            for j in range(r):
                if x[j] > 0:
                    work[2][k] = j
                    k += 1
        _solve_kept(G, c, x, k, work, state, eps)


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
    G : array of shape (r, r)
        AᵀA.
    C : array of shape (r, n)
        AᵀY.
    yy : array of shape (n,)
        ‖y‖² of every column of Y.
    B : array of shape (r, n)
        The start, as a rule from `nnls_gram`; only its support (entries > 0) is used.
    lam : float
        λ: the price of an atom in the units of ‖y‖. 0 drops nothing.
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
        raise InputError(f"lam is the price of an atom and must be >= 0, got {lam}")
    labels = _labels(groups, r)
    X = np.ascontiguousarray(start.T > 0).astype(np.float64)
    prices = lam / np.where(block.sizes > 0, block.sizes, 1.0)
    limits = prices**2 if squared else prices

    def run(first: int, last: int) -> None:
        _eliminate_range(
            block.G, block.C, squares, X, limits, squared, labels, first, last, block.eps
        )

    over_columns(run, n, work=0.1 * float((X.sum(axis=1) ** 3).sum()))
    return block.restore(X)


def _labels(groups: ArrayLike | None, r: int) -> NDArray[np.int64]:
    """Return one label per atom, or none at all when every atom stands alone."""
    if groups is None:
        return np.empty(0, np.int64)
    labels = np.asarray(groups)
    if labels.shape != (r,) or not np.issubdtype(labels.dtype, np.integer):
        raise InputError(
            f"groups must hold one integer label per atom ({r}), "
            f"got {labels.dtype} of shape {labels.shape}"
        )
    return labels.astype(np.int64)
