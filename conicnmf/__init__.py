"""Sparse non-negative matrix factorization as convex-optimization modeling.

State a factorization with CVXPY expressions (`Problem`) or from terms (`factorize`), then solve
it with any solver that fits.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from conicnmf import datasets
from conicnmf.errors import (
    ConicNMFError,
    IncompatibleError,
    InfeasibleError,
    InputError,
    MissingExtraError,
    ModelError,
    SolveError,
)
from conicnmf.families import coding, one_factor
from conicnmf.families.coding import KSVD, Coded, Online, sparse_code
from conicnmf.model.composing import Approx, compose
from conicnmf.model.constraints import (
    Box,
    Cardinality,
    Convex,
    FactorNorm,
    FactorSum,
    Fixed,
    Labels,
    Monotone,
    NonNegative,
    NormBall,
    NormIn,
    OnPart,
    Orthogonal,
    Orthonormal,
    ReverseConvex,
    Simplex,
    Sparseness,
    Unimodal,
    UnitNorm,
)
from conicnmf.model.factorize import factorize
from conicnmf.model.losses import (
    Absolute,
    BetaDivergence,
    Frobenius,
    Huber,
    ItakuraSaito,
    KullbackLeibler,
    Logistic,
    WeightedFrobenius,
)
from conicnmf.model.penalties import (
    L1,
    L2,
    L21,
    CappedL1,
    ConcavePenalty,
    ConvexPenalty,
    Gain,
    GraphLaplacian,
    GroupLasso,
    LogSum,
    MinimumVolume,
    NonZeros,
    Nuclear,
    SelfFit,
    Smooth,
    SparsenessReward,
    TotalVariation,
)
from conicnmf.model.problem import Problem
from conicnmf.model.reading import sparseness
from conicnmf.results import History, Result, Status, load
from conicnmf.solve.engine import solve
from conicnmf.solve.methods import (
    ANLS,
    HALS,
    AcceleratedMultiplicative,
    Chain,
    CyclicNewton,
    JointNLP,
    Multiplicative,
    ProjectedGradient,
    Race,
    Smoothing,
    SparsityMaximization,
    Splitting,
    TangentPlane,
)
from conicnmf.solve.starts import (
    NNDSVD,
    SPA,
    VCA,
    ConeSearch,
    DataColumns,
    Given,
    KMeans,
    Random,
)
from conicnmf.solve.stop import FactorChange, MaxIter, RelDecrease, TimeLimit

if _TYPE_CHECKING:
    from conicnmf import estimators, extend, report, testing
    from conicnmf.families import autoencoders
    from conicnmf.families.warm_up import warm_up
    from conicnmf.study import measures
    from conicnmf.study.bounds import GlobalMinimum, global_block, global_minimum
    from conicnmf.study.certificate import Certificate, certify
    from conicnmf.study.compare import Comparison, compare
    from conicnmf.study.multistart import Multistart, multistart
    from conicnmf.study.path import Path, path
    from conicnmf.study.rank import RankChoice, cross_validate_rank
    from conicnmf.study.stability import Stability, stability

__version__ = _version("conicnmf")

_MODULES = {
    "autoencoders": "families.autoencoders",
    "estimators": "estimators",
    "extend": "extend",
    "measures": "study.measures",
    "report": "report",
    "testing": "testing",
}
_NAMES = {
    "Certificate": "study.certificate",
    "Comparison": "study.compare",
    "GlobalMinimum": "study.bounds",
    "Multistart": "study.multistart",
    "Path": "study.path",
    "RankChoice": "study.rank",
    "Stability": "study.stability",
    "certify": "study.certificate",
    "compare": "study.compare",
    "cross_validate_rank": "study.rank",
    "global_block": "study.bounds",
    "global_minimum": "study.bounds",
    "multistart": "study.multistart",
    "path": "study.path",
    "stability": "study.stability",
    "warm_up": "families.warm_up",
}
"""What is imported when it is first used: pandas, scikit-learn and matplotlib take their time."""


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"conicnmf.{_MODULES[name]}")
    if name in _NAMES:
        return getattr(_import_module(f"conicnmf.{_NAMES[name]}"), name)
    raise AttributeError(
        f"module 'conicnmf' has no attribute {name!r}{_place_of(name)}",
        name=name,
        obj=_import_module(__name__),
    )


def _place_of(name: str) -> str:
    """Return where a public name is found that is not at the top."""
    if name.startswith("_"):
        return ""
    homes = {"one_factor": "families.one_factor", "coding": "families.coding"} | _MODULES
    for room in ("estimators", "one_factor", "coding", "autoencoders", "measures", "extend"):
        if name in _import_module(f"conicnmf.{homes[room]}").__all__:
            return f"; write cn.{room}.{name}"
    return ""


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_NAMES})


__all__ = [
    "ANLS",
    "HALS",
    "KSVD",
    "L1",
    "L2",
    "L21",
    "NNDSVD",
    "SPA",
    "VCA",
    "Absolute",
    "AcceleratedMultiplicative",
    "Approx",
    "BetaDivergence",
    "Box",
    "CappedL1",
    "Cardinality",
    "Certificate",
    "Chain",
    "Coded",
    "Comparison",
    "ConcavePenalty",
    "ConeSearch",
    "ConicNMFError",
    "Convex",
    "ConvexPenalty",
    "CyclicNewton",
    "DataColumns",
    "FactorChange",
    "FactorNorm",
    "FactorSum",
    "Fixed",
    "Frobenius",
    "Gain",
    "Given",
    "GlobalMinimum",
    "GraphLaplacian",
    "GroupLasso",
    "History",
    "Huber",
    "IncompatibleError",
    "InfeasibleError",
    "InputError",
    "ItakuraSaito",
    "JointNLP",
    "KMeans",
    "KullbackLeibler",
    "Labels",
    "LogSum",
    "Logistic",
    "MaxIter",
    "MinimumVolume",
    "MissingExtraError",
    "ModelError",
    "Monotone",
    "Multiplicative",
    "Multistart",
    "NonNegative",
    "NonZeros",
    "NormBall",
    "NormIn",
    "Nuclear",
    "OnPart",
    "Online",
    "Orthogonal",
    "Orthonormal",
    "Path",
    "Problem",
    "ProjectedGradient",
    "Race",
    "Random",
    "RankChoice",
    "RelDecrease",
    "Result",
    "ReverseConvex",
    "SelfFit",
    "Simplex",
    "Smooth",
    "Smoothing",
    "SolveError",
    "Sparseness",
    "SparsenessReward",
    "SparsityMaximization",
    "Splitting",
    "Stability",
    "Status",
    "TangentPlane",
    "TimeLimit",
    "TotalVariation",
    "Unimodal",
    "UnitNorm",
    "WeightedFrobenius",
    "__version__",
    "autoencoders",
    "certify",
    "coding",
    "compare",
    "compose",
    "cross_validate_rank",
    "datasets",
    "estimators",
    "extend",
    "factorize",
    "global_block",
    "global_minimum",
    "load",
    "measures",
    "multistart",
    "one_factor",
    "path",
    "report",
    "solve",
    "sparse_code",
    "sparseness",
    "stability",
    "testing",
    "warm_up",
]
