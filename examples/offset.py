"""Parts on a background
=====================

A number for each pixel takes up what all pictures have in common.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

RANK = 8


def main(output):
    """Factorize pictures on a background with and without an offset, and save a picture."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:8, :8]
    bars = np.stack([(y == row).ravel() for row in range(8)], axis=1)
    amounts = rng.random((8, 300)) * (rng.random((8, 300)) < 0.3)
    background = 0.3 + 0.5 * np.exp(-((x - 2) ** 2 + (y - 5) ** 2) / 12).reshape(-1, 1)
    V = bars @ amounts + background + 0.02 * rng.random((64, 300))
    stop = cn.MaxIter(2000) | cn.RelDecrease(1e-7)

    plain = cn.factorize(V, RANK).solve(init="nndsvd", stop=stop)
    model = cn.factorize(V, RANK, offset="feature", b=["nonnegative"])
    found = model.solve(init="nndsvd", stop=stop)
    for name, result in (("without", plain), ("with", found)):
        print(f"{name} an offset: relative error {result.relative_error:.5f}")

    figure, panels = plt.subplots(2, RANK + 1, figsize=(6.4, 1.8), layout="constrained")
    rows = {"without": [None, *plain.W.T], "with": [found["b"], *found.W.T]}
    for axes_row, (label, images) in zip(panels, rows.items(), strict=True):
        for axes, image in zip(axes_row, images, strict=True):
            if image is None:
                axes.set(facecolor="none")
                axes.spines[:].set_visible(False)
            else:
                axes.imshow(image.reshape(8, 8), cmap="Blues", vmin=0)
            axes.set(xticks=[], yticks=[])
        axes_row[0].set_ylabel(label)
    panels[1, 0].set_title("b", fontsize=9)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/offset.png")
