"""An offset for each feature
==========================

All wines have alcohol, ash and phenols. An offset `b` for each measure absorbs what the wines have
in common, so that the two components describe how wines differ.

The bars show the offset, and the small marks the mean of each measure. Below are the coefficients
of each wine without and with an offset; colors are the three cultivars, which the model does not
see.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import conicnmf as cn

RANK = 2


def main(output):
    """Factorize measures of wines with and without an offset, and save a picture."""
    data = load_wine()
    V = (data.data / data.data.max(axis=0)).T
    stop = cn.MaxIter(2000) | cn.RelDecrease(1e-7)
    plain = cn.factorize(V, RANK).solve(init="nndsvd", stop=stop)
    model = cn.factorize(V, RANK, offset="feature", b=["nonnegative"])
    found = model.solve(init="nndsvd", stop=stop)
    for name, result in (("without", plain), ("with", found)):
        print(f"{name} an offset: relative error {result.relative_error:.5f}")

    plt.style.use("tableau-colorblind10")
    layout = [["level", "level"], ["W H", "W H + b 1ᵀ"]]
    figure, panels = plt.subplot_mosaic(layout, figsize=(5.2, 5.8), layout="constrained")
    level = panels["level"]
    places = np.arange(len(V))
    level.barh(places, found["b"].ravel(), label="b")
    level.plot(V.mean(axis=1), places, "k|", label="mean")
    names = [name.replace("_", " ") for name in data.feature_names]
    level.set_yticks(places, names, fontsize=8)
    level.set(xlabel="part of the largest value")
    level.legend(frameon=False, fontsize=8, loc="upper right")
    for title, result in (("W H", plain), ("W H + b 1ᵀ", found)):
        axes = panels[title]
        for kind, label in enumerate(data.target_names):
            own = data.target == kind
            axes.plot(*result["H"][:, own], ".", markersize=4, label=label.replace("_", " "))
        axes.set_title(title, fontsize=9)
        axes.set(xticks=[], yticks=[], xlabel="first part", ylabel="second part")
    panels["W H"].legend(frameon=False, fontsize=8)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/offset.png")
