"""Groups of rows and of columns
=============================

V ≈ W S H groups features by W and samples by H; the small S says which groups go together.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

ROWS, COLUMNS = 4, 3


def planted(rng):
    """Return data with four groups of rows, three of columns, and a known table between them."""
    W = np.eye(ROWS)[rng.integers(ROWS, size=60)] * rng.uniform(0.7, 1.3, (60, 1))
    H = np.eye(COLUMNS)[:, rng.integers(COLUMNS, size=80)] * rng.uniform(0.7, 1.3, 80)
    S = np.array([[1.0, 0, 0.4], [0, 0.8, 0], [0.5, 0, 0.9], [0, 0.3, 0.6]])
    return np.maximum(W @ S @ H + 0.15 * rng.standard_normal((60, 80)), 0)


def main(output):
    """Find the groups and the table, and save a picture."""
    V = planted(np.random.default_rng(0))
    one_group = [cn.NonNegative(), cn.Sparseness(min=0.95, each="sample")]
    problem = cn.factorize(V, (ROWS, COLUMNS), W=one_group, H=one_group)
    result = cn.multistart(problem, n_starts=4, stop=15).best
    print(result)
    rows, columns = result["W"].argmax(axis=1), result["H"].argmax(axis=0)
    # Scales are free; times the largest entries of its neighbors, S is in the units of V.
    sizes = result["W"].max(axis=0)[:, None] * result["H"].max(axis=1)

    sort_rows, sort_columns = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
    shown = {
        "V": V,
        "V, sorted": V[sort_rows][:, sort_columns],
        "W S H, sorted": (result["W"] @ result["S"] @ result["H"])[sort_rows][:, sort_columns],
        "S": result["S"] * sizes,
    }
    figure, panels = plt.subplots(1, 4, figsize=(7.2, 2.1), layout="constrained")
    for axes, (title, X) in zip(panels, shown.items(), strict=True):
        axes.imshow(X, cmap="Blues", vmin=0, aspect="auto", interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=9)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/three_factors.png")
