"""Alternating non-negative least squares."""

from benchmark_utils.ours import ConicNMFSolver

import conicnmf as cn


class Solver(ConicNMFSolver):
    """ANLS of conicnmf."""

    name = "conicnmf-ANLS"

    def method(self):
        """Return the solver."""
        return cn.ANLS()
