"""Lee and Seung's updates."""

from benchmark_utils.ours import ConicNMFSolver

import conicnmf as cn


class Solver(ConicNMFSolver):
    """Multiplicative of conicnmf."""

    name = "conicnmf-Multiplicative"

    def method(self):
        """Return the solver."""
        return cn.Multiplicative()
