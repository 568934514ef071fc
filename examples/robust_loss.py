"""Data with outliers
==================

3 % of the entries have a large error. Squares give a lot of weight to these entries, and the model
bends towards them. Huber's loss grows only linearly for large errors. Here it is written in CVXPY
and recognized by the package.

The pictures show the clean data, what the solver gets, and the two models.
"""

import sys
import tempfile

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn


def main(output):
    """Factorize data with a few gross errors by both losses and save a picture."""
    rng = np.random.default_rng(0)
    data = cn.datasets.paatero(m=40, n=20, noise=0.02)
    V, clean = data.V.copy(), data.truth["W"] @ data.truth["H"]
    V[rng.random(V.shape) < 0.03] += 2.0

    W = cp.Variable((40, 4), nonneg=True)
    H = cp.Variable((4, 20), nonneg=True)
    losses = {
        "squares": cp.sum_squares(V - W @ H),
        "Huber": cp.sum(cp.huber(V - W @ H, M=0.1)),
    }
    figure, panels = plt.subplots(2, 2, figsize=(4.8, 5), layout="constrained")
    shown = {"clean": clean, "with outliers": V}
    for name, loss in losses.items():
        result = cn.Problem(cp.Minimize(loss)).solve(stop=12, seed=0)
        model = result.W @ result.H
        error = np.linalg.norm(model - clean) / np.linalg.norm(clean)
        print(f"{name}: {result.status.name} in {result.seconds:.1f} s, error {error:.3f}")
        shown[f"{name}, error {error:.2f}"] = model
    for axes, (title, image) in zip(panels.flat, shown.items(), strict=True):
        axes.imshow(image, vmin=0, vmax=1.2, aspect="auto", cmap="Blues")
        axes.set_title(title, fontsize=10)
        axes.set(xticks=[], yticks=[], xlabel="sample", ylabel="feature")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/robust_loss.png")
