"""Figures 3b and 3c of Thom et al. (2011): errors over the sparseness of filters and codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from conicnmf.families.autoencoders import encode
from conicnmf.report.style import AMOUNTS, legend_below, new_figure, series, styled
from experiments.experiment import Experiment, Outcome, Setup, judged_by
from experiments.thom_digits import PAPER, Digits, Learning, svm_error

LEVELS = (0.3, 0.5, 0.65, 0.8, 0.9), (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Sparseness of filters and of codes; the published best pair is among them."""
BEST, HIGH = (0.8, 0.7), 0.6


def run(setup: Setup) -> Outcome:
    """Learn filters at every pair of levels and classify their codes."""
    count, n, iterations = (1000, 96, 40) if setup.quick else (5000, 192, 100)
    digits = Digits.load(count, 10000)
    seeds = setup.runs(quick=1, full=1)
    rows = [
        _row(digits, Learning(n, w, h, iterations), seed, setup.progress)
        for w in LEVELS[0]
        for h in LEVELS[1]
        for seed in seeds
    ]
    table = pd.DataFrame(rows).groupby(["σ_W", "σ_H"], as_index=False).mean()
    return _outcome(table, count)


def _outcome(table: pd.DataFrame, count: int) -> Outcome:
    best = _lowest(table, "test error %")
    sharpest = _lowest(table, "relative error")
    ranks = float(table["relative error"].rank().corr(table["test error %"].rank()))
    few = table.nsmallest(max(1, len(table) // 5), "relative error")["test error %"]
    verdict, said = judged_by(
        {
            "the lowest error is at rather high sparseness": min(best["σ_W"], best["σ_H"]) >= HIGH,
            f"at {BEST}": (best["σ_W"], best["σ_H"]) == BEST,
            "a very low reconstruction error implies a low test error": few.max()
            <= table["test error %"].median(),
        }
    )
    return Outcome(
        table,
        {"errors": _heat(table), "scatter": _scatter(table)},
        verdict,
        f"the lowest error, {best['test error %']:.2f} %, is at (σ_W, σ_H) = ({best['σ_W']:g}, "
        f"{best['σ_H']:g}), published is (0.8, 0.7); "
        f"the pair that reconstructs best, ({sharpest['σ_W']:g}, {sharpest['σ_H']:g}), has "
        f"{sharpest['test error %']:.2f} %, and the rank correlation of both errors is {ranks:.2f}. "
        f"{said}",
        _notes(count, len(few)),
    )


def _lowest(table: pd.DataFrame, column: str) -> pd.Series:
    return table.iloc[int(table[column].to_numpy().argmin())]


def _notes(count: int, few: int) -> tuple[str, ...]:
    return (
        f"Sparseness is rather high from {HIGH} on, for filters and codes. A reconstruction error is "
        f"very low when it is among the lowest fifth ({few}), a test error low when it is not above "
        "the median.",
        f"The paper learns from all 60000 digits at each pair; here from {count}, so errors are higher "
        "throughout. One seed.",
        "At C = 0.01, which is not chosen again for each pair.",
    )


def _row(digits: Digits, plan: Learning, seed: int, progress: bool) -> dict[str, float]:
    result = plan.run(digits.V, seed=seed, progress=progress)
    f = result.factors
    codes, tested = (encode(V, f["W"], f["theta"], f["beta"], 3) for V in (digits.V, digits.V_test))
    error, _ = svm_error(codes, digits.y, tested, digits.y_test, costs=(0.01,))
    return {
        "σ_W": plan.sparseness_w,
        "σ_H": plan.sparseness_h,
        "test error %": error,
        "relative error": result.relative_error,
        "inference error": result.history[-1].notes["inference"],
        "seconds": result.seconds,
    }


def _heat(table: pd.DataFrame) -> Figure:
    cells = table.pivot(index="σ_W", columns="σ_H", values="test error %")
    grid = cells.to_numpy()
    with styled():
        figure = new_figure(4.0, 4.2)
        axes = figure.add_subplot()
        image = axes.imshow(-grid, cmap=AMOUNTS, origin="lower")
        for (i, j), value in np.ndenumerate(grid):
            light = sum(image.to_rgba(-value)[:3]) > 1.5  # of three, for white
            weight = "bold" if value == grid.min() else "normal"
            color = "k" if light else "w"
            axes.text(j, i, f"{value:.1f}", ha="center", va="center", color=color, weight=weight)
        axes.set_xticks(range(grid.shape[1]), [str(s) for s in cells.columns])
        axes.set_yticks(range(grid.shape[0]), [str(s) for s in cells.index])
        axes.grid(False)
        axes.set_xlabel("sparseness of rows of H")
        axes.set_ylabel("sparseness of columns of W")
        axes.set_title("test error in percent, lowest in bold")
    return figure


def _scatter(table: pd.DataFrame) -> Figure:
    labels = [f"sparseness of W {w:g}" for w in table["σ_W"].unique()]
    looks = series(labels)
    with styled():
        figure = new_figure(3.6)
        axes = figure.add_subplot()
        for label, marker, (_, own) in zip(labels, "os^Dv", table.groupby("σ_W"), strict=False):
            color = looks[label]["color"]
            axes.plot(own["relative error"], own["test error %"], marker, color=color, label=label)
        axes.set_xlabel("relative error of the reconstruction, ‖V − WH‖²/‖V‖²")
        axes.set_ylabel("test error, %")
        legend_below(figure, axes)
    return figure


EXPERIMENT = Experiment(
    id="thom-grid",
    paper=f"{PAPER}, Figures 3b and 3c",
    title="Classification and reconstruction over the sparseness of filters and codes",
    published="The lowest test error is at high sparseness, (σ_W, σ_H) = (0.8, 0.7), and a very "
    "low reconstruction error implies a low test error.",
    data="MNIST: 5000 training digits, 192 filters, 10000 test digits, 100 iterations (quick: 1000, "
    "96, 10000 and 40, at the same levels).",
    run=run,
)
