"""First calls of all kernels in a fresh process: with an empty cache, and with a full one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
from numba.core.dispatcher import Dispatcher

from benchmarks.harness import Row, Setup, clock, fresh_process
from conicnmf import kernels

_CODE = """
import json, time
from benchmarks.compile import first_calls
print(json.dumps(first_calls(time.{})))
"""


def run(setup: Setup) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        for case, limit in (("empty cache", 20.0), ("full cache", 1.0)):
            code = _CODE.format(setup.timer.__name__)
            seconds, missed = fresh_process(code, NUMBA_CACHE_DIR=folder)
            # Out of the cache come outer kernels alone, with the inner ones inside.
            missed = missed if case == "empty cache" else []
            note = f"not called: {', '.join(missed)}" if missed else ""
            ok = seconds <= limit and not missed
            yield Row(case, clock(seconds), target=f"≤ {limit:g} s", ok=ok, note=note)


def first_calls(timer: Callable[[], float]) -> tuple[float, list[str]]:
    """Return how much longer first calls take than second ones, and the kernels left out."""
    calls = _calls()
    times = []
    for _ in range(2):
        begin = timer()
        for call in calls:
            call()
        times.append(timer() - begin)
    modules = [
        import_module(f"{kernels.__name__}.{m.name}") for m in iter_modules(kernels.__path__)
    ]
    found = [value for module in modules for value in vars(module).values()]
    idle = {
        kernel.py_func.__name__
        for kernel in found
        if isinstance(kernel, Dispatcher)
        and not kernel.signatures
        and kernel.targetoptions.get("inline") != "always"  # these are compiled in their callers
    }
    return times[0] - times[1], sorted(idle)


def _calls() -> list[Callable[[], object]]:
    from conicnmf.autoencoders import FastCodes, standardize
    from conicnmf.kernels import descent, elimination, hals, nnls, projections, pursuit

    rng = np.random.default_rng(0)
    A, Y, X = rng.random((6, 4)), rng.random((6, 5)), rng.standard_normal((4, 5))
    G, C, yy, B = A.T @ A, A.T @ Y, (Y * Y).sum(axis=0), rng.random((4, 5))
    held = np.array([True, False, True, False])
    taught = FastCodes(standardize(rng.random((6, 8))), 2, y=[0, 1] * 4)
    return [
        lambda: projections.project_band(X, 0.5, 0.8),
        lambda: projections.hoyer_sparseness(X),
        lambda: projections.project_hoyer(X, 1.5, 1.0),
        lambda: projections.project_halfspace_cone(X, X, 0.5),
        lambda: projections.project_orthant_plane(X, X),
        lambda: projections.project_orthant_plane_cone(X, X, 0.5),
        lambda: projections.project_norm_ball(X),
        lambda: projections.project_unit_norm(X),
        lambda: projections.project_l0(X, 2),
        lambda: projections.project_simplex(X),
        lambda: projections.project_l1_ball(X),
        lambda: projections.project_near(X, B, 0.5),
        lambda: hals.hals_sweeps(G, C, B, 2),
        lambda: nnls.nnls_gram(G, C),
        lambda: descent.descend_held(G, C, B, X, held, 0.9),
        lambda: descent.descend_near(G, C, B, np.full(4, 0.1), 0.9),
        lambda: elimination.eliminate(G, C, yy, B, 0.1),
        lambda: pursuit.nn_omp(G, C, yy, 2),
        lambda: pursuit.forward_backward(G, C, yy, 0.1, 2),
        lambda: taught.solve(stop=5, throw=False),
    ]
