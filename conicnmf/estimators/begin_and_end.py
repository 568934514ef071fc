"""Where scikit-learn's coordinate descent begins, and when its solvers end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.model.problem import Problem
from conicnmf.results import History, Status
from conicnmf.settings import Weight
from conicnmf.solve.methods import HALS
from conicnmf.solve.starts import Start
from conicnmf.solve.stop import Stop, settled
from conicnmf.types import Factors

SWEEP = HALS(sweeps=1, extrapolate=False)
"""One visit of every component: what scikit-learn calls "cd"."""
_WINDOW = 10


@dataclass(frozen=True)
class CodesFirst(Start):
    """A start whose codes are improved by one sweep, as "cd" begins with the codes.

    The codes of NNDSVD are the poorer half: components that are improved first may vanish, and with
    them what their codes were.
    """

    inner: Start

    def factors(self, problem: Problem, rng: np.random.Generator) -> Factors:
        """Improve the codes of the other start."""
        begun = self.inner.factors(problem, rng)
        block = next(block for block in problem.blocks if block.name == "H")
        if "quadratic" not in block.abilities:  # weights for missing entries
            return begun
        B, _ = SWEEP.minimize(block.given(begun), block.rows(begun))
        return block.put(begun, B)


@dataclass(frozen=True)
class FallFromStart(Stop):
    """End when √objective fell by less than `tol` of its first value in ten iterations.

    Examples
    --------
    >>> from conicnmf.results import Iteration
    >>> flat = History([Iteration(k, 4.0, 0.0, 0.0, 1.0) for k in range(11)])
    >>> FallFromStart(1e-4).check(flat).name
    'CONVERGED'
    """

    tol: Weight = 1e-4

    def check(self, history: History) -> Status | None:
        """Compare the root of the best objective with that of ten iterations ago."""
        # Looked at every tenth time only: single and double precision end together.
        if len(history) <= _WINDOW or history[-1].iteration % _WINDOW:
            return None
        first, before, now = (history.lowest[k] for k in (0, -1 - _WINDOW, -1))
        if not np.isfinite(before):
            return None
        unit = np.sqrt(abs(first if np.isfinite(first) else before))
        fall = np.sqrt(abs(before)) - np.sqrt(abs(now))
        return settled(history) if fall < self.tol * unit or fall == 0 else None
