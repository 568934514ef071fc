"""From CVXPY expressions to variables, terms and addends; nothing a user writes is dropped."""

from conicnmf.model.reading.problem import Reading, read_problem
from conicnmf.model.reading.sparseness import sparseness

__all__ = ["Reading", "read_problem", "sparseness"]
