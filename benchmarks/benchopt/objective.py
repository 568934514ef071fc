"""‖V − W H‖²/‖V‖² with W, H ≥ 0 and, where asked for, every column of W at least so sparse."""

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """What is minimized, and what every answer is measured by; nothing but NumPy is needed."""

    name = "Sparse NMF"
    min_benchopt_version = "1.7"
    requirements = ["numpy"]  # noqa: RUF012  benchopt reads it as a literal
    parameters = {"rank": [10], "sparseness": [0.0, 0.75]}  # noqa: RUF012
    test_config = {"rank": 2}  # noqa: RUF012

    def set_data(self, V):
        """Keep the data and draw the start, which all solvers share within a repetition."""
        self.V = V
        self.size = float(np.vdot(V, V))
        rng = np.random.default_rng(self.get_seed(use_dataset=True, use_repetition=True))
        scale = np.sqrt(max(V.mean(), np.finfo(float).tiny) / self.rank)
        self.start = tuple(
            2 * scale * rng.random(shape)
            for shape in ((V.shape[0], self.rank), (self.rank, V.shape[1]))
        )

    def get_objective(self):
        """Return what a solver is told."""
        return {"V": self.V, "rank": self.rank, "sparseness": self.sparseness, "start": self.start}

    def evaluate_result(self, W, H):
        """Return the relative error, and in its own column how far a constraint is violated."""
        residual = self.V - W @ H
        return {
            "value": float(np.vdot(residual, residual)) / self.size,
            "violation": self._violation(W, H),
        }

    def _violation(self, W, H):
        below = max(0.0, -float(W.min()), -float(H.min()))
        if not self.sparseness:
            return below
        sizes = np.linalg.norm(W, axis=0)
        if not sizes.all():
            return np.inf  # the sparseness of a zero column is not defined
        root = np.sqrt(len(W))
        sparse = (root - np.abs(W).sum(axis=0) / sizes) / (root - 1)
        return max(below, self.sparseness - float(sparse.min()))

    def get_one_result(self):
        """Return an answer of the right form."""
        W, H = self.start
        return {"W": W, "H": H}
