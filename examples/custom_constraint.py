"""Your own constraint
===================

Growth curves only rise. To tell the model, write a constraint with three methods: how much a component
violates it, its CVXPY form, and the nearest component that satisfies it. Solvers that
need nothing else can then use it, together with all other terms.

The factors of noisy mixtures are rugged; with the constraint, the three growth curves appear.
"""

import sys
import tempfile
from dataclasses import dataclass

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import isotonic_regression

import conicnmf as cn
from conicnmf.extend import Constraint, Example, Pieces, joint_projection, pieces
from conicnmf.testing import check_constraint


@dataclass(frozen=True)
class Rising(Constraint):
    """The entries of each component never fall."""

    each: Pieces = "component"

    def violation(self, B):
        """Return the deepest fall of each component, relative to its largest entry."""
        rows = pieces(B, self.each)
        falls = np.maximum(-np.diff(rows, axis=1), 0.0).max(axis=1, initial=0.0)
        return falls / np.maximum(np.abs(rows).max(axis=1), np.finfo(float).tiny)

    def cone(self, B):
        """Return the set as CVXPY states it."""
        return [cp.diff(B, axis=1 if self.each == "component" else 0) >= 0]

    def project(self, B):
        """Return the nearest rising components, by isotonic regression."""
        rows = [isotonic_regression(row).x for row in pieces(B, self.each)]
        return pieces(np.array(rows, dtype=B.dtype), self.each)

    @classmethod
    def examples(cls):
        """Return a point inside and one outside, in both directions."""
        up = np.array([[0.0, 1.0, 1.0, 3.0], [-1.0, 0.0, 2.0, 2.5]])
        return [Example(cls(), up, -up), Example(cls(each="sample"), up.T, up.T[::-1].copy())]


@joint_projection(cn.NonNegative, Rising)
def _rising_orthant(rows, _, rising):
    # Clipping the nearest rising vector gives the nearest one that is non-negative as well.
    return np.maximum([isotonic_regression(row).x for row in rows], 0.0)


def main(output):
    """Recover growth curves from noisy mixtures and save a picture."""
    check_constraint(Rising)
    rng = np.random.default_rng(0)
    time = np.linspace(0, 1, 40)
    curves = 1 / (1 + np.exp(-25 * (time[:, None] - [0.2, 0.5, 0.8])))
    V = curves @ rng.random((3, 30)) + 0.15 * rng.standard_normal((40, 30))
    models = {"non-negative": [cn.NonNegative()], "rising": [cn.NonNegative(), Rising()]}
    plt.style.use("tableau-colorblind10")
    figure, panels = plt.subplots(1, 2, figsize=(5.2, 2.6), sharey=True, layout="constrained")
    for axes, (title, terms) in zip(panels, models.items(), strict=True):
        result = cn.factorize(V, 3, W=terms).solve(cn.HALS(), seed=1)
        print(f"{title}: {result.status.name}, relative error {result.relative_error:.3f}")
        axes.plot(time, result.W / result.W.max(axis=0))
        axes.set(title=title, xlabel="time", xticks=(0, 0.5, 1))
    panels[0].set_ylabel("component")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/custom_constraint.png")
