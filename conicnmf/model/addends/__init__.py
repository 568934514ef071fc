"""What the objective is a sum of: fits of products to data, and couplings kept as they are stated."""

from conicnmf.model.addends.base import Addend, Kind, View
from conicnmf.model.addends.chain import Chain, Ref
from conicnmf.model.addends.coupling import Coupling
from conicnmf.model.addends.fit import Fit
from conicnmf.model.addends.majorizers import PenaltyView

__all__ = ["Addend", "Chain", "Coupling", "Fit", "Kind", "PenaltyView", "Ref", "View"]
