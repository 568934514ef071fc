"""Compile all kernels before they are needed, in several processes at once."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from conicnmf import geometry
from conicnmf.geometry.first_calls import compiled_at_once
from conicnmf.kernels import (
    descent,
    elimination,
    hals,
    intersections,
    nnls,
    poisson,
    pursuit,
    residuals,
    separable,
    simplex_ls,
    stored,
)
from conicnmf.settings import Jobs, checks_arguments

Calls = list[Callable[[], object]]


@checks_arguments
def warm_up(n_jobs: Jobs = 2) -> float:
    """Compile every kernel for double precision and return the seconds it took.

    Kernels are compiled when they are first called, and kept on disk. Call this when you build a
    container image, or before you measure times; once all kernels are on disk, it does nothing.

    Parameters
    ----------
    n_jobs : int
        How many processes compile in parallel; the kernels form seven groups.

    Examples
    --------
    >>> warm_up(n_jobs=1) >= 0  # doctest: +SKIP
    True
    """
    begin = time.perf_counter()
    Parallel(n_jobs=n_jobs, batch_size=1)(delayed(_compile)(name) for name in first_calls())
    return time.perf_counter() - begin


def _compile(group: str) -> None:
    with compiled_at_once():
        for call in first_calls()[group]:
            call()


def first_calls() -> dict[str, Calls]:
    """Return calls that reach every kernel, by group; groups share little, longest first.

    Examples
    --------
    >>> list(first_calls())
    ['projections and sweeps', 'least squares', 'proximal steps', ..., 'autoencoders']
    """
    from conicnmf.families.autoencoders import (  # not needed to import the package
        FastCodes,
        standardize,
    )

    rng = np.random.default_rng(0)
    A, Y, X = rng.random((6, 4)), rng.random((6, 5)), rng.standard_normal((4, 5))
    G, C, yy, B = A.T @ A, A.T @ Y, (Y * Y).sum(axis=0), rng.random((4, 5))
    held = np.array([True, False, True, False])
    rows, parts = np.ones((64, 128)), np.ones((128, 129))[:, 1:].T
    taught = FastCodes(standardize(rng.random((6, 8))), 2, y=[0, 1] * 4)
    return {
        "projections and sweeps": [
            lambda: geometry.project_band(X, 0.5, 0.8),
            lambda: geometry.hoyer_sparseness(X),
            lambda: geometry.project_hoyer(X, 1.5, 1.0),
            lambda: geometry.project_halfspace_cone(X, X, 0.5),
            lambda: intersections.project_orthant_plane(X, X),
            lambda: intersections.project_orthant_plane_cone(X, X, 0.5),
            lambda: geometry.project_norm_ball(X),
            lambda: geometry.project_unit_norm(X),
            lambda: geometry.project_l0(X, 2),
            lambda: geometry.project_simplex(X),
            lambda: geometry.project_l1_ball(X),
            lambda: intersections.project_near(X, B, 0.5),
            lambda: hals.hals_sweeps(G, C, B, 2),
            lambda: descent.descend_held(G, C, B, X, held, 0.9),
            lambda: descent.descend_held(G, C, B, X, held, 1.0),
            lambda: descent.descend_band(G, C, B, 0.5, 0.9, 1),
            lambda: descent.descend_near(G, C, B, np.full(4, 0.1), 0.9),
        ],
        "least squares": [
            lambda: nnls.nnls_gram(G, C),
            lambda: simplex_ls.simplex_ls_gram(G, C, 1.0, B),
        ],
        "proximal steps": [
            lambda: geometry.prox_total_variation(X, 0.1),
            lambda: geometry.prox_differences(X, 0.1, 1, True),
            lambda: geometry.prox_quadratic(np.ones((1, 40)), 0.1, np.ones((40, 40)), True),
            lambda: geometry.project_isotonic(X),
            lambda: geometry.project_unimodal(X),
        ],
        "counts": [
            lambda: residuals.cut_residuals(rows, np.ones((64, 128))),
            lambda: residuals.cut_residuals(parts, np.ones((128, 128)).T),
            lambda: residuals.cut_residuals(rows, np.ones((64, 128)), m=rows),
            lambda: residuals.cut_residuals(parts, np.ones((128, 128)).T, m=parts),
            lambda: poisson.poisson_sweeps(Y, A, B, B, 1),
            lambda: poisson.poisson_sweeps(sp.csr_array(Y), A, B, B, 1),
            lambda: stored.stored_products(np.arange(4), np.arange(4), A, A),
            lambda: separable.minimize_separable(B, {0.0: B, -1.0: -B}, B, 1.0, held),
        ],
        "elimination": [lambda: elimination.eliminate(G, C, yy, B, 0.1)],
        "pursuit": [
            lambda: pursuit.nn_omp(G, C, yy, 2),
            lambda: pursuit.forward_backward(G, C, yy, 0.1, 2),
        ],
        "autoencoders": [lambda: taught.solve(stop=5, throw=False)],
    }
