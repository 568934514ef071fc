"""tensorly's constrained parafac and matcouply on a matrix: time to where they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import conicnmf as cn
from benchmarks.goals import Ours, iterations_to
from benchmarks.harness import Row, Runs, Setup, SkippedError, speedup
from conicnmf.types import Array

ITERATIONS = 30

Factors = tuple[Array, Array]
Fit = Callable[[Array, Factors, int], Factors]


def _load(name: str) -> Any:
    """Return a module of a peer, or skip the case."""
    package = name.partition(".")[0]
    if find_spec(package) is None:
        raise SkippedError(f"{package} is not installed; pip install conicnmf[benchmark]")
    return import_module(name)


def _tensorly(**constraint: Any) -> Fit:
    def fit(V: Array, start: Factors, iterations: int) -> Factors:
        module = _load("tensorly.decomposition")
        cp_tensor = _load("tensorly.cp_tensor").CPTensor
        begin = cp_tensor((np.ones(len(start[1])), [start[0].copy(), start[1].T.copy()]))
        weights, (W, HT) = module.constrained_parafac(
            V,
            len(start[1]),
            n_iter_max=iterations,
            init=begin,
            tol_outer=0,
            non_negative={1: True},
            **constraint,
        )
        return W * weights, HT.T

    return fit


def _matcouply(V: Array, start: Factors, iterations: int) -> Factors:
    module = _load("matcouply.decomposition")
    rank = len(start[1])
    # A single matrix: the weights of the components are one, and stay.
    begin = (None, (np.ones((1, rank)), [start[0].copy()], start[1].T.copy()))
    _, (_, (W,), HT) = module.cmf_aoadmm(
        [V],
        rank,
        init=begin,
        n_iter_max=iterations,
        tol=0,
        absolute_tol=0,
        update_A=False,
        non_negative={1: True, 2: True},
        unimodal={1: True},
    )
    return W, HT.T


PEERS: dict[str, tuple[Any, Fit]] = {
    "monotone, tensorly": (cn.Monotone(), _tensorly(monotonicity={0: True})),
    "unimodal, tensorly": (cn.Unimodal(), _tensorly(unimodality={0: True})),
    "unimodal, matcouply": (cn.Unimodal(), _matcouply),
}
"""A constraint on W in addition to W, H ≥ 0, and the fit of a peer."""


def rows(case: str, peer: tuple[Any, Fit], drawn: Any, setup: Setup) -> Iterator[Row]:
    """Time both to where the peer's iterations end, by the squared error of its factors."""
    constraint, fit = peer
    iterations = ITERATIONS // 3 if setup.quick else ITERATIONS
    nonneg = cn.NonNegative()
    problem = cn.factorize(drawn.V, len(drawn.start[1]), W=[nonneg, constraint], H=[nonneg])
    begin = setup.timer()
    W, H = fit(drawn.V, drawn.start, iterations)
    took = setup.timer() - begin
    goal = float(np.sum((drawn.V - W @ H) ** 2))
    ours = Ours(problem, drawn.start)
    ours.run(2)  # compiles
    path = ours.path(setup.budget(1 + took))
    needed = iterations_to(path, goal)
    beyond = constraint.violation(np.ascontiguousarray(W.T)).max()
    outside = max(float(beyond), float(-min(W.min(), H.min())), 0.0)
    note = f"{iterations} iterations of theirs, which violate by {outside:.0e}"
    if needed is None:
        note += f"; ours ended {path[-1][1] / goal - 1:.2%} above"
        yield Row(case, ratio=0.0, target="≥ 1", ok=False, note=note)
        return
    mine = Runs()
    for _ in range(1 if setup.quick else 3):
        begin = setup.timer()
        ours.run(needed)
        mine.seconds.append(setup.timer() - begin)
    theirs = Runs([took] * len(mine.seconds))
    yield speedup(
        case, mine, theirs, 1.0, f"{note}; {needed} of ours, at last {path[-1][1] / goal - 1:+.1%}"
    )
