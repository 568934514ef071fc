"""Published experiments, repeated: published and measured figures side by side.

    conicnmf reproduce --list
    conicnmf reproduce heiler-paatero --output runs

One file an experiment; each states what was published, runs on the package's public names, and
ends with a verdict and its reason.
"""

from __future__ import annotations

from experiments.experiment import Experiment, Outcome, Setup
from experiments.registry import EXPERIMENTS, find, reproduce
from experiments.write import as_table, write

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Outcome",
    "Setup",
    "as_table",
    "find",
    "reproduce",
    "write",
]
