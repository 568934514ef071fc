"""Unmixing a scene with dead and wild sensors
===========================================

Huber's loss over what was measured, and shares that sum to one. Beside it: corners of the data by VCA
with shares for these fixed spectra (FCLS): the best shares here, and a poor spectrum of water. A price
on volume comes close to these shares; its weight was chosen with the ground truth in sight.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

import conicnmf as cn

SHARES = [cn.Simplex(each="sample")]


def spoiled(V, rng):
    """Return the scene with 2 % wild entries, and which of its entries were measured: 70 %."""
    wild = rng.random(V.shape) < 0.02
    return np.where(wild, 2 * rng.random(V.shape), V), rng.random(V.shape) < 0.7


def main(output):
    """Unmix Jasper Ridge in four ways, compare them with the ground truth and save a picture."""
    try:
        scene = cn.datasets.load("jasper_ridge")
    except cn.InputError as error:
        print(error)
        return
    thin = np.arange(scene.V.shape[1]).reshape(scene.extra["scene_shape"])[::2, ::2]
    truth = scene.truth["H"][:, thin.ravel()]
    clean = scene.V[:, thin.ravel()]
    spectra = np.linalg.lstsq(truth.T, clean.T, rcond=None)[0].T
    V, seen = spoiled(clean, np.random.default_rng(0))
    squares, robust = cn.WeightedFrobenius(seen), cn.Huber(0.05, weights=seen)
    small = [cn.NonNegative(), cn.MinimumVolume(30.0, 0.1)]
    corners = cn.factorize(V, 4, loss=squares, H=SHARES).start(cn.VCA(), np.random.default_rng(0))
    fixed = [cn.Fixed(np.ones(corners["W"].shape, dtype=bool), corners["W"])]
    stop = cn.MaxIter(40) | cn.RelDecrease(1e-3)
    models = {
        "VCA, FCLS": cn.factorize(V, 4, loss=squares, W=fixed, H=SHARES),
        "squares": cn.factorize(V, 4, loss=squares, H=SHARES),
        "Huber": cn.factorize(V, 4, loss=robust, H=SHARES),
        "Huber, volume": cn.factorize(V, 4, loss=robust, W=small, H=SHARES),
    }
    shown = {"truth": truth}
    for name, model in models.items():
        result = model.solve(init=corners, stop=stop)
        cosines = (spectra / np.linalg.norm(spectra, axis=0)).T @ result.W
        cosines /= np.linalg.norm(result.W, axis=0)
        order = linear_sum_assignment(-cosines)[1]
        rmse = np.sqrt(np.mean((result.H[order] - truth) ** 2))
        angles = np.degrees(np.arccos(cosines[np.arange(4), order]))
        print(f"{name:<13} RMSE of shares {rmse:.3f}, spectral angles {angles.round(1)} degrees")
        shown[f"{name}\nRMSE {rmse:.3f}, angle {angles.mean():.0f}°"] = result.H[order]

    figure, panels = plt.subplots(4, 5, figsize=(9, 7.4), layout="constrained")
    for column, (title, shares) in zip(panels.T, shown.items(), strict=True):
        column[0].set_title(title, fontsize=9)
        for axes, share in zip(column, shares, strict=True):
            axes.imshow(share.reshape(thin.shape), vmin=0, vmax=1, cmap="Blues")
            axes.set(xticks=[], yticks=[])
    for axes, name in zip(panels[:, 0], scene.extra["abundance_names"], strict=True):
        axes.set_ylabel(name)
    figure.savefig(output, dpi=110)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/robust_unmixing.png")
