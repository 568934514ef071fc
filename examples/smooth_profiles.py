"""Smooth components: a convex constraint of your own, written in CVXPY and kept as it is."""

import sys
import tempfile

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

RANK = 4


def main(output):
    """Recover smooth profiles from noisy mixtures and save a picture."""
    data = cn.datasets.paatero(m=60, n=40, noise=0.2)
    W = cp.Variable((60, RANK), nonneg=True, name="W")
    H = cp.Variable((RANK, 40), nonneg=True, name="H")
    loss = cp.sum_squares(data.V - W @ H)
    sparse = [cn.sparseness(W, axis=0) >= 0.6]
    smooth = [cp.abs(cp.diff(W, k=2, axis=0)) <= 0.06, cp.max(W, axis=0) <= 1]
    models = {"sparse": sparse, "sparse and smooth": [*sparse, *smooth]}

    figure, panels = plt.subplots(1, 3, figsize=(8, 2.6), sharey=True, layout="constrained")
    panels[0].plot(data.truth["W"])
    panels[0].set_title("true profiles")
    for axes, (title, constraints) in zip(panels[1:], models.items(), strict=True):
        problem = cn.Problem(cp.Minimize(loss), constraints)
        result = problem.solve(cn.TangentPlane(), seed=1)
        found = result.W / result.W.max(axis=0)
        print(f"{title}: {result.status.name} in {result.seconds:.1f} s, {result.solver}")
        print(f"  largest violation {result.max_violation:.1e}")
        axes.plot(found[:, np.argsort(found.argmax(axis=0))])
        axes.set(title=title, xlabel="feature")
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/smooth_profiles.png")
