"""A known component
=================

Often one component is known, such as a background that was measured separately. Fix its column of W,
and the model only has to find the others. In CVXPY this is the constraint `W[:, 0] == background`.

Without it, two peaks and a background mix. With it, both peaks come out clean. Gray lines are the
truth.
"""

import sys
import tempfile

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn


def main(output):
    """Find two peaks on a known sloping background and save a picture."""
    rng = np.random.default_rng(0)
    place = np.linspace(0, 1, 80)
    background = 1.0 - 0.6 * place
    peaks = np.exp(-(((place[:, None] - [0.35, 0.6]) / 0.07) ** 2))
    truth = np.column_stack([background, peaks])
    V = np.maximum(truth @ rng.random((3, 50)) + 0.02 * rng.standard_normal((80, 50)), 0)

    W = cp.Variable((80, 3), nonneg=True, name="W")
    H = cp.Variable((3, 50), nonneg=True, name="H")
    loss = cp.Minimize(cp.sum_squares(V - W @ H))
    models = {"nothing known": [], "background known": [W[:, 0] == background]}

    plt.style.use("tableau-colorblind10")
    figure, panels = plt.subplots(1, 2, figsize=(5.2, 2.6), sharey=True, layout="constrained")
    for axes, (title, known) in zip(panels, models.items(), strict=True):
        problem = cn.Problem(loss, known)
        result = problem.solve(cn.HALS(), stop=cn.MaxIter(1000) | cn.RelDecrease(1e-6))
        print(f"{title}\n{problem}\n{result.status.name}, objective {result.objective:.3f}\n")
        axes.plot(place, result.W / result.W.max(axis=0))
        axes.plot(place, truth, color="0.8", zorder=0)
        axes.set(title=title, xlabel="place", xticks=(0, 0.5, 1))
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/known_component.png")
