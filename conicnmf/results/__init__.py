"""What a solve returns: the result, its history and its status; data only, saved and loaded."""

from conicnmf.results.history import History, InnerSolve, Iteration
from conicnmf.results.result import Result
from conicnmf.results.saved import load
from conicnmf.results.status import Promises, Status

__all__ = ["History", "InnerSolve", "Iteration", "Promises", "Result", "Status", "load"]
