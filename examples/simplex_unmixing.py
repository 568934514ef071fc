"""Spectral unmixing of a generated scene
======================================

Each pixel of a scene is a mixture of three materials, so its shares sum to one. This constraint is
a simplex for each sample.

The scene is generated, so we know the answer. The top row compares spectra; below are true and
found shares.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

BANDS, SIDE, MATERIALS = 60, 24, 3


def scene(rng):
    """Return spectra, the share of each material in each pixel, and the noisy cube as a matrix."""
    band = np.linspace(0, 1, BANDS)[:, None]
    spectra = 0.02 + np.exp(-(((band - [0.2, 0.5, 0.8]) / [0.10, 0.16, 0.08]) ** 2))
    row, column = np.mgrid[0 : 1 : SIDE * 1j, 0 : 1 : SIDE * 1j]
    places = [(0.2, 0.2), (0.3, 0.85), (0.9, 0.5)]
    shares = np.array([np.exp(-12 * ((row - r) ** 2 + (column - c) ** 2)) for r, c in places])
    shares = (shares / shares.sum(axis=0)).reshape(MATERIALS, -1)
    V = spectra @ shares + 0.01 * rng.standard_normal((BANDS, SIDE * SIDE))
    return spectra, shares, np.maximum(V, 0.0)


def main(output):
    """Unmix a generated scene and save a picture."""
    spectra, shares, V = scene(np.random.default_rng(0))
    problem = cn.factorize(V, MATERIALS, H=[cn.Simplex(each="sample")])
    result = problem.solve(cn.ProjectedGradient(), stop=cn.MaxIter(1500) | cn.RelDecrease(1e-6))
    # The materials come in any order: pair each one with the estimate most like it.
    order = np.argmax(np.corrcoef(shares, result.H)[:MATERIALS, MATERIALS:], axis=1)
    error = np.abs(result.H[order] - shares).mean()
    print(f"{result.status.name}: sums to one up to {np.abs(result.H.sum(axis=0) - 1).max():.1e}")
    print(f"mean error of a share {error:.3f}")

    plt.style.use("tableau-colorblind10")
    figure, panels = plt.subplots(3, MATERIALS, figsize=(5.2, 4.8), layout="constrained")
    for k, (spectrum, truth, found) in enumerate(zip(*panels, strict=True)):
        spectrum.plot(spectra[:, k], color="0.6", label="true")
        spectrum.plot(result.W[:, order[k]], "--", label="found")
        spectrum.set(title=f"material {k + 1}", xlabel="band", ylim=(0, None))
        truth.imshow(shares[k].reshape(SIDE, SIDE), vmin=0, vmax=1, cmap="Blues")
        found.imshow(result.H[order[k]].reshape(SIDE, SIDE), vmin=0, vmax=1, cmap="Blues")
        for axes, label in ((truth, "true share"), (found, "found share")):
            axes.set(xticks=[], yticks=[], ylabel=label)
    panels[0, 0].legend(fontsize=8, frameon=False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/simplex_unmixing.png")
