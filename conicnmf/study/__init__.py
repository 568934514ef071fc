"""Studies of problems and results: certificates, comparisons, many starts, paths, rank, stability."""

from conicnmf.study import measures
from conicnmf.study.certificate import Certificate, certify
from conicnmf.study.compare import Comparison, compare
from conicnmf.study.multistart import Multistart, multistart
from conicnmf.study.path import Path, path
from conicnmf.study.rank import RankChoice, cross_validate_rank
from conicnmf.study.stability import Stability, stability

__all__ = [
    "Certificate",
    "Comparison",
    "Multistart",
    "Path",
    "RankChoice",
    "Stability",
    "certify",
    "compare",
    "cross_validate_rank",
    "measures",
    "multistart",
    "path",
    "stability",
]
