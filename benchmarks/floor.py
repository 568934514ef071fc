"""One iteration against its matrix products alone, and the speed of products on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from benchmarks.harness import Row, Runs, Setup, clock, dataset, guarded
from conicnmf.solve.methods.base import Solver
from conicnmf.types import Array, Data

ITERATIONS, SIDE = 30, 1200


@dataclass(frozen=True)
class Case:
    """A solver on a model of a data set, and the products that one of its iterations makes."""

    name: str
    data: tuple[str, dict[str, int]]
    rank: int
    solver: Solver
    products: Callable[[Data, Array, Array], object]
    model: dict[str, Any]


def squares(V: Data, W: Array, H: Array) -> None:
    """Multiply what squares need: each factor with the data, and each with itself."""
    V @ H.T, H @ H.T, W.T @ V, W.T @ W


def counts(V: Data, W: Array, H: Array) -> None:
    """Multiply what the Kullback–Leibler divergence needs: a model and a slope for each factor."""
    W @ H, V @ H.T, W @ H, W.T @ V


SPARSE = {"W": [cn.NonNegative(), cn.Sparseness(min=0.7)]}
SHARES = {"H": [cn.Simplex(each="sample")]}
CASES = (
    Case("HALS, CBCL 361×2429, r=49", ("cbcl_faces", {}), 49, cn.HALS(), squares, {}),
    Case("HALS, TDT2 sparse, r=30", ("tdt2", {}), 30, cn.HALS(), squares, {}),
    Case(
        "TangentPlane, USPS 256×1000, r=4, s_w=0.7",
        ("usps", {"n_samples": 1000, "seed": 1}),
        4,
        cn.TangentPlane(),
        squares,
        SPARSE,
    ),
    Case(
        "ANLS, Jasper Ridge 198×10000, r=4, simplex",
        ("jasper_ridge", {}),
        4,
        cn.ANLS(),
        squares,
        SHARES,
    ),
    Case(
        "Kullback–Leibler, piano 513×676, r=8",
        ("piano", {}),
        8,
        cn.AcceleratedMultiplicative(),
        counts,
        {"loss": "kl"},
    ),
)


def run(setup: Setup) -> Iterator[Row]:
    yield from _machine(setup)
    for case in CASES:
        yield from guarded(case.name, _iteration(case, setup))


def _iteration(case: Case, setup: Setup) -> Iterator[Row]:
    name, options = case.data
    V = dataset(name, **options)
    problem = cn.factorize(V, case.rank, **case.model)
    start = problem.start(cn.Random(), np.random.default_rng(0))
    problem.solve(case.solver, init=start, stop=3, throw=False)  # compiles
    W, H = start["W"], start["H"]
    ours, floor = Runs(), Runs()
    for _ in range(1 if setup.quick else 3):
        ours.seconds.append(_seconds_an_iteration(problem, case.solver, start, setup))
        products = {"floor": lambda _: case.products(V, W, H)}
        floor.seconds.append(setup.race(products, 1, warm=("floor",))["floor"].median)
    ratios = np.divide(ours.seconds, floor.seconds)
    ratio = float(np.median(ratios))
    spread = float(np.ptp(ratios)) / ratio
    yield Row(case.name, clock(ours.median), clock(floor.median), ratio, spread)


def _seconds_an_iteration(problem: cn.Problem, solver: Solver, start: Any, setup: Setup) -> float:
    """Return the median over the iterations of a solve, measured from one look to the next."""
    looks: list[float] = []

    def look(_: Any, __: Any) -> bool:
        looks.append(setup.timer())
        return False

    problem.solve(solver, init=start, stop=cn.MaxIter(ITERATIONS), callback=look, throw=False)
    return float(np.median(np.diff(looks)))


def _machine(setup: Setup) -> Iterator[Row]:
    """Measure products of dense and of sparse matrices, and a copy."""
    rng = np.random.default_rng(0)
    A, B = rng.random((SIDE, SIDE)), rng.random((SIDE, SIDE))
    S = sp.random_array((20000, 20000), density=0.002, format="csr", rng=rng)
    thin, long = rng.random((20000, 20)), rng.random(20_000_000)
    target = np.empty_like(long)
    works = {
        "dense product, 1200³": (lambda _: A @ B, 2 * SIDE**3 / 1e9, "GF/s"),
        "sparse (CSR) product, 20 columns": (lambda _: S @ thin, 2 * S.nnz * 20 / 1e9, "GF/s"),
        "copy of 160 MB": (lambda _: np.copyto(target, long), 2 * long.nbytes / 1e9, "GB/s"),
    }
    for name, (work, amount, unit) in works.items():
        seconds = setup.race({"it": work}, 5, warm=("it",))["it"].median
        yield Row(f"this machine: {name}", f"{amount / seconds:.3g} {unit}", note="one thread")
