"""What losses, constraints and penalties are; an ability is a method that a term defines."""

from conicnmf.model.terms.base import (
    Each,
    Pieces,
    Term,
    along,
    by_rows,
    optional,
    pieces,
    relative_to,
)
from conicnmf.model.terms.constraint import Constraint, Example
from conicnmf.model.terms.forms import Quadratic, Reduced, residual_of
from conicnmf.model.terms.halfspaces import Halfspaces
from conicnmf.model.terms.loss import Loss
from conicnmf.model.terms.penalty import Penalty, Weighted
from conicnmf.model.terms.separable import Separable
from conicnmf.model.terms.stated import check_stated

__all__ = [
    "Constraint",
    "Each",
    "Example",
    "Halfspaces",
    "Loss",
    "Penalty",
    "Pieces",
    "Quadratic",
    "Reduced",
    "Separable",
    "Term",
    "Weighted",
    "along",
    "by_rows",
    "check_stated",
    "optional",
    "pieces",
    "relative_to",
    "residual_of",
]
