"""Symmetric matrices that may never be formed: known by their products with W."""

from conicnmf.model.operators.base import Operator, Point
from conicnmf.model.operators.inputs import as_operator, as_symmetric
from conicnmf.model.operators.low_rank import LowRank
from conicnmf.model.operators.matrices import Moments, Products, Symmetric, dense
from conicnmf.model.operators.spectrum import generalized_lowest

__all__ = [
    "LowRank",
    "Moments",
    "Operator",
    "Point",
    "Products",
    "Symmetric",
    "as_operator",
    "as_symmetric",
    "dense",
    "generalized_lowest",
]
