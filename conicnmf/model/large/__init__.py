"""Factorizations of data in strips of columns: H is in strips as well, and W sees sums over them."""

from conicnmf.model.large.problem import LargeProblem, large_problem

__all__ = ["LargeProblem", "large_problem"]
