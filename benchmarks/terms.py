"""Structured factors, 200×500, r = 10 and 2000², r = 20, against the cone path, tensorly, matcouply.

A term acts on W ≥ 0; H ≥ 0 has a small price on its squares, so that penalties on W mean something.
Constants of the solvers were chosen on draws of seeds 77 to 79; these rows draw others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks import peers
from benchmarks.cone_path import ConePath, Squares
from benchmarks.cone_race import STATIONARY, ConeRace, stationarity
from benchmarks.harness import Row, Setup, SkippedError, guarded
from conicnmf.types import Array

DRAWS, GROUP, SHARE = (2021, 2022, 2023), 10, 0.01
LONGEST = 60.0
"""Seconds in which a solve of the large size ends."""
RIVAL = 10.0, 30.0
"""Seconds after which the cone path is left where it is, at the small and the large size."""

Stated = tuple[Any, Sequence[cp.Constraint]]


@dataclass(frozen=True, eq=False)
class Case:
    """A term for so many features and a weight, and the same in CVXPY where the rival can solve it."""

    term: Callable[[int, float], cn.extend.Term]
    stated: Callable[[cp.Variable, float], Stated] | None = None
    note: str = ""
    survives: tuple[int, int, int] | None = None
    """The largest size at which a cone program fits into memory, where 200×500 does not."""


def path_graph(m: int) -> Any:
    """Return the Laplacian of a path with a few chords."""
    first = np.concatenate([np.arange(m - 1), np.arange(m - 7)])
    second = np.concatenate([np.arange(1, m), np.arange(7, m)])
    A = sp.coo_array((np.ones(first.size), (first, second)), shape=(m, m))
    A = sp.csr_array(A + A.T)
    return sp.csr_array(sp.diags_array(A.sum(axis=0)) - A)


def incidence(L: Any) -> Any:
    """Return D with DᵀD = L, a row for each edge of a graph with equal weights."""
    edges = sp.coo_array(sp.triu(L, 1))
    rows = np.tile(np.arange(edges.nnz), 2)
    ends = np.concatenate([edges.row, edges.col])
    signs = np.repeat([1.0, -1.0], edges.nnz)
    return sp.csr_array((signs, (rows, ends)), shape=(edges.nnz, L.shape[0]))


def _groups(W: cp.Variable) -> cp.Expression:
    parts = [W[k : k + GROUP] for k in range(0, W.shape[0], GROUP)]
    return cp.sum(cp.hstack([cp.norm(part, 2, axis=0) for part in parts]))


CASES = {
    "total variation": Case(
        lambda _, c: cn.TotalVariation(c),
        lambda W, c: (c * cp.sum(cp.abs(cp.diff(W, axis=0))), []),
    ),
    "smooth": Case(
        lambda _, c: cn.Smooth(c), lambda W, c: (c * cp.sum_squares(cp.diff(W, axis=0)), [])
    ),
    "monotone": Case(lambda _, __: cn.Monotone(), lambda W, _: (0, [cp.diff(W, axis=0) >= 0])),
    "unimodal": Case(
        lambda _, __: cn.Unimodal(), note="not convex, which the cone path cannot state"
    ),
    "groups": Case(
        lambda m, c: cn.GroupLasso(c, np.arange(m) // GROUP), lambda W, c: (c * _groups(W), [])
    ),
    "l2,1": Case(
        lambda _, c: cn.L21(c, each="sample"), lambda W, c: (c * cp.mixed_norm(W, 2, 1), [])
    ),
    "graph": Case(
        lambda m, c: cn.GraphLaplacian(c, path_graph(m)),
        lambda W, c: (c * cp.sum_squares(incidence(path_graph(W.shape[0])) @ W), []),
    ),
    "nuclear": Case(
        lambda _, c: cn.Nuclear(c),
        lambda W, c: (c * cp.normNuc(W), []),
        note="a cone program of large matrices takes more than 20 GB, so there is no certificate",
        survives=(40, 100, 5),
    ),
    "whole sum": Case(
        lambda m, _: cn.FactorSum(float(m)), lambda W, _: (0, [cp.sum(W) == float(W.shape[0])])
    ),
}


@dataclass(frozen=True, eq=False)
class Draw:
    """Noisy peaks, a start, and the weights of the term and of the squares of H."""

    V: Array
    start: tuple[Array, Array]

    @property
    def weight(self) -> float:
        """A hundredth of the data's square, a feature."""
        return SHARE * float(np.vdot(self.V, self.V)) / len(self.V) / 10

    @property
    def price(self) -> float:
        """The same a sample."""
        return SHARE * float(np.vdot(self.V, self.V)) / self.V.shape[1]

    def problem(self, case: Case) -> cn.Problem:
        """Return the problem from terms."""
        term = case.term(len(self.V), self.weight)
        nonneg = cn.NonNegative()
        rank = len(self.start[1])
        return cn.factorize(self.V, rank, W=[nonneg, term], H=[nonneg, cn.L2(self.price)])

    def cone(self, case: Case) -> ConePath:
        """Return the same for the cone path."""
        assert case.stated is not None
        W, H = (cp.Variable(X.shape, nonneg=True) for X in self.start)
        penalty, constraints = case.stated(W, self.weight)
        rest = penalty + self.price * cp.sum_squares(H)
        return ConePath([W, H], [Squares(self.V, [(W, H)])], rest, constraints)


def draw(m: int, n: int, rank: int, seed: int) -> Draw:
    """Draw smooth peaks in W and sparse H, with a tenth of noise."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, m)[:, None]
    W = np.exp(-0.5 * ((x - rng.random(rank)) / (0.03 + 0.1 * rng.random(rank))) ** 2)
    H = rng.random((rank, n)) * (rng.random((rank, n)) < 0.6)
    V = W @ H
    V = np.maximum(V + 0.1 * V.mean() * rng.standard_normal(V.shape), 0.0)
    size = np.sqrt(4 * V.mean() / rank)
    return Draw(V, (size * rng.random((m, rank)), size * rng.random((rank, n))))


def run(setup: Setup) -> Iterator[Row]:
    seeds = DRAWS[: 1 if setup.quick else None]
    for name, case in CASES.items():
        m, n, rank = case.survives or (200, 500, 10)
        drawn = [draw(m, n, rank, seed) for seed in seeds]
        yield from _guarded(f"{name}, {m}×{n}", case, drawn, 40.0, setup)
    large = draw(2000, 2000, 20, DRAWS[0])
    for name, case in CASES.items():
        yield from _guarded(f"{name}, 2000²", case, [large], 30.0, setup)
    for name, peer in peers.PEERS.items():
        yield from guarded(name, peers.rows(name, peer, draw(200, 500, 10, DRAWS[0]), setup))


def _guarded(name: str, *given: Any) -> Iterator[Row]:
    yield from guarded(name, (against_cone(name, *given) for _ in range(1)))


def against_cone(name: str, case: Case, drawn: Sequence[Draw], target: float, setup: Setup) -> Row:
    """Return the row of the middle ratio over the draws."""
    too_large = case.survives is not None and len(drawn[0].V) > case.survives[0]
    if case.stated is None or too_large:
        return _alone(name, case, drawn[0], setup, certify=not too_large)
    longest = RIVAL[len(drawn[0].V) > 200]
    rows = []
    for one in drawn:
        sides = one.problem(case), one.start, one.cone(case)
        try:
            race = ConeRace(name, *sides, setup, longest, again=False)
        except SkippedError as reason:  # such as a program that does not fit into memory
            return _alone(name, replace(case, note=str(reason)), one, setup, certify=True)
        rows.append(race.row(target, converge=True))
    rows.sort(key=lambda row: row.ratio)
    middle = rows[len(rows) // 2]
    note = f"{middle.note}; least of {len(rows)}: {rows[0].ratio:.3g}" if rows[1:] else middle.note
    return replace(middle, note=note)


def _alone(name: str, case: Case, one: Draw, setup: Setup, certify: bool) -> Row:
    """Return how ours ends where the rival cannot be asked; its own status where nothing else can."""
    begin = setup.timer()
    result = one.problem(case).solve(init=one.start, throw=False)
    took, note = setup.timer() - begin, f"{case.note}; {result.status.name}"
    ok = took <= LONGEST and (certify or result.status.kind == "converged")
    if certify:
        gain = stationarity(result)
        ok, note = ok and gain <= STATIONARY, f"{note}, stationary to {gain:.0e}"
    return Row(name, f"{took:.3g} s", ratio=np.nan, target=f"≤ {LONGEST:g} s", ok=ok, note=note)
