"""Results and comparisons with histories of the caller's choosing."""

from __future__ import annotations

import numpy as np
import pandas as pd

import conicnmf as cn
from conicnmf.results import Iteration


def make_result(objectives, violations=None, seconds=None, solver="HALS()", status=None, W=None):
    """A result with a history of the caller's choosing."""
    count = len(objectives)
    violations = np.zeros(count) if violations is None else np.asarray(violations)
    seconds = np.arange(count) / 10 if seconds is None else seconds
    lines = [
        Iteration(i, float(f), float(v), float(t), 0.1)
        for i, (f, v, t) in enumerate(zip(objectives, violations, seconds, strict=True))
    ]
    rng = np.random.default_rng(0)
    fine = [f for f, v in zip(objectives, violations, strict=True) if v <= 1e-6]
    return cn.Result(
        factors={"W": rng.random((12, 3)) if W is None else W, "H": rng.random((3, 5))},
        objective=float(min(fine, default=objectives[-1])),
        relative_error=0.25,
        violation={"W: Sparseness(min=0.6, max=1.0)": float(violations[-1])},
        status=cn.Status.CONVERGED if status is None else status,
        history=cn.History(lines),
        seed=0,
        solver=solver,
        problem_text="Problem: V (12 × 5) ≈ W H, rank 3",
        versions={"conicnmf": "0.1.0", "numpy": "2"},
    )


def make_comparison(results, skipped=()):
    """A comparison of given results, and pairs (problem, solver, reason) that do not fit."""
    rows = [
        {
            "problem": problem,
            "solver": solver,
            "seed": seed,
            "objective": result.objective,
            "relative_error": result.relative_error,
            "violation": result.max_violation,
            "seconds": result.seconds,
            "iterations": result.n_iter,
            "status": result.status.name,
            "reason": "",
        }
        for (problem, solver, seed), result in results.items()
    ]
    numbers = dict.fromkeys(
        ("objective", "relative_error", "violation", "seconds", "iterations"), np.nan
    )
    rows += [
        {"problem": p, "solver": s, "seed": 0, **numbers, "status": "SKIPPED", "reason": reason}
        for p, s, reason in skipped
    ]
    return cn.Comparison(pd.DataFrame(rows), results)
