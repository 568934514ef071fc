"""Sparse codes of samples in a given dictionary."""

from conicnmf.coding.coders import (
    L0,
    OMP,
    Coder,
    ForwardBackward,
    Lasso,
    LeastSquares,
    SquaredLasso,
    Threshold,
)
from conicnmf.coding.sparse_code import sparse_code

__all__ = [
    "L0",
    "OMP",
    "Coder",
    "ForwardBackward",
    "Lasso",
    "LeastSquares",
    "SquaredLasso",
    "Threshold",
    "sparse_code",
]
