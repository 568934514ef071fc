"""Codes by one matrix product
===========================

To code a new sample, a factorization solves an optimization problem. An autoencoder learns filters
whose codes are one matrix product and a fixed function, which is much faster.

The pictures show filters of digits: one bank of 40 filters learned without labels, and one bank of
four filters for each digit, learned with labels (the teacher). Below is the test error of a linear
classifier on the codes.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import conicnmf as cn
from conicnmf.estimators import SCFC, SCFCClassifier

IMAGES = {"image_shape": (8, 8), "standardize": True, "sparseness_w": 0.6}


def tiles(filters):
    """Return filters of 8×8 pixels as rows of ten, each on its own scale."""
    images = (filters / np.abs(filters).max(axis=1, keepdims=True)).reshape(-1, 10, 8, 8)
    framed = np.pad(images, [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=np.nan)
    return framed.swapaxes(1, 2).reshape(-1, 90)[:-1, :-1]


def main(output):
    """Learn, print how well new digits are told apart, and save the filters."""
    digits = cn.datasets.load("digits")
    X, y = digits.V.T, digits.target
    train, test = slice(0, 1000), slice(1000, None)
    models = {
        "no teacher": SCFC(40, max_iter=100, **IMAGES),
        "one bank of four filters per class": SCFCClassifier(4, max_iter=120, ramp=30, **IMAGES),
    }
    figure, panels = plt.subplots(2, 1, figsize=(5.2, 5.2), layout="constrained")
    for axes, (title, coder) in zip(panels, models.items(), strict=True):
        svm = make_pipeline(coder, StandardScaler(), LinearSVC(C=0.1, dual=False))
        error = 1 - svm.fit(X[train], y[train]).score(X[test], y[test])
        caption = f"{error:.1%} of new digits wrong"
        print(f"{title}: {caption}")
        axes.imshow(tiles(coder.components_), cmap="RdBu", vmin=-1, vmax=1)
        axes.set(title=title, xlabel=caption, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/fast_codes.png")
