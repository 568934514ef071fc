"""Conformance checks for a new constraint, loss, penalty or solver.

Each check raises an `AssertionError` with a sentence that says which promise was broken and where;
it returns nothing when every promise holds. No test framework is needed.
"""

from conicnmf.testing.constraints import check_constraint
from conicnmf.testing.losses import check_loss
from conicnmf.testing.penalties import check_penalty
from conicnmf.testing.solvers import check_solver

__all__ = ["check_constraint", "check_loss", "check_penalty", "check_solver"]
