"""Codes of exact sparseness: an ordinary factorization, and its inference for new samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.autoencoders.inputs import as_filters, sample_squares
from conicnmf.families.autoencoders.row_constraint import RowConstraint
from conicnmf.model.constraints import NonNegative, Sparseness, UnitNorm
from conicnmf.model.factorize import factorize
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Constraint
from conicnmf.settings import Count, Positive, Share, Whole, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_data, as_numbers

_FINITE = "leave these samples out"
_ROUNDING = 1e-6
"""Means of norms in single precision are so far off."""


@checks_arguments
def exact_codes(
    V: Any,
    rank: Count,
    sparseness_w: Share | None = None,
    sparseness_h: Share | None = None,
    nonneg: bool = True,
) -> Problem:
    """State ‖V − W H‖² with exact sparseness of W's columns, H's rows or both; rows of H have norm one.

    `ProjectedGradient` solves it, which is Hoyer's NMFSC.

    Parameters
    ----------
    V : array of shape (d, M)
    rank : int
    sparseness_w, sparseness_h : float or None
        Exact Hoyer sparseness; None leaves it free.
    nonneg : bool
        W ≥ 0 and H ≥ 0, or both signed.

    Examples
    --------
    >>> import conicnmf as cn
    >>> V = np.random.default_rng(0).random((16, 60))
    >>> result = exact_codes(V, 4, sparseness_h=0.5).solve(cn.ProjectedGradient(), stop=20)
    >>> cn.sparseness(result.H, axis=1).round(6)
    array([0.5, 0.5, 0.5, 0.5])
    """
    orthant: list[Constraint] = [NonNegative()] if nonneg else []
    W, H = (
        orthant + ([] if s is None else [Sparseness(s, s)]) for s in (sparseness_w, sparseness_h)
    )
    return factorize(V, rank, W=W, H=[*H, UnitNorm()])


def code_norms(H: Any) -> tuple[float, float]:
    """Return the mean l₁ and l₂ norm of the codes (columns).

    Examples
    --------
    >>> code_norms(np.array([[3.0, 0.0], [4.0, 1.0]]))
    (4.0, 3.0)
    """
    codes = as_data(as_numbers(H, "H"), "H", _FINITE)
    return float(np.abs(codes).sum(axis=0).mean()), float(np.linalg.norm(codes, axis=0).mean())


@checks_arguments
def infer_exact(
    X: Any,
    W: Any,
    l1: Positive,
    l2: Positive,
    nonneg: bool = True,
    max_iter: Whole = 200,
) -> Array:
    """Return codes with ‖h‖₁ = l1 and ‖h‖₂ = l2 that reconstruct samples (columns) well.

    Each step moves a code by the inverse of the largest curvature and projects it exactly, so that
    no error ever rises; it ends when none falls by more than 10⁻⁴ of the sample's square.

    Parameters
    ----------
    X : array or sparse matrix of shape (d, M)
    W : array of shape (d, n)
    l1, l2 : float
        Norms of every code, such as the `code_norms` of the training codes.
    nonneg : bool
        Whether codes are non-negative.
    max_iter : int

    Examples
    --------
    >>> infer_exact(np.array([[2.0], [1.0]]), np.eye(2), 1.4, 1.0).round(6)
    array([[0.8],
           [0.6]])
    """
    X, W = (as_data(own, name, _FINITE) for own, name in zip(as_filters(X, W), "XW", strict=True))
    ratio, widest = l1 / l2, float(np.sqrt(W.shape[1]))
    if not 1 - _ROUNDING <= ratio <= widest * (1 + _ROUNDING):
        raise InputError(
            f"norms of codes need l2 <= l1 <= {widest:.4g} l2 with {W.shape[1]} filters, got "
            f"l1={l1:g}, l2={l2:g}; see code_norms"
        )
    shape = RowConstraint(min(max(ratio, 1.0), widest), l2, not nonneg)
    G, C = W.T @ W, np.ascontiguousarray((W.T @ X).T)
    step = 1 / (2 * float(np.linalg.norm(G, 2)) or 1.0)
    H = shape.project(C)
    size = np.maximum(sample_squares(X), np.finfo(C.dtype).tiny)
    before = np.full(len(C), np.inf)
    for _ in range(max_iter):
        GH = H @ G
        error = np.einsum("ij,ij->i", GH - 2 * C, H)
        if np.all(before - error <= 1e-4 * size):
            break
        before = error
        H = shape.advance(H, H, 2 * (GH - C), 0.0, step)
    return H.T
