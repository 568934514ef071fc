"""One iteration of SCFC, MNIST 784×60000, 192 filters, against its matrix products alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, Setup, clock, dataset, fresh_process, guarded, peak_memory
from conicnmf.families.autoencoders import SCFC, FastCodes, Ramp, encode, standardize, windows
from conicnmf.families.autoencoders.scfc import Memo
from conicnmf.solve.methods.base import Context
from conicnmf.types import Array

FILTERS, IMAGE = 192, (28, 28)
SLOWER, MORE, INFERENCE = 1.3, 1.15, 1.5
_CODE = "import json; from benchmarks.scfc import peak; print(json.dumps(peak()))"


def run(setup: Setup) -> Iterator[Row]:
    yield from guarded("784×60000, n = 192", _iteration(setup))
    yield from guarded("peak memory", _memory())
    yield from guarded("inference of 10000 codes", _inference(setup))


def _data() -> Array:
    return standardize(dataset("mnist").astype(np.float32))


def _iteration(setup: Setup) -> Iterator[Row]:
    V = _data()
    statement, solver = FastCodes(V, FILTERS), SCFC(Ramp(0))
    init = {"W": windows(V, FILTERS, IMAGE)}
    factors = statement.start(init, np.random.default_rng(0))
    state = [factors, solver.start(statement, Context())]

    def sweep(_: int) -> bool:
        """Return whether both factors took the first step they tried."""
        ages = _ages(state[1])
        done = solver.sweep(statement, *state)
        state[:] = done.factors, done.memo
        return _ages(done.memo) == [age + 1 for age in ages]

    B, H = np.ascontiguousarray(factors["W"].T), np.array(factors["H"])
    P = np.empty_like(H)
    for _ in range(3):  # compiles, and leaves the first, long steps behind
        sweep(0)
    runs = setup.race({"ours": sweep, "floor": lambda _: _products(B, H, V, P)}, repeats=20)
    seconds, floor = np.array(runs["ours"].seconds), runs["floor"].median
    ratios = seconds / runs["floor"].seconds
    # A step that is tried again makes its products again: such iterations have another floor.
    straight = np.array(runs["ours"].values)
    ratio = float(np.median(ratios[straight]))
    yield Row(
        "784×60000, n = 192",
        clock(float(np.median(seconds[straight]))),
        clock(floor),
        ratio,
        float(np.ptp(ratios[straight])) / ratio,
        note=f"float32, {straight.sum()} of {len(straight)} iterations, in which no step was tried "
        "again; the floor is WᵀV, DVᵀ, (WᵀW)H, HHᵀ, WᵀW and (HHᵀ)Wᵀ once each",
    )
    mean = float(seconds.mean())
    yield Row(
        "784×60000, n = 192, mean of all",
        clock(mean),
        clock(floor),
        mean / floor,
        target=f"≤ {SLOWER:g}",
        ok=mean <= SLOWER * floor,
    )


def _ages(memo: Memo) -> list[int]:
    """Return for how many iterations in a row the momentum of H and of W has helped."""
    return [step.age for name, step in memo.steps.items() if name in ("H", "W")]


def _products(B: Array, H: Array, V: Array, out: Array) -> None:
    """Multiply what one iteration without a shortened step multiplies."""
    np.matmul(B @ B.T, H, out=out)
    HH = H @ H.T
    out[:, 0] = (H @ V.T + HH @ B)[:, 0]
    np.matmul(B, V, out=out)


def _inference(setup: Setup) -> Iterator[Row]:
    X = _data()[:, :10000].copy()
    rng = np.random.default_rng(0)
    W = rng.standard_normal((len(X), FILTERS)).astype(np.float32)
    theta, beta = np.zeros((FILTERS, 1), np.float32), np.full((FILTERS, 1), 0.02, np.float32)
    sides = {"ours": lambda _: encode(X, W, theta, beta, 3), "floor": lambda _: W.T @ X}
    runs = setup.race(sides, repeats=9, warm=("ours", "floor"))
    ours, floor = runs["ours"].median, runs["floor"].median
    yield Row(
        "inference of 10000 codes",
        clock(ours),
        clock(floor),
        ours / floor,
        target=f"≤ {INFERENCE:g}",
        ok=ours <= INFERENCE * floor,
        note="float32, against its matrix product",
    )


def _memory() -> Iterator[Row]:
    used, formula = fresh_process(_CODE)
    yield Row(
        "peak memory",
        f"{used / 1e6:.0f} MB",
        f"{formula / 1e6:.0f} MB",
        used / formula,
        target=f"≤ {MORE:g}",
        ok=used <= MORE * formula,
        note="peak growth of a solve, data included, over 3n + 3dn + 4nM + 2dM numbers of the paper",
    )


def peak() -> tuple[float, float]:
    """Return by how many bytes the peak rises over what is there before the data, and the formula."""
    tiny = np.random.default_rng(0).standard_normal((16, 60)).astype(np.float32)
    FastCodes(tiny, 4).solve(stop=3)
    before = peak_memory()
    (d, M), n = (784, 60000), FILTERS
    V = np.random.default_rng(0).standard_normal((d, M), dtype=np.float32)
    FastCodes(V, n).solve(SCFC(Ramp(0)), stop=3)
    return peak_memory() - before, 4.0 * (3 * n + 3 * d * n + 4 * n * M + 2 * d * M)
