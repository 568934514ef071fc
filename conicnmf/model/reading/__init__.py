"""From CVXPY expressions to variables, terms and addends; nothing a user writes is dropped."""

from conicnmf.model.reading.problem import Reading, read_problem
from conicnmf.model.reading.sparseness import sparseness
from conicnmf.model.reading.statement import has_parameters

__all__ = ["Reading", "has_parameters", "read_problem", "sparseness"]
