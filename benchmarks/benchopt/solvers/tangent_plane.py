"""Cone programs over tangent planes, with the native engine where it fits."""

from benchmark_utils.ours import ConicNMFSolver

import conicnmf as cn


class Solver(ConicNMFSolver):
    """TangentPlane of conicnmf."""

    name = "conicnmf-TangentPlane"

    def method(self):
        """Return the solver."""
        return cn.TangentPlane()
