"""Projection onto fixed l₁ and l₂ norms, against Hoyer's iteration in NumPy, looped and vectorized."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, Setup, clock, speedup
from benchmarks.references import hoyer_rows, hoyer_vector
from conicnmf.geometry.hoyer import project_hoyer

CASES: tuple[tuple[int, int, float | None, float | None], ...] = (
    (1, 10**2, None, None),
    (1, 10**4, None, None),
    (1, 10**6, 8.0, None),
    (10**4, 256, 40.0, 8.0),
)
"""Rows, length, and the targets against the loop and against all rows at once."""


def run(setup: Setup) -> Iterator[Row]:
    for k, n, looped, vectorized in CASES:
        X = np.random.default_rng(0).standard_normal((k, n))
        l2 = np.linalg.norm(X, axis=1)
        l1 = l2 * (np.sqrt(n) - (np.sqrt(n) - 1) * 0.6)
        sides = {
            "ours": lambda _, X=X, l1=l1, l2=l2: project_hoyer(X, l1, l2),
            "looped": lambda _, X=X, l1=l1, l2=l2: np.stack(
                [hoyer_vector(*row) for row in zip(X, l1, l2, strict=True)]
            ),
        }
        if k > 1:
            sides["vectorized"] = lambda _, X=X, l1=l1, l2=l2: hoyer_rows(X, l1, l2)
        runs = setup.race(sides, warm=tuple(sides))
        for name in list(sides)[1:]:
            P, Q = runs["ours"].values[-1], runs[name].values[-1]
            distances = [np.linalg.norm(X - Y) for Y in (P, Q)]
            # Hoyer's iteration is a heuristic: it may not come as near, but never nearer.
            near = distances[0] <= distances[1] * (1 + 1e-9)
            note = f"first call {clock(runs['ours'].first)}"
            note += f"; distance {distances[1] / distances[0] - 1:+.0e}"
            target = looped if name == "looped" else vectorized
            case = f"{k}×{n}, {name}"
            yield speedup(case, runs["ours"], runs[name], target, note, near)
