"""Starting points, and how any of them is brought into the constraint set."""

from conicnmf.solve.starts.columns import DataColumns
from conicnmf.solve.starts.domain import in_domain
from conicnmf.solve.starts.feasible import feasible_start
from conicnmf.solve.starts.kmeans import KMeans
from conicnmf.solve.starts.nndsvd import NNDSVD
from conicnmf.solve.starts.search import ConeSearch
from conicnmf.solve.starts.simple import STARTS, Given, Init, Random, Start, as_start
from conicnmf.solve.starts.spa import SPA
from conicnmf.solve.starts.vca import VCA

__all__ = [
    "NNDSVD",
    "SPA",
    "STARTS",
    "VCA",
    "ConeSearch",
    "DataColumns",
    "Given",
    "Init",
    "KMeans",
    "Random",
    "Start",
    "as_start",
    "feasible_start",
    "in_domain",
]

STARTS.add("ConeSearch", ConeSearch)
