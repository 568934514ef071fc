"""Starting points, and how any of them is brought into the constraint set."""

from conicnmf.solve.starts.domain import in_domain
from conicnmf.solve.starts.feasible import feasible_start
from conicnmf.solve.starts.nndsvd import NNDSVD
from conicnmf.solve.starts.search import ConeSearch
from conicnmf.solve.starts.simple import STARTS, Given, Init, Random, Start, as_start

__all__ = [
    "NNDSVD",
    "STARTS",
    "ConeSearch",
    "Given",
    "Init",
    "Random",
    "Start",
    "as_start",
    "feasible_start",
    "in_domain",
]

STARTS.add("ConeSearch", ConeSearch)
