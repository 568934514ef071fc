"""Missing entries, r = 20, against the cone path, weighted multiplicative updates and clipped ALS.

Constants of the solvers were chosen on draws of seeds 77 and 78; these rows draw others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks.cone_masks import MaskedConePath, MaskedSquares
from benchmarks.cone_race import ConeRace
from benchmarks.goals import Ours, Reference, race_to
from benchmarks.harness import Row, Setup, clock, guarded
from benchmarks.masked_rivals import masked_als, masked_mu
from conicnmf.types import Array, Data

RANK, BEST_RIVAL, ABOVE = 20, 3.0, 0.01
GROWTH = 1.2
"""How much faster than the number of observed entries time may grow."""


@dataclass(frozen=True, eq=False)
class Draw:
    """Data, what of them is observed, a start, and the weight of squared norms."""

    V: Data
    M: Data
    start: tuple[Array, Array]
    l2: float

    @property
    def problem(self) -> cn.Problem:
        """The problem as a user states it."""
        terms: list[Any] = [cn.NonNegative(), *([cn.L2(self.l2)] if self.l2 else [])]
        return cn.factorize(self.V, RANK, W=terms, H=terms, loss=cn.WeightedFrobenius(self.M))

    @property
    def cone(self) -> MaskedConePath:
        """The same for the cone path."""
        W = cp.Variable(self.start[0].shape, nonneg=True, name="W")
        H = cp.Variable(self.start[1].shape, nonneg=True, name="H")
        rest = self.l2 * (cp.sum_squares(W) + cp.sum_squares(H)) if self.l2 else 0
        return MaskedConePath([W, H], [MaskedSquares(self.V, [(W, H)], M=self.M)], rest)


def dense(m: int, n: int, density: float, rng: np.random.Generator) -> Draw:
    """Draw a noisy product of sparse factors, of which a part is observed."""
    W, H = (rng.random(s) * (rng.random(s) < 0.6) for s in ((m, RANK), (RANK, n)))
    V = W @ H
    V = np.maximum(V + 0.1 * V.mean() * rng.standard_normal(V.shape), 0.0)
    M = (rng.random(V.shape) < density).astype(float)
    return Draw(M * V, M, _start(V.mean(), (m, n), rng), 0.0)


def ratings(m: int, n: int, density: float, rng: np.random.Generator) -> Draw:
    """Draw a few entries of a noisy product of five components."""
    W, H = rng.gamma(1.0, 1.0, (m, 5)), rng.gamma(1.0, 1.0, (5, n))
    M = sp.random_array((m, n), density=density, format="csr", rng=rng)
    M.data[:] = 1.0
    rows = np.repeat(np.arange(m), np.diff(M.indptr))
    v = np.einsum("ij,ij->i", W[rows], H.T[M.indices])
    v = np.maximum(v + 0.1 * v.mean() * rng.standard_normal(v.size), 0.01)
    V = sp.csr_array((v, M.indices, M.indptr), shape=M.shape)
    return Draw(V, M, _start(v.mean(), (m, n), rng), 1.0)


def _start(mean: float, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Array, Array]:
    size = np.sqrt(4 * mean / RANK)
    return size * rng.random((shape[0], RANK)), size * rng.random((RANK, shape[1]))


def run(setup: Setup) -> Iterator[Row]:
    some = dense(2000, 2000, 0.7, np.random.default_rng(2001))
    few = ratings(5000, 2000, 0.01, np.random.default_rng(2002))
    for case, draw, target in (("2000², 70 %", some, 25.0), ("5000×2000, 1 %, L2", few, 80.0)):
        yield from rivals(case, draw, setup)
        name = f"{case}, cone path"
        yield from guarded(name, against_cone(name, draw, target, setup))
    yield growth(setup)


def against_cone(name: str, draw: Draw, target: float, setup: Setup) -> Iterator[Row]:
    """Race to where the cone path ends."""
    yield ConeRace(name, draw.problem, draw.start, draw.cone, setup).row(target)


def rivals(case: str, draw: Draw, setup: Setup, seconds: float = 10.0) -> Iterator[Row]:
    """Race to 1 % above the best that any of them finds."""
    ours = Ours(draw.problem, draw.start)
    ours.run(2)  # compiles
    our_path = ours.path(setup.budget(seconds))
    given = draw.V, draw.M, *draw.start, draw.l2
    others = {
        "weighted mu": Reference(lambda: masked_mu(*given)),
        "clipped ALS": Reference(lambda: masked_als(*given)),
    }
    paths = {name: method.path(setup.budget(seconds)) for name, method in others.items()}
    best = min(path[-1][1] for path in (our_path, *paths.values()))
    for name, method in others.items():
        sides = (ours, our_path), (method, paths[name])
        yield race_to((1 + ABOVE) * best, f"{case}, {name}", *sides, setup, BEST_RIVAL)


def growth(setup: Setup) -> Row:
    """Compare an iteration on ten times as many observed entries."""
    sides = {}
    for density in (0.01, 0.1):
        draw = ratings(5000, 2000, density, np.random.default_rng(2003))
        sides[density] = Ours(draw.problem, draw.start).run
    runs = setup.race(
        {str(density): lambda _, run=run: run(10) for density, run in sides.items()},
        warm=("0.01",),
    )
    less, more = (runs[str(density)].median / 10 for density in sides)
    ratio = more / less
    return Row(
        "10 % observed against 1 %, an iteration",
        clock(more),
        clock(less),
        ratio,
        target=f"≤ {10 * GROWTH:g}",
        ok=ratio <= 10 * GROWTH,
        note="at most in proportion to the observed entries",
    )
