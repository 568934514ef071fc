"""Solvers compared fairly: the same problems, starts and stopping for all of them."""

from __future__ import annotations

from conicnmf.study.compare.comparison import Comparison
from conicnmf.study.compare.plan import compare

__all__ = ["Comparison", "compare"]
