"""From dense to sparse parts
==========================

How much does sparseness cost? `path` solves a model for a list of bounds, and starts each solve
from the last result.

Up to a bound of about 0.7 the parts get sparser at almost no cost in error. The pictures show the
parts at the four orange points.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn
from conicnmf.study import path

RANK = 9
SHOWN = (0.5, 0.7, 0.8, 0.9)


def tiles(W):
    """Return nine components of 8×8 pixels as one image, each on its own scale."""
    images = (W / W.max(axis=0)).T.reshape(3, 3, 8, 8)
    framed = np.pad(images, [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=np.nan)
    return framed.swapaxes(1, 2).reshape(27, 27)[:-1, :-1]


def main(output):
    """Follow the path, each solve from the last one, and save the curve with four stops on it."""
    V = cn.datasets.load("digits", n_samples=400).V

    def at_least(bound):
        return cn.factorize(V, RANK, W=[cn.NonNegative(), cn.Sparseness(min=bound)])

    models = path(at_least, np.arange(50, 95, 2.5) / 100, cn.HALS())
    print(models.table[["value", "relative_error", "sparseness_W", "iterations", "seconds"]])

    layout = [["curve"] * len(SHOWN), list(map(str, SHOWN))]
    figure, panels = plt.subplot_mosaic(
        layout, figsize=(5.2, 3.8), height_ratios=[1.1, 1], layout="constrained"
    )
    panels["curve"].plot(models.values, models.table["relative_error"], ".-")
    panels["curve"].set(xlabel="least sparseness of a component", ylabel="relative error")
    panels["curve"].grid(alpha=0.3)
    for bound in SHOWN:
        result = models.results[models.values.index(bound)]
        panels["curve"].plot(bound, result.relative_error, "o", color="tab:orange")
        panels[str(bound)].imshow(tiles(result.W), cmap="Blues")
        panels[str(bound)].set(xticks=[], yticks=[])
        panels[str(bound)].set_title(f"at least {bound}", fontsize=9)
        panels[str(bound)].spines[:].set_visible(False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/sparseness_path.png")
