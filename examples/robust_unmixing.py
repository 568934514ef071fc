"""Unmixing a scene with broken sensors
====================================

In a hyperspectral image, 30 % of the entries are missing and 2 % are wild. A mask leaves out what
was not measured, and Huber's loss is not misled by outliers. The shares of each pixel sum to one.
The baseline is the usual pipeline: corners of the data by VCA, then shares for these spectra by
least squares (FCLS).

Each row is a material, each column a method; the first column is the reference. All figures are
means over three draws of missing and wild entries. The weight of the volume is the one of
:ref:`sphx_glr_gallery_unmixing_scene.py`, times the share of entries that are known.
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


def models(V, seen, price, seed):
    """Return the four models, and the corners that all of them start from."""
    squares, robust = cn.WeightedFrobenius(seen), cn.Huber(0.05, weights=seen)
    plain = cn.factorize(V, 4, loss=squares, H=SHARES)
    corners = plain.start(cn.VCA(), np.random.default_rng(seed))
    fixed = [cn.Fixed(np.ones(corners["W"].shape, dtype=bool), corners["W"])]
    small = [cn.NonNegative(), cn.MinimumVolume(price, 0.1)]
    return corners, {
        "VCA + FCLS": cn.factorize(V, 4, loss=squares, W=fixed, H=SHARES),
        "squares": plain,
        "Huber": cn.factorize(V, 4, loss=robust, H=SHARES),
        "Huber, volume": cn.factorize(V, 4, loss=robust, W=small, H=SHARES),
    }


def main(output):
    """Unmix Jasper Ridge in four ways, compare them with the reference and save a picture."""
    try:
        scene = cn.datasets.load("jasper_ridge")
    except cn.InputError as error:
        print(error)
        return
    thin = np.arange(scene.V.shape[1]).reshape(scene.extra["scene_shape"])[::2, ::2]
    truth, clean = scene.truth["H"][:, thin.ravel()], scene.V[:, thin.ravel()]
    spectra = np.linalg.lstsq(truth.T, clean.T, rcond=None)[0].T
    price = 0.3 * 0.7 * np.sum(np.linalg.svd(clean, compute_uv=False)[4:] ** 2)
    shares, errors, angles = {}, {}, {}
    for draw in range(3):
        corners, stated = models(*spoiled(clean, np.random.default_rng(draw)), price, draw)
        for name, model in stated.items():
            result = model.solve(init=corners, stop=cn.MaxIter(40) | cn.RelDecrease(1e-3))
            cosines = (spectra / np.linalg.norm(spectra, axis=0)).T @ result.W
            cosines /= np.linalg.norm(result.W, axis=0)
            order = linear_sum_assignment(-cosines)[1]
            shares.setdefault(name, result.H[order])  # the first draw is shown
            gap = np.sqrt(np.mean((result.H[order] - truth) ** 2))
            errors.setdefault(name, []).append(gap)
            angles.setdefault(name, []).append(np.degrees(np.arccos(cosines[range(4), order])))
    shown = {"reference": truth}
    for name, found in shares.items():
        error, angle = np.mean(errors[name]), np.mean(angles[name])
        print(f"{name:<13} RMSE of shares {error:.3f} {np.round(errors[name], 3)}", end="")
        print(f", spectral angle {angle:.0f}°")
        shown[f"{name}\nRMSE {error:.3f}\nangle {angle:.0f}°"] = found

    figure, panels = plt.subplots(4, 5, figsize=(5.2, 4.6), layout="constrained")
    for column, (title, shares) in zip(panels.T, shown.items(), strict=True):
        column[0].set_title(title, fontsize=8)
        for axes, share in zip(column, shares, strict=True):
            axes.imshow(share.reshape(thin.shape), vmin=0, vmax=1, cmap="Blues")
            axes.set(xticks=[], yticks=[])
    for axes, name in zip(panels[:, 0], scene.extra["abundance_names"], strict=True):
        axes.set_ylabel(name)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/robust_unmixing.png")
