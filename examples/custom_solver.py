"""Your own solver
===============

A solver updates one factor while the others are fixed; starts, stopping rules, histories,
comparisons and certificates come with the package. This one takes gradient steps of a length that
never raises the objective, and projects.

The picture compares it with two solvers of the package, from the same start.
"""

import sys
import tempfile
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import conicnmf as cn
from conicnmf.extend import BlockSolver, Update, needs
from conicnmf.report import plot_convergence
from conicnmf.testing import check_solver


@dataclass(frozen=True)
class SafeGradient(BlockSolver):
    """Projected gradient steps of length 1/L; the objective never rises.

    With L the largest eigenvalue of G, the loss lies below its tangent plus L/2 times the squared
    distance. The projected step is the lowest point of that bound within the constraints.
    """

    steps: int = 5

    needs: ClassVar = (
        needs.uncapped,
        needs.LossWith(("quadratic",), "which the step length needs"),
        needs.PenaltiesWith(("orthant",), "which the step length needs"),
        needs.orthant_penalties,
        needs.joint_projection,
    )

    def update(self, held, B, memo):
        """Return B after a few steps, the other factor held."""
        block, quadratic = held.block, held.quadratic()
        length = np.linalg.norm(quadratic.G, 2)
        for _ in range(self.steps if length > 0 else 0):
            new = block.projection(B - (quadratic.G @ B - quadratic.C) / length)
            if block.collapsed(new):
                break
            B = new
        return Update(B, memo)


def main(output):
    """Race it against ours from the same start and save a picture."""
    check_solver(SafeGradient())
    data = cn.datasets.paatero()
    problem = cn.factorize(data.V, rank=4, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    results = []
    for solver in (SafeGradient(), SafeGradient(steps=50), cn.ProjectedGradient(), cn.HALS()):
        result = problem.solve(solver, seed=0, stop=200)
        results.append(result)
        print(f"{solver}: {result.status.name}, relative error {result.relative_error:.2e}")
    labels = ["SafeGradient, 5 steps", "SafeGradient, 50 steps", "ProjectedGradient", "HALS"]
    figure = plot_convergence(dict(zip(labels, results, strict=True)), "iterations")
    figure.savefig(output, dpi=160, facecolor="white")
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/custom_solver.png")
