"""NMF of scikit-learn: coordinate descent and multiplicative updates."""

import warnings

import numpy as np
from benchopt import BaseSolver
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning


class Solver(BaseSolver):
    """It has no bound on sparseness, so it takes part where none is asked for."""

    name = "scikit-learn"
    sampling_strategy = "iteration"
    requirements = ["scikit-learn"]  # noqa: RUF012  benchopt reads it as a literal
    parameters = {"solver": ["cd", "mu"]}  # noqa: RUF012

    def skip(self, V, rank, sparseness, start):
        """Say that bounds on sparseness cannot be stated."""
        return bool(sparseness), "it has no bound on sparseness" if sparseness else None

    def set_objective(self, V, rank, sparseness, start):
        """Keep the data as the library wants it."""
        self.V, self.rank, self.start = np.ascontiguousarray(V), rank, start

    def run(self, n_iter):
        """Run so many iterations from the shared start."""
        W, H = (X.copy() for X in self.start)
        if n_iter > 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                W, H, _ = non_negative_factorization(
                    self.V,
                    W,
                    H,
                    self.rank,
                    init="custom",
                    solver=self.solver,
                    tol=0,
                    max_iter=n_iter,
                )
        self.W, self.H = W, H

    def get_result(self):
        """Return the last iterate."""
        return {"W": self.W, "H": self.H}
