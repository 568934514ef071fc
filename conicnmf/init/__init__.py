"""Starting points, and how any of them is brought into the constraint set."""

from conicnmf.init.feasible import feasible_start
from conicnmf.init.search import ConeSearch
from conicnmf.init.starts import NNDSVD, Given, Random, Start, as_start

__all__ = ["NNDSVD", "ConeSearch", "Given", "Random", "Start", "as_start", "feasible_start"]
