"""Any solver of conicnmf as a solver of this benchmark."""

from benchopt import BaseSolver

import conicnmf as cn

ENDLESS = cn.MaxIter(10**9)
"""The benchmark decides when to stop."""


class ConicNMFSolver(BaseSolver):
    """A subclass defines `name` and `method`, which returns the solver with its settings."""

    sampling_strategy = "callback"
    requirements = ["pip::conicnmf"]  # noqa: RUF012  benchopt reads it as a literal

    def method(self):
        """Return the solver."""
        raise TypeError(f"{type(self).__name__} must define method()")

    def skip(self, V, rank, sparseness, start):
        """Say why the solver does not fit, if it does not."""
        reasons = self.method().mismatches(stated(V, rank, sparseness))
        return bool(reasons), "; ".join(reasons) or None

    def set_objective(self, V, rank, sparseness, start):
        """State the problem."""
        self.problem, self.start = stated(V, rank, sparseness), start
        self.W, self.H = start

    def warm_up(self):
        """Compile before anything is timed."""
        self.run_once()

    def run(self, callback):
        """Solve, and hand over every iterate."""

        def seen(iteration, factors):
            self.W, self.H = factors["W"], factors["H"]
            return not callback()

        self.W, self.H = self.start
        if not callback():
            return
        self.problem.solve(self.method(), init=self.start, stop=ENDLESS, callback=seen, throw=False)

    def get_result(self):
        """Return the last iterate."""
        return {"W": self.W, "H": self.H}


def stated(V, rank, sparseness):
    """Return the problem in the words of the package."""
    W = [cn.NonNegative(), *([cn.Sparseness(min=sparseness)] if sparseness else [])]
    return cn.factorize(V, rank, W=W)
