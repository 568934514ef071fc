"""Your own loss
=============

The background of a spectrum lies below its peaks, so the model may lie below the data, but hardly
above them. A loss for this counts squares 100 times less where the model is below the data. Your own
loss needs a value, a gradient and its CVXPY form.

With plain squares, the peaks pull the background up. With the new loss, it follows the true one.
"""

import sys
import tempfile
from dataclasses import dataclass

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn
from conicnmf.extend import Loss
from conicnmf.testing import check_loss


@dataclass(frozen=True)
class Background(Loss):
    """Squares of Y − A B, weighted by `below` where the model is below the data, else by 1."""

    below: float = 0.01

    def _weighted(self, Y, A, B):
        residual = np.asarray(Y - A @ B)
        return residual, np.where(residual > 0, self.below, 1.0).astype(B.dtype)

    def value(self, Y, A, B):
        """Return the loss."""
        residual, weights = self._weighted(Y, A, B)
        return float((weights * residual**2).sum())

    def gradient(self, Y, A, B):
        """Return the gradient with respect to B; the weights change where the residual is zero."""
        residual, weights = self._weighted(Y, A, B)
        return -2 * A.T @ (weights * residual)

    def expression(self, Y, A, B):
        """Return the loss for cone programs, convex in B."""
        over, under = cp.pos(A @ B - Y), cp.pos(Y - A @ B)
        return cp.sum_squares(over) + self.below * cp.sum_squares(under)


def main(output):
    """Find the background of spectra with peaks and save a picture."""
    rng = np.random.default_rng(0)
    check_loss(Background(), rng.random((5, 4)))
    place = np.linspace(0, 1, 120)[:, None]
    slow = np.hstack([1 - place, np.exp(-(((place - 0.6) / 0.35) ** 2))])
    peaks = np.exp(-(((place - rng.random(40)) / 0.015) ** 2))
    background = slow @ (0.3 + rng.random((2, 30)))
    V = background + peaks @ (rng.random((40, 30)) * (rng.random((40, 30)) < 0.2))

    plt.style.use("tableau-colorblind10")
    figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    axes.plot(V[:, 0], color="0.6", linewidth=1, label="one spectrum")
    for loss in (cn.Frobenius(), Background()):
        result = cn.factorize(V, 2, loss=loss).solve(cn.ProjectedGradient(), seed=0, stop=2000)
        model = result.W @ result.H
        error = np.linalg.norm(model - background) / np.linalg.norm(background)
        print(f"{loss}: {result.status.name}, distance to the true background {error:.3f}")
        axes.plot(model[:, 0], label=type(loss).__name__)
    axes.plot(background[:, 0], "k:", label="true background")
    axes.set(xlabel="channel", ylabel="intensity")
    axes.legend(fontsize=8)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/custom_loss.png")
