"""The tangent-plane method on 1000 digits, r = 4: native engine against the cone solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import conicnmf as cn
from benchmarks.harness import Row, Setup, dataset, guarded, speedup


def run(setup: Setup) -> Iterator[Row]:
    yield from guarded("all", _cases(setup))


def _cases(setup: Setup) -> Iterator[Row]:
    V = dataset("usps", n_samples=1000, seed=1)
    ratios, worst = [], 0.0
    for s in (0.5, 0.8) if setup.quick else np.arange(1, 10) / 10:
        problem = cn.factorize(V, 4, W=[cn.NonNegative(), cn.Sparseness(min=float(s))])
        solvers = {
            "native": cn.TangentPlane(engine="native"),
            "conic": cn.TangentPlane(engine="conic"),
        }
        sides = {
            name: lambda seed, problem=problem, solver=solver: problem.solve(solver, seed=seed)
            for name, solver in solvers.items()
        }
        runs = setup.race(sides, warm=("native",))
        means = {
            name: np.mean([result.relative_error for result in side.values])
            for name, side in runs.items()
        }
        rise = means["native"] / means["conic"] - 1
        note = f"error {means['native']:.4f}, conic {means['conic']:.4f} ({rise:+.2%})"
        row = speedup(f"s_w={s:g}", runs["native"], runs["conic"], note=note)
        ratios.append(row.ratio)
        worst = max(worst, rise)
        yield row
    mean = float(np.exp(np.mean(np.log(ratios))))
    note = f"native error at most {worst:.2%} above (allowed 0.5 %)"
    ok = mean >= 20 and worst <= 0.005
    yield Row("geometric mean", ratio=mean, target="≥ 20", ok=ok, note=note)
