"""Sparse codes of samples in a given dictionary."""

from conicnmf.families.coding.coded import Coded
from conicnmf.families.coding.coders import (
    L0,
    OMP,
    Coder,
    ForwardBackward,
    Lasso,
    LeastSquares,
    SquaredLasso,
    Threshold,
)
from conicnmf.families.coding.exact_l0 import BranchAndBound
from conicnmf.families.coding.sparse_code import sparse_code
from conicnmf.families.coding.thresholding import IterativeThreshold
from conicnmf.solve.methods.base import register_solvers

__all__ = [
    "L0",
    "OMP",
    "BranchAndBound",
    "Coded",
    "Coder",
    "ForwardBackward",
    "IterativeThreshold",
    "Lasso",
    "LeastSquares",
    "SquaredLasso",
    "Threshold",
    "sparse_code",
]

register_solvers(Coded)
