"""Missing pixels
==============

30 % of the pixels are hidden. Weights of zero leave them out of the loss, and the model fills them
in. scikit-learn's NMF needs complete data, so for comparison its holes are first filled with the
mean of each pixel.

Orange pixels in the second row are hidden. Below are the images that both packages fill in.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import conicnmf as cn

SHOWN, MISSING = 7, 0.3


def main(output):
    """Hide part of the pixels, fill them in and save a picture."""
    V = cn.datasets.load("digits", n_samples=500).V
    observed = np.random.default_rng(0).random(V.shape) > MISSING
    hidden = np.where(observed, V, 0.0)
    problem = cn.factorize(
        hidden,
        rank=16,
        loss=cn.WeightedFrobenius(observed),
        W=[cn.NonNegative(), cn.L2(0.5)],
        H=[cn.NonNegative(), cn.L2(0.5)],
    )
    result = problem.solve(cn.Multiplicative(), stop=cn.MaxIter(300))
    means = hidden.sum(axis=1, keepdims=True) / observed.sum(axis=1, keepdims=True)
    baseline = NMF(16, init="nndsvda", random_state=0, max_iter=2000, tol=1e-3)
    codes = baseline.fit_transform(np.where(observed, V, means).T)
    guesses = {
        "the pixel's mean": means,
        "scikit-learn's NMF of the mean-filled images": (codes @ baseline.components_).T,
        "the model": result.W @ result.H,
    }
    for name, guess in guesses.items():
        gap = np.linalg.norm((guess - V)[~observed]) / np.linalg.norm(V[~observed])
        print(f"{MISSING:.0%} of the pixels filled in by {name}: relative error {gap:.2f}")

    figure, panels = plt.subplots(4, SHOWN, figsize=(5.2, 3.2), layout="constrained")
    rows = {
        "original": V,
        "observed": np.where(observed, V, np.nan),
        "scikit-learn": np.where(observed, V, (codes @ baseline.components_).T),
        "conicnmf": np.where(observed, V, result.W @ result.H),
    }
    for axes_row, (label, images) in zip(panels, rows.items(), strict=True):
        for axes, image in zip(axes_row, images.T, strict=False):
            axes.imshow(image.reshape(8, 8), cmap="Blues", vmin=0, vmax=1)
            axes.set(xticks=[], yticks=[], facecolor="#f3d9b1")
        axes_row[0].set_ylabel(label, rotation=0, ha="right", va="center")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/missing_entries.png")
