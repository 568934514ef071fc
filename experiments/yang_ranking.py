"""Figure 5 of Yang and Laaksonen (2007): which training faces the kernel discriminants weigh most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from sklearn.svm import SVC

import conicnmf as cn
from conicnmf.families.one_factor import ConeAscent, KernelDiscriminant, ProjectionRule, kernel_fda
from conicnmf.report.style import new_figure, styled
from conicnmf.types import Array
from experiments.experiment import Experiment, Outcome, Setup, Verdict, judged_by
from experiments.yang_faces import Faces, faces

SHOWN = 25
RULE, KERNEL, SVM = "NKFDA, published rule", "KFDA", "linear SVM"
STRONG, WEAK = 0.8, 0.3
"""Rank correlations that count as an order by light, and as none."""


def run(setup: Setup) -> Outcome:
    """Rank the faces by their weights, and the weights against the light of the pictures."""
    data = faces("olivetti", "facial_hair", coarse=setup.quick, even_light=False)
    weights = _weights(data)
    bright, contrast = data.V.mean(axis=0), data.V.std(axis=0)
    table = pd.DataFrame(
        [
            {
                "method": name,
                "rank correlation with brightness": float(spearmanr(alpha, bright)[0]),
                "rank correlation with contrast": float(spearmanr(alpha, contrast)[0]),
                f"brightness of the top {SHOWN}": bright[np.argsort(-alpha)[:SHOWN]].mean(),
                f"of the bottom {SHOWN}": bright[np.argsort(alpha)[:SHOWN]].mean(),
                "faces with weight": int((alpha > 1e-6 * alpha.max()).sum()),
                f"facial hair among the top {SHOWN}": int(data.y[np.argsort(-alpha)[:SHOWN]].sum()),
            }
            for name, alpha in weights.items()
        ]
    )
    verdict, said = _judged(table.set_index("method"), weights, _margins(data), bright)
    return Outcome(table, {"top_and_bottom": _figure(data, weights)}, verdict, said, NOTES)


def _judged(
    table: pd.DataFrame, weights: dict[str, Array], margins: Array, bright: Array
) -> tuple[Verdict, str]:
    """Test what the paper says of the faces that each method shows first and last."""
    light, contrast = table.iloc[:, 0].abs(), table.iloc[:, 1].abs()
    top = np.argsort(-weights[KERNEL])[:SHOWN]
    dark: Any = table.loc[KERNEL, f"of the bottom {SHOWN}"]
    near = float(np.mean(margins[np.argsort(-weights[SVM])[:SHOWN]]) / np.mean(margins))
    apart = abs(bright[top].mean() - bright.mean()) / bright.std()
    verdict, said = judged_by(
        {
            "NKFDA orders faces by their light": light[RULE] > STRONG,
            "KFDA weighs dark faces least": dark < bright.mean() - bright.std() / 2,
            "KFDA's first faces have no common condition": light[KERNEL] < WEAK
            and contrast[KERNEL] < WEAK
            and apart < 0.5,
            "the SVM's first faces lie next to the boundary": near < 0.5,
        }
    )
    return verdict, (
        f"rank correlations of weight and brightness are {light[RULE]:.2f} for the published rule, "
        f"{light[KERNEL]:.2f} for KFDA and {light[SVM]:.2f} for the SVM; the {SHOWN} faces that the "
        f"SVM weighs most are at {near:.2f} of the mean distance from its boundary, and KFDA's last "
        f"{SHOWN} have brightness {dark:.2f} (all faces {bright.mean():.2f}). {said}"
    )


def _machine(data: Faces) -> SVC:
    return SVC(kernel="linear", C=0.03).fit(data.V.T, data.y)


def _margins(data: Faces) -> Array:
    """Return how far the faces are from the boundary of the SVM, less than zero on the wrong side."""
    return np.asarray(_machine(data).decision_function(data.V.T) * np.where(data.y == 1, 1, -1))


def _weights(data: Faces) -> dict[str, Array]:
    """Return the weight of each face by each method, its magnitude where signs are free."""
    problem = KernelDiscriminant(data.V, data.y)
    centered = KernelDiscriminant(data.V, data.y, center=True)
    machine = _machine(data)
    support = np.zeros(data.V.shape[1])
    support[machine.support_] = np.abs(machine.dual_coef_[0])
    return {
        RULE: cn.solve(problem, ProjectionRule(last=True), throw=False).W[:, 0],
        "NKFDA, cone programs": cn.solve(problem, ConeAscent()).W[:, 0],
        "NKFDA, centered, cone programs": cn.solve(centered, ConeAscent()).W[:, 0],
        KERNEL: np.abs(kernel_fda(problem.K, data.y)),
        SVM: support,
    }


def _figure(data: Faces, weights: dict[str, Array]) -> Figure:
    """Draw the most and the least weighed faces of each method."""
    with styled():
        figure = new_figure(2.9)
        panels = figure.subplots(2, len(weights))
        for column, (name, alpha) in zip(panels.T, weights.items(), strict=True):
            for axes, order in zip(column, (np.argsort(-alpha), np.argsort(alpha)), strict=True):
                axes.imshow(
                    _mosaic(data.V[:, order[:SHOWN]], data.shape),
                    cmap="gray",
                    vmin=0,
                    vmax=1,
                    interpolation="none",
                )
                axes.set_xticks([])
                axes.set_yticks([])
                axes.grid(False)
                axes.spines[:].set_visible(False)
            column[0].set_title(name.replace(", ", ",\n"), fontsize=7)
        panels[0, 0].set_ylabel("largest weights")
        panels[1, 0].set_ylabel("smallest weights")
    return figure


def _mosaic(V: Array, shape: tuple[int, int]) -> Array:
    """Return 25 pictures as one of five by five, with a white line between them."""
    height, width = shape
    framed = np.ones((5, 5, height + 1, width + 1))
    framed[:, :, 1:, 1:] = V.T.reshape(5, 5, height, width)
    return framed.transpose(0, 2, 1, 3).reshape(5 * (height + 1), 5 * (width + 1))


NOTES = (
    "Olivetti faces with clear facial hair (70) against none (310), 28 × 24 pixels (14 × 12 when "
    "quick), light as it is, linear kernel; FERET is given out under an agreement.",
    "As published the kernel is not centered. K, U and K U K have no negative entries then, so the "
    "rule is power iteration and ends at the leading eigenvector of K U K: every face has weight, "
    "and the weight of a face grows with its inner product with the mean faces, that is with its "
    "brightness. The classes play next to no part.",
    "The cone programs maximize the ratio itself. Without centring it is nearly 1 for many α, since "
    "projections that are equal for all faces count as explained by the classes.",
    "KFDA's and the SVM's weights are taken as magnitudes, as published for KFDA.",
)

EXPERIMENT = Experiment(
    id="yang-ranking",
    paper="Yang and Laaksonen, Multiplicative updates for non-negative projections, 2007, Figure 5",
    title="Training faces ranked by their weight in kernel discriminants",
    published="The ranking by NKFDA is by lighting; KFDA's last faces are dark, its first ones have no "
    "common condition, the SVM's are those next to the boundary.",
    data="Olivetti faces with and without facial hair.",
    run=run,
)
