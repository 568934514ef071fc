"""Sparse non-negative matrix factorization as convex-optimization modelling.

State a factorization with CVXPY expressions (`Problem`) or from terms (`factorize`), then solve
it with any solver that fits.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import Any as _Any

from conicnmf import coding, datasets, measures
from conicnmf.certify import Certificate, certify
from conicnmf.coding import sparse_code
from conicnmf.compare import Comparison, compare
from conicnmf.constraints import (
    Box,
    Convex,
    Fixed,
    Labels,
    NonNegative,
    NormBall,
    Simplex,
    Sparseness,
    UnitNorm,
)
from conicnmf.engine import solve
from conicnmf.errors import (
    ConicNMFError,
    IncompatibleError,
    InfeasibleError,
    InputError,
    ModelError,
    SolveError,
)
from conicnmf.facade import Problem, factorize
from conicnmf.init import NNDSVD, ConeSearch, Given, Random
from conicnmf.losses import Frobenius, WeightedFrobenius
from conicnmf.multistart import Multistart, multistart
from conicnmf.penalties import L1, L2, ConvexPenalty, SparsenessReward
from conicnmf.recognise import sparseness
from conicnmf.result import History, Result, Status, load
from conicnmf.selection import RankChoice, Stability, cross_validate_rank, path, stability
from conicnmf.solvers import (
    ANLS,
    HALS,
    Chain,
    Coded,
    JointNLP,
    Multiplicative,
    ProjectedGradient,
    SparsityMaximization,
    TangentPlane,
)
from conicnmf.stop import FactorChange, MaxIter, RelDecrease, TimeLimit
from conicnmf.warmup import warm_up

__version__ = _version("conicnmf")

_LATER = ("estimators", "report", "reproduce", "testing")
"""Modules that are imported when first used: scikit-learn and matplotlib take their time."""


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _import_module(f"conicnmf.{name}")
    raise AttributeError(f"module 'conicnmf' has no attribute {name!r}")


__all__ = [
    "ANLS",
    "HALS",
    "L1",
    "L2",
    "NNDSVD",
    "Box",
    "Certificate",
    "Chain",
    "Coded",
    "Comparison",
    "ConeSearch",
    "ConicNMFError",
    "Convex",
    "ConvexPenalty",
    "FactorChange",
    "Fixed",
    "Frobenius",
    "Given",
    "History",
    "IncompatibleError",
    "InfeasibleError",
    "InputError",
    "JointNLP",
    "Labels",
    "MaxIter",
    "ModelError",
    "Multiplicative",
    "Multistart",
    "NonNegative",
    "NormBall",
    "Problem",
    "ProjectedGradient",
    "Random",
    "RankChoice",
    "RelDecrease",
    "Result",
    "Simplex",
    "SolveError",
    "Sparseness",
    "SparsenessReward",
    "SparsityMaximization",
    "Stability",
    "Status",
    "TangentPlane",
    "TimeLimit",
    "UnitNorm",
    "WeightedFrobenius",
    "__version__",
    "certify",
    "coding",
    "compare",
    "cross_validate_rank",
    "datasets",
    "estimators",
    "factorize",
    "load",
    "measures",
    "multistart",
    "path",
    "report",
    "solve",
    "sparse_code",
    "sparseness",
    "stability",
    "warm_up",
]
