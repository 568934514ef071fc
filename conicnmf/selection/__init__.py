"""Choosing the model: paths over a parameter, the rank by held-out entries, stability over seeds."""

from conicnmf.selection.path import Path, path
from conicnmf.selection.rank import RankChoice, cross_validate_rank
from conicnmf.selection.stability import Stability, stability

__all__ = ["Path", "RankChoice", "Stability", "cross_validate_rank", "path", "stability"]
