"""Wines above their common level
==============================

A number for each measure takes up what all wines have in common; the parts tell what sets them apart.
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
    figure, panels = plt.subplots(
        1, 3, figsize=(7.2, 3), layout="constrained", width_ratios=(2, 1, 1)
    )
    level = panels[0]
    places = np.arange(len(V))
    level.barh(places, found["b"].ravel(), label="b")
    level.plot(V.mean(axis=1), places, "k|", label="mean")
    level.set_yticks(places, data.feature_names, fontsize=7)
    level.set(xlabel="part of the largest value")
    level.legend(frameon=False, fontsize=8, loc="upper right")
    for axes, (title, result) in zip(
        panels[1:], (("W H", plain), ("W H + b 1ᵀ", found)), strict=True
    ):
        for kind, label in enumerate(data.target_names):
            own = data.target == kind
            axes.plot(*result["H"][:, own], ".", markersize=4, label=label.replace("_", " "))
        axes.set_title(title, fontsize=9)
        axes.set(xticks=[], yticks=[], xlabel="first part", ylabel="second part")
    panels[1].legend(frameon=False, fontsize=7)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/offset.png")
