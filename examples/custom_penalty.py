"""Your own penalty
================

If each sample should belong to one component, let components compete: in each sample, the penalty
below is the square of the sum of all coefficients. Your own penalty needs a value, a gradient
and its CVXPY form.

The pictures show H without and with the penalty. With it, each sample has one large coefficient.
"""

import sys
import tempfile
from dataclasses import dataclass

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn
from conicnmf.extend import Penalty
from conicnmf.testing import check_penalty


@dataclass(frozen=True)
class Compete(Penalty):
    """The penalty weight · Σₖ (Σⱼ |bⱼₖ|)²: within a sample, one large entry is cheaper than two."""

    weight: float

    def value(self, B):
        """Return the penalty; B has a component in each row and a sample in each column."""
        return self.weight * float((np.abs(B).sum(axis=0) ** 2).sum())

    def expression(self, B):
        """Return the penalty for cone programs."""
        return self.weight * cp.sum_squares(cp.sum(cp.abs(B), axis=0))

    def gradient(self, B):
        """Return the gradient on B ≥ 0, the same for every component."""
        return np.broadcast_to(2 * self.weight * np.abs(B).sum(axis=0), B.shape)

    def scaled(self, c):
        """Return the penalty that has at c·B the value this one has at B."""
        return Compete(self.weight / c**2)


def main(output):
    """Sort mixtures by what is in them most and save a picture."""
    check_penalty(Compete(0.5))
    rng = np.random.default_rng(0)
    place = np.linspace(0, 1, 50)
    peaks = np.exp(-(((place[:, None] - [0.3, 0.5, 0.7]) / 0.12) ** 2))
    shares = np.repeat(np.eye(3), 20, axis=1) + 0.3 * rng.random((3, 60))
    V = np.maximum(peaks @ shares + 0.05 * rng.standard_normal((50, 60)), 0.0)
    unit = [cn.NonNegative(), cn.UnitNorm()]  # or W would grow and H shrink
    figure, panels = plt.subplots(2, 1, figsize=(5.2, 3.4), sharex=True, layout="constrained")
    for axes, weight in zip(panels, (0.0, 0.3), strict=True):
        problem = cn.factorize(V, 3, W=unit, H=[cn.NonNegative(), Compete(weight)])
        result = problem.solve(cn.ProjectedGradient(), seed=1)
        largest = (result.H.max(axis=0) / result.H.sum(axis=0)).mean()
        print(f"weight {weight}: {result.status.name}, largest share of a sample {largest:.2f}")
        axes.imshow(result.H[np.argsort(result.W.argmax(axis=0))], aspect="auto", cmap="Blues")
        axes.set(
            title="without the penalty" if weight == 0 else f"weight {weight}",
            yticks=range(3),
            ylabel="component",
        )
    panels[1].set_xlabel("sample")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/custom_penalty.png")
