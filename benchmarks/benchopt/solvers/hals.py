"""Component-wise steps in closed form."""

from benchmark_utils.ours import ConicNMFSolver

import conicnmf as cn


class Solver(ConicNMFSolver):
    """HALS of conicnmf."""

    name = "conicnmf-HALS"

    def method(self):
        """Return the solver."""
        return cn.HALS()
