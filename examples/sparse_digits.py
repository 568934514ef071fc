"""Parts of handwritten digits
===========================

NMF is said to learn parts. Whether it does depends on sparseness: the same model of handwritten
digits is solved with three different bounds on the sparseness of its nine components.

Dense components look like whole digits. Without a bound they are somewhere in between. With a lower
bound they are strokes, and the relative error tells you what that costs.
"""

import sys
import tempfile

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

RANK = 9


def solve(V, bounds):
    """Return the best of two starts."""
    W = cp.Variable((V.shape[0], RANK), nonneg=True)
    H = cp.Variable((RANK, V.shape[1]), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), bounds(cn.sparseness(W, axis=0)))
    return cn.compare(problem, [cn.HALS()], seeds=range(2)).best()


def tiles(W):
    """Return nine components of 8×8 pixels as one image, each on its own scale."""
    images = (W / W.max(axis=0)).T.reshape(3, 3, 8, 8)
    framed = np.pad(images, [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=np.nan)
    return framed.swapaxes(1, 2).reshape(27, 27)[:-1, :-1]


def main(output):
    """Factorize, print what was found and save a picture."""
    V = cn.datasets.load("digits", n_samples=600).V
    models = {
        "sparseness ≤ 0.4": lambda s: [s <= 0.4],
        "non-negative only": lambda s: [],
        "sparseness ≥ 0.85": lambda s: [s >= 0.85],
    }
    figure, panels = plt.subplots(1, 3, figsize=(5.2, 2.4), layout="constrained")
    for axes, (title, bounds) in zip(panels, models.items(), strict=True):
        result = solve(V, bounds)
        found = cn.sparseness(result.W, axis=0)
        error = f"relative error {result.relative_error:.3f}"
        print(f"{title}: {error}, sparseness {found.min():.2f} to {found.max():.2f}")
        axes.imshow(tiles(result.W), cmap="Blues")
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(error, fontsize=9)
        axes.spines[:].set_visible(False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/sparse_digits.png")
