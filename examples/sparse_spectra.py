"""Sparse spectra
==============

The spectrum of a note has few peaks, so it is sparse. A lower bound on the sparseness of each
component can be combined with any loss, here with the Kullback–Leibler divergence.

Each panel shows a spectrum with its sparseness. The bound is met exactly, and it has a price: the
sound of the hammers is not sparse and is fitted less well.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

LEAST = 0.85
MODELS = {
    "squares": ("frobenius", []),
    "divergence": ("kl", []),
    f"divergence, sparseness ≥ {LEAST}": ("kl", [cn.Sparseness(min=LEAST)]),
}


def main(output):
    """Factorize a spectrogram by three models, print how they differ and save a picture."""
    try:
        piano = cn.datasets.load("piano")
    except cn.InputError as error:
        print(error)
        return
    frequency = piano.extra["freq_hz"]
    low = frequency <= 2200
    V = piano.V[low] / piano.V.max()

    shape = {"figsize": (5.2, 5.4), "layout": "constrained", "sharex": True}
    figure, panels = plt.subplots(5, len(MODELS), **shape)
    for column, (name, (loss, more)) in zip(panels.T, MODELS.items(), strict=True):
        problem = cn.factorize(V, 5, loss=loss, W=[cn.NonNegative(), *more])
        result = problem.solve(init=cn.NNDSVD(), stop=cn.MaxIter(100) | cn.RelDecrease(1e-4))
        W = result.W / np.linalg.norm(result.W, axis=0)
        sparse = cn.sparseness(W, axis=0)
        divergence = cn.KullbackLeibler().value(V, result.W, np.maximum(result.H, 1e-12))
        print(f"{name}: {result.status.name} after {result.n_iter} iterations")
        print(f"  sparseness of the spectra {np.sort(sparse).round(2)}")
        print(f"  divergence {divergence:.1f}, squared error {result.relative_error:.4f}")
        for axes, j in zip(column, np.argsort(W.argmax(axis=0)), strict=True):
            axes.fill_between(frequency[low], W[:, j], color="#3c79ad")
            axes.set(yticks=[])
            axes.text(0.98, 0.8, f"{sparse[j]:.2f}", transform=axes.transAxes, ha="right")
        column[0].set_title(name.replace(", ", ",\n"), fontsize=9)
        column[-1].set_xlabel("Hz")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/sparse_spectra.png")
