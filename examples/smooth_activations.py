"""Smooth activations of a power spectrogram
=========================================

Under the divergence of Itakura and Saito, quiet notes count as much as loud ones, which suits the
power spectrum of music. A penalty on differences between neighboring frames makes the activations
smooth.

Each row is a component, named by its strongest frequency, over time. On the right, notes fade
instead of flickering.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

PARTS = 5


def flicker(H):
    """Return the squared changes from frame to frame, relative to the squared levels of a part."""
    return np.sum(np.diff(H, axis=1) ** 2, axis=1) / np.sum(H**2, axis=1)


def main(output):
    """Factorize the power of a recording with and without smoothness and save a picture."""
    try:
        piano = cn.datasets.load("piano")
    except cn.InputError as error:
        print(error)
        return
    frequency, time = piano.extra["freq_hz"], piano.extra["time_s"][::2]
    low = frequency <= 2200
    power = piano.V[low, ::2] ** 2
    V = power / power.max() + 1e-6  # the divergence needs V > 0: silence is 60 decibels below

    plain = cn.factorize(V, PARTS, loss="is").solve(init=cn.NNDSVD(), stop=100)
    sizes = np.linalg.norm(plain.W, axis=0)
    start = plain.W / sizes, plain.H * sizes[:, None]
    # Without a price on W it would grow, and H become small, which costs no roughness.
    terms = {"W": [cn.NonNegative(), cn.L2(10.0)], "H": [cn.NonNegative(), cn.Smooth(100.0)]}
    problem = cn.factorize(V, PARTS, loss="is", **terms)
    smooth = problem.solve(init=start)
    models = {"no smoothness": start, "smooth": (smooth.W, smooth.H)}

    figure, panels = plt.subplots(PARTS, 2, figsize=(5.2, 5.4), layout="constrained", sharex=True)
    order = np.argsort(start[0].argmax(axis=0))
    for column, (name, (W, H)) in zip(panels.T, models.items(), strict=True):
        print(f"{name}: divergence {cn.ItakuraSaito().value(V, W, H):.0f}", end="")
        print(f", flicker of the parts {flicker(H)[order].round(2)}")
        for axes, j in zip(column, order, strict=True):
            axes.fill_between(time, np.sqrt(H[j]), color="#d55e00")
            axes.set(yticks=[], ylabel=f"{frequency[low][W[:, j].argmax()]:.0f} Hz")
        column[0].set_title(name, fontsize=10)
        column[-1].set_xlabel("seconds")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/smooth_activations.png")
