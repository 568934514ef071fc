"""The factorization as one function, as scikit-learn has it besides the class."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from conicnmf.estimators.custom_start import given_components
from conicnmf.estimators.nmf import NMF
from conicnmf.estimators.scikit_form import BetaLoss, Init, Rank
from conicnmf.estimators.valid import RandomState, WrongKindError
from conicnmf.settings import Count, Share, Weight, checked
from conicnmf.solve.methods.base import SolverLike
from conicnmf.types import Array


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: Rank = "auto",
    *,
    init: Init = None,
    update_H: bool = True,
    solver: Literal["cd", "mu"] | SolverLike | None = "cd",
    beta_loss: BetaLoss = "frobenius",
    tol: Weight = 1e-4,
    max_iter: Count = 200,
    alpha_W: Weight = 0.0,
    alpha_H: Weight | Literal["same"] = "same",
    l1_ratio: Share = 0.0,
    random_state: RandomState = None,
    verbose: int = 0,
    shuffle: bool = False,
) -> tuple[Array, Array, int]:
    """Return codes W, components H and the number of iterations; see `NMF`.

    Parameters
    ----------
    X : array or sparse matrix of shape (samples, features)
        NaN marks a missing entry.
    W, H : array, optional
        Codes and components to start from, with `init="custom"`.
    n_components, init, solver, beta_loss, tol, max_iter : optional
        As of `NMF`, and so are the others.
    alpha_W, alpha_H, l1_ratio, random_state, verbose, shuffle : optional
        As of `NMF`.
    update_H : bool
        False keeps the components at H and finds the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.estimators import non_negative_factorization
    >>> X = np.outer([1.0, 2.0], [3.0, 4.0, 5.0])
    >>> W, H, n_iter = non_negative_factorization(X, n_components=1)
    >>> bool(np.allclose(W @ H, X))
    True
    """
    model = NMF(
        n_components,
        init=init,
        solver=solver,
        beta_loss=beta_loss,
        tol=tol,
        max_iter=max_iter,
        random_state=random_state,
        alpha_W=alpha_W,
        alpha_H=alpha_H,
        l1_ratio=l1_ratio,
        verbose=verbose,
        shuffle=shuffle,
    )
    if checked(bool, update_H, "non_negative_factorization", "update_H"):
        codes = model.fit_transform(X, W=W, H=H)
        return codes, model.components_, model.n_iter_
    return _codes_only(model, X, W, H)


def _codes_only(model: NMF, X: Any, W: Any, H: Any) -> tuple[Array, Array, int]:
    """Return the codes of samples by components that are given."""
    if W is not None:
        warnings.warn(
            "When update_H=False, the provided initial W is not used.", RuntimeWarning, stacklevel=3
        )
    V, observed = model._data(X, reset=True)
    rank = model.n_components
    components = given_components(V, rank if isinstance(rank, int) else None, H)
    if components.dtype != V.dtype:
        raise WrongKindError(
            f"H should have the same dtype as X, {V.dtype}, got {components.dtype}; use "
            "H.astype(X.dtype)"
        )
    codes = model._held_at(components, V, observed)
    return np.ascontiguousarray(codes.T), components, 1
