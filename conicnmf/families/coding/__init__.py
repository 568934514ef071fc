"""Sparse codes of samples in a given dictionary."""

from conicnmf.families.coding.atoms import AtomByAtom
from conicnmf.families.coding.coded import Coded
from conicnmf.families.coding.coders import (
    L0,
    OMP,
    Coder,
    DictionaryStep,
    ForwardBackward,
    Lasso,
    LeastSquares,
    SquaredLasso,
    Threshold,
)
from conicnmf.families.coding.exact_l0 import BranchAndBound
from conicnmf.families.coding.group_pursuit import GroupOMP
from conicnmf.families.coding.ksvd import KSVD
from conicnmf.families.coding.online import Online
from conicnmf.families.coding.sparse_code import sparse_code
from conicnmf.families.coding.thresholding import IterativeThreshold
from conicnmf.solve.methods.base import register_solvers

__all__ = [
    "KSVD",
    "L0",
    "OMP",
    "AtomByAtom",
    "BranchAndBound",
    "Coded",
    "Coder",
    "DictionaryStep",
    "ForwardBackward",
    "GroupOMP",
    "IterativeThreshold",
    "Lasso",
    "LeastSquares",
    "Online",
    "SquaredLasso",
    "Threshold",
    "sparse_code",
]

register_solvers(Coded, KSVD, Online)
