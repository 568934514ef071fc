"""Projected gradients with a line search."""

from benchmark_utils.ours import ConicNMFSolver

import conicnmf as cn


class Solver(ConicNMFSolver):
    """ProjectedGradient of conicnmf."""

    name = "conicnmf-ProjectedGradient"

    def method(self):
        """Return the solver."""
        return cn.ProjectedGradient()
