"""Materials of a hyperspectral scene
==================================

Jasper Ridge is a standard scene for unmixing: 100 × 100 pixels, 198 bands, and a reference for the
shares of tree, water, soil and road. Three methods are compared: corners of the data by VCA with
shares for these spectra (FCLS), plain NMF by scikit-learn, and a factorization whose spectra span a
small volume.

Each row is a material, each column a method. The weight of the volume is chosen on generated
scenes, never on this one, and of four starts the one with the lowest objective is kept.
"""

import sys
import tempfile
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import conicnmf as cn

SHARES, WEIGHTS, SEEDS = [cn.Simplex(each="sample")], (0.03, 0.1, 0.3, 1.0), range(3)


def generated(rng, bands=100, pixels=1000):
    """Return a scene of four smooth spectra in uneven light without pure pixels, and its shares."""
    bumps = np.exp(-(((np.linspace(0, 1, bands)[:, None] - rng.random(12)) / 0.1) ** 2))
    spectra = bumps @ rng.dirichlet(np.ones(12), 4).T
    H = rng.dirichlet(np.ones(4), pixels).T
    H = H[:, H.max(axis=0) < 0.8]
    light = 1 + 0.15 * rng.standard_normal(H.shape[1])  # slopes and shadows
    noise = 0.01 * rng.standard_normal((bands, H.shape[1]))
    return np.maximum(spectra / spectra.max() @ H * light + noise, 0), H


def small_volume(V, starts, weight):
    """Return the factors whose spectra span a small volume: the lowest objective of all starts."""
    noise = np.sum(np.linalg.svd(V, compute_uv=False)[4:] ** 2)  # what no four spectra explain
    W = [cn.NonNegative(), cn.MinimumVolume(weight * noise, 0.1)]
    problem, stop = cn.factorize(V, 4, W=W, H=SHARES), cn.MaxIter(60) | cn.RelDecrease(1e-5)
    results = [problem.solve(init=start, stop=stop) for start in starts]
    return min(results, key=lambda result: result.objective).factors


def starts_of(V):
    """Return the centers of four clusters, and the corners that VCA finds with three seeds."""
    centers = cn.factorize(V, 4, H=SHARES).start(cn.KMeans(), np.random.default_rng(0))
    return [centers, *(corners_of(V, seed) for seed in SEEDS)]


def corners_of(V, seed):
    """Return the spectra of VCA and the shares for them."""
    start = cn.factorize(V, 4, H=SHARES).start(cn.VCA(), np.random.default_rng(seed))
    given = cn.Fixed(np.ones(start["W"].shape, dtype=bool), start["W"])
    return cn.factorize(V, 4, W=[given], H=SHARES).solve(init=start, stop=20).factors


def rmse(H, truth):
    """Return the error of the shares, and which material is which."""
    gaps = ((truth[:, None] - H) ** 2).mean(axis=2)
    pairs = linear_sum_assignment(gaps)
    return np.sqrt(gaps[pairs].mean()), pairs[1]


def chosen_weight():
    """Return the weight of least mean error on generated scenes."""
    errors = dict.fromkeys(WEIGHTS, 0.0)
    for seed in range(100, 103):
        V, H = generated(np.random.default_rng(seed))
        starts = starts_of(V)
        for weight in WEIGHTS:
            errors[weight] += rmse(small_volume(V, starts, weight)["H"], H)[0] / 3
    print("generated scenes:", {weight: round(float(e), 3) for weight, e in errors.items()})
    return min(errors, key=errors.get)


def by_scikit_learn(V):
    """Return the factors of plain NMF, with shares that are made to sum to one."""
    model = NMF(4, init="nndsvda", random_state=0, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        H = model.fit_transform(V.T).T
    return {"W": model.components_.T, "H": H / np.maximum(H.sum(axis=0), 1e-12)}


def angle(W, spectra):
    """Return the mean angle between found and reference spectra, in degrees."""
    cosines = (W * spectra).sum(axis=0) / np.linalg.norm(W, axis=0)
    return np.degrees(np.arccos(cosines / np.linalg.norm(spectra, axis=0))).mean()


def main(output):
    """Unmix the scene in three ways, compare with the reference and save a picture."""
    try:
        scene = cn.datasets.load("jasper_ridge")
    except cn.InputError as error:
        print(error)
        return
    thin = np.arange(scene.V.shape[1]).reshape(scene.extra["scene_shape"])[::2, ::2]
    V, truth = scene.V[:, thin.ravel()], scene.truth["H"][:, thin.ravel()]
    spectra = np.linalg.lstsq(truth.T, V.T, rcond=None)[0].T
    weight, starts = chosen_weight(), starts_of(V)
    models = {
        "VCA + FCLS": starts[1:],
        "scikit-learn NMF": [by_scikit_learn(V)],
        f"small volume ({weight:g})": [small_volume(V, starts, weight)],
    }
    shown = {"reference": truth}
    for name, results in models.items():
        judged = [(rmse(found["H"], truth), found) for found in results]
        errors = np.array([error for (error, _), _ in judged])
        angles = [angle(found["W"][:, order], spectra) for (_, order), found in judged]
        print(f"{name:<20} RMSE of shares {errors.mean():.3f} {errors.round(3)}", end="")
        print(f", spectral angle {np.mean(angles):.0f}°")
        (_, order), found = judged[0]
        shown[f"{name}\nRMSE {errors.mean():.3f}\nangle {np.mean(angles):.0f}°"] = found["H"][order]

    figure, panels = plt.subplots(4, 4, figsize=(5.2, 6), layout="constrained")
    for column, (title, shares) in zip(panels.T, shown.items(), strict=True):
        column[0].set_title(title, fontsize=9)
        for axes, share in zip(column, shares, strict=True):
            axes.imshow(share.reshape(thin.shape), vmin=0, vmax=1, cmap="Blues")
            axes.set(xticks=[], yticks=[])
    for axes, name in zip(panels[:, 0], scene.extra["abundance_names"], strict=True):
        axes.set_ylabel(name)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/unmixing_scene.png")
