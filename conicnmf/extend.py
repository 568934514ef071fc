"""The stable bases on which other packages build terms, losses, solvers, starts and data.

`SOLVERS`, `TERMS`, `LOSSES`, `STARTS` and `DATASETS` are the registries by name, `needs` has what
solvers ask of a block, and `Array`, `Data`, `Factors` and `Need` are names for types.
Everything else that is in no public `__all__` is private and may move.
"""

from conicnmf.datasets import DATASETS, Dataset
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.constraints.joint import joint_projection
from conicnmf.model.known import LOSSES, TERMS
from conicnmf.model.operators import LowRank, Operator
from conicnmf.model.problem import Problem
from conicnmf.model.terms import (
    Constraint,
    Example,
    Halfspaces,
    Loss,
    Penalty,
    Pieces,
    Quadratic,
    Reduced,
    Weighted,
    pieces,
)
from conicnmf.registry import Registry
from conicnmf.results import InnerSolve, Status
from conicnmf.settings import Count, Limit, Positive, Reads, Rule, Settings, Share, Weight, Whole
from conicnmf.solve import needs
from conicnmf.solve.methods.base import (
    SOLVERS,
    BlockSolver,
    Context,
    Need,
    Solver,
    Sweep,
    Update,
    register_solvers,
)
from conicnmf.solve.starts import STARTS, Start
from conicnmf.solve.stop import Stop
from conicnmf.types import Array, Data, Factors

__all__ = [
    "DATASETS",
    "LOSSES",
    "SOLVERS",
    "STARTS",
    "TERMS",
    "Array",
    "BaseProblem",
    "Block",
    "BlockSolver",
    "Constraint",
    "Context",
    "Count",
    "Data",
    "Dataset",
    "Example",
    "Factors",
    "Halfspaces",
    "InnerSolve",
    "Limit",
    "Loss",
    "LowRank",
    "Need",
    "Operator",
    "Penalty",
    "Pieces",
    "Positive",
    "Problem",
    "Quadratic",
    "Reads",
    "Reduced",
    "Registry",
    "Rule",
    "Settings",
    "Share",
    "Solver",
    "Start",
    "Status",
    "Stop",
    "Subproblem",
    "Sweep",
    "Update",
    "Weight",
    "Weighted",
    "Whole",
    "joint_projection",
    "needs",
    "pieces",
    "register_solvers",
]
