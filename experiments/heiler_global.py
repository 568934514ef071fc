"""Section 6.2 of Heiler and Schnörr (2005): local steps against a search over the cones."""

from __future__ import annotations

from typing import Any

import pandas as pd

import conicnmf as cn
from conicnmf.solve.methods.base import AnySolver
from experiments.experiment import Experiment, Outcome, Setup

PUBLISHED = {"local": 0.24, "enumeration": 0.26, "sampling": 0.26}
MARGIN = 1.02
"""The local method counts as good as the searches up to this ratio of objectives."""


def run(setup: Setup) -> Outcome:
    """Solve from random starts and from the best of many combinations of cone samples."""
    few, many, budget = (5, 100, 1000) if setup.quick else (10, 1000, 10_000)
    V = cn.datasets.paatero().V
    problem = cn.factorize(V, 4, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    starts: dict[str, Any] = {
        "local": None,
        "enumeration": cn.ConeSearch(few, "enumerate", budget),
        "sampling": cn.ConeSearch(many, "sample", budget),
    }
    judged = {"local": 0, "enumeration": few**4, "sampling": budget}
    seeds = setup.runs(quick=2, full=4)
    rows: list[dict[str, Any]] = []
    # The published figures are of sparsity maximization.
    solvers: list[AnySolver] = [cn.SparsityMaximization(), cn.TangentPlane()]
    for number, solver in enumerate(solvers):
        for name, start in starts.items():
            runs = cn.compare(problem, [solver], seeds, init=start, n_jobs=setup.n_jobs).table
            rows.append(
                {
                    "method": solver.name,
                    "start": name,
                    "combinations judged": judged[name],
                    "published": PUBLISHED[name] if number == 0 else float("nan"),
                    "best objective": runs["objective"].min(),
                    "worst": runs["objective"].max(),
                    "relative error": runs["relative_error"].min(),
                    "seconds": runs["seconds"].mean(),
                }
            )
    table = pd.DataFrame(rows)
    ratio = _ratio(table)
    return Outcome(
        table,
        verdict="agrees" if ratio <= MARGIN else "differs",
        reason=f"the best of {len(seeds)} local runs ends at {ratio:.4f} of the best objective found "
        f"from {budget} combinations of cone samples.",
        notes=NOTES,
    )


def _ratio(table: pd.DataFrame) -> float:
    """Return the larger, over the methods, of best local over best searched objective."""
    local = table["start"] == "local"
    best = table.groupby([table["method"], local])["best objective"].min().unstack()
    return float((best[True] / best[False]).max())


NOTES = (
    "The paper samples the cones in every iteration, which took a day; here the samples choose the "
    "starting point, and the same method continues from the best combination.",
    "The objective is ‖V − WH‖² of our copy of the data; the published 0.24 and 0.26 are of other "
    "data in an unknown unit.",
    "Single runs can end far above the best, whatever their start: see the column 'worst'. The "
    "paper reports the same of its samplings.",
)

EXPERIMENT = Experiment(
    id="heiler-global",
    paper="Heiler and Schnörr, Reverse-convex programming for sparse image codes, 2005, "
    "Section 6.2",
    title="Local steps against enumeration and sampling of the sparseness cones",
    published="Objectives 0.24 (local), 0.26 (enumeration) and 0.26 (sampling), best of four runs.",
    data="Generated: the Paatero data, sp(W) ≥ 0.6, four runs each (two when quick).",
    run=run,
)
