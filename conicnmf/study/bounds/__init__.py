"""Branch and bound over directions of components: global minima of small problems, with a proof."""

from conicnmf.study.bounds.block import GlobalMinimum, global_block
from conicnmf.study.bounds.whole import global_minimum

__all__ = ["GlobalMinimum", "global_block", "global_minimum"]
