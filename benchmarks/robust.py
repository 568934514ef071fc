"""Huber's loss and absolute values, 200×500, r = 10, 5 % outliers, against the cone path and IRLS.

The order of the solvers was chosen on a draw of seed 7; these rows draw another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn
from benchmarks.cone_path import ConePath
from benchmarks.cone_race import ConeRace
from benchmarks.goals import Method, Ours, Reference, race_to
from benchmarks.harness import Row, Setup
from benchmarks.masked_rivals import masked_als, masked_mu
from benchmarks.references import Iterate
from conicnmf.types import Array

SHAPE, RANK, ABOVE = (200, 500), 10, 0.01
CONE, IRLS = 100.0, 2.0
LONGEST = 60.0
"""Seconds after which the cone path is left where it is, with fewer iterations than 25."""
Weigh = Callable[[Array], Array]


def draw(rng: np.random.Generator) -> tuple[Array, tuple[Array, Array]]:
    """Draw a noisy product of sparse factors, gross outliers in it, and a start."""
    (m, n), shapes = SHAPE, ((SHAPE[0], RANK), (RANK, SHAPE[1]))
    W, H = (rng.random(shape) * (rng.random(shape) < 0.6) for shape in shapes)
    V = W @ H
    V = np.maximum(V + 0.05 * V.mean() * rng.standard_normal((m, n)), 0.0)
    outside = rng.random((m, n)) < 0.05
    V[outside] += rng.uniform(5, 10, int(outside.sum())) * V.mean()
    size = np.sqrt(4 * V.mean() / RANK)
    return V, (size * rng.random(shapes[0]), size * rng.random(shapes[1]))


def irls(
    method: Callable[..., Iterator[Iterate]], V: Array, start: Any, weigh: Weigh, cost: Any
) -> Iterator[Iterate]:
    """Weigh squares by the residuals, and make two steps of a method for weighted squares."""
    W, H = start
    while True:
        M = weigh(np.abs(V - W @ H))
        W, H, _ = next(islice(method(M * V, M, W, H, 0.0), 1, None))
        yield W, H, cost(V, W, H)


def run(setup: Setup) -> Iterator[Row]:
    V, start = draw(np.random.default_rng(3001))
    delta = 0.1 * float(V.mean())
    least = 1e-3 * delta
    huber, weigh = cn.Huber(delta), lambda r: delta / np.maximum(r, delta)
    yield from _rows("Huber", V, start, huber, weigh, lambda R: cp.huber(R, delta), setup)
    absolute, weigh = cn.Absolute(), lambda r: 0.5 / np.maximum(r, least)
    yield from _rows("L1", V, start, absolute, weigh, cp.abs, setup)


def _rows(
    case: str,
    V: Array,
    start: tuple[Array, Array],
    loss: cn.Huber | cn.Absolute,
    weigh: Weigh,
    atom: Callable[[Any], Any],
    setup: Setup,
) -> Iterator[Row]:
    problem, seconds = cn.factorize(V, RANK, loss=loss), 2.0 if setup.quick else 5.0
    methods: dict[str, Method] = {
        "ours": Ours(problem, start),
        "mu": Reference(lambda: irls(masked_mu, V, start, weigh, loss.value)),
        "ALS": Reference(lambda: irls(masked_als, V, start, weigh, loss.value)),
    }
    methods["ours"].run(2)  # compiles
    paths = {name: method.path(setup.budget(seconds)) for name, method in methods.items()}
    best = min(value for path in paths.values() for _, value in path)
    for rival in ("mu", "ALS"):
        yield race_to(
            best * (1 + ABOVE),
            f"{case}, IRLS by {rival}",
            (methods["ours"], paths["ours"]),
            (methods[rival], paths[rival]),
            setup,
            IRLS,
        )
    W, H = (cp.Variable(X.shape, nonneg=True) for X in start)
    cone = ConePath([W, H], rest=cp.sum(atom(V - W @ H)))
    longest = 1.0 if setup.quick else LONGEST
    yield ConeRace(f"{case}, cone path", problem, start, cone, setup, longest).row(CONE)
