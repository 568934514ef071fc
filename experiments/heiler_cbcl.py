"""Every place a sparseness band can stand, on faces: min and max, rows and columns, both factors."""

from __future__ import annotations

from typing import Any

import conicnmf as cn
from conicnmf.model.terms import Term
from conicnmf.report import plot_basis
from experiments.experiment import Experiment, Outcome, Setup, judged

FEASIBLE = 1e-6
DRAWN = {
    "none": "basis_plain",
    "W columns ≥ 0.6": "basis_sparse_w",
    "H rows ≥ 0.5": "basis_sparse_h",
}


def variants() -> dict[str, tuple[list[Term], list[Term]]]:
    """Return the terms on W and H of each variant.

    Examples
    --------
    >>> variants()["H columns ≥ 0.5"][1]
    [Sparseness(min=0.5, max=1.0, each='sample')]
    """
    band = cn.Sparseness
    return {
        "none": ([], []),
        "W columns ≥ 0.6": ([band(min=0.6)], []),
        "W columns ≤ 0.3": ([band(max=0.3)], []),
        "H rows ≥ 0.5": ([], [band(min=0.5)]),
        "H rows ≤ 0.2": ([], [band(max=0.2)]),
        "H columns ≥ 0.5": ([], [band(min=0.5, each="sample")]),
        "H columns ≤ 0.2": ([], [band(max=0.2, each="sample")]),
        "W columns and H rows ≥ 0.5": ([band(min=0.5)], [band(min=0.5)]),
        "W columns and H rows ≤ 0.3": ([band(max=0.3)], [band(max=0.3)]),
        "W columns ≥ 0.6, H columns ≥ 0.3": ([band(min=0.6)], [band(min=0.3, each="sample")]),
        "W columns in 0.5…0.7, H rows in 0.3…0.5": ([band(0.5, 0.7)], [band(0.3, 0.5)]),
    }


def run(setup: Setup) -> Outcome:
    """Solve every variant by tangent planes, and component-wise where that fits."""
    faces = cn.datasets.load("cbcl_faces", n_samples=40 if setup.quick else 500)
    nonneg = cn.NonNegative()
    problems = {
        name: cn.factorize(faces.V, 16, W=[nonneg, *W], H=[nonneg, *H])
        for name, (W, H) in variants().items()
    }
    limits: dict[str, Any] = {"stop": 8} if setup.quick else {"time_limit": 60.0}
    runs = cn.compare(
        problems,
        [cn.TangentPlane(), cn.HALS()],
        setup.runs(quick=1, full=1),
        n_jobs=setup.n_jobs,
        progress=setup.progress,
        **limits,
    )
    kept = runs.table[runs.table["status"] != "SKIPPED"]
    feasible = (kept["violation"] <= FEASIBLE) & (kept["reason"] == "")
    columns = [
        "problem",
        "solver",
        "relative_error",
        "violation",
        "seconds",
        "iterations",
        "status",
    ]
    names = {"problem": "sparseness of", "relative_error": "relative error"}
    table = kept[columns].rename(columns=names).reset_index(drop=True)
    worst = table["violation"].max()
    figures = {
        name: plot_basis(_best(runs, label).W, faces.image_shape) for label, name in DRAWN.items()
    }
    return Outcome(
        table,
        figures,
        judged(bool(feasible.all())),
        f"{int(feasible.sum())} of {len(table)} runs end feasible, with a violation of at most "
        f"{worst:.1e} in sparseness.",
        ("There are no published figures; the claim is that all of these are one model.",)
        + (() if setup.quick else ("Runs end with the step that passes 60 s.",)),
    )


def _best(runs: cn.Comparison, label: str) -> cn.Result:
    results = [result for (problem, *_), result in runs.results.items() if problem == label]
    return min(results, key=lambda result: result.objective)


EXPERIMENT = Experiment(
    id="heiler-cbcl",
    paper="Heiler and Schnörr, Reverse-convex programming for sparse image codes, 2005, eq. 3",
    title="Sparseness from below and above, on rows and columns of either factor",
    published="Bounds below and above on W and on H are one model, solved by the same methods.",
    data="CBCL faces (500, 40 when quick), rank 16.",
    run=run,
)
