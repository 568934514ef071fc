"""Data for examples, tests and the published experiments: generated, bundled, local or downloaded.

Every data matrix is features × samples. Nothing is read or imported before it is needed.
"""

from __future__ import annotations

from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets._load import DATASETS, Available, available, load, names
from conicnmf.datasets.factors import low_rank, paatero, synthetic_dictionary, three_factors
from conicnmf.datasets.pictures import bars, swimmer

__all__ = [
    "DATASETS",
    "Available",
    "Dataset",
    "available",
    "bars",
    "load",
    "low_rank",
    "names",
    "paatero",
    "swimmer",
    "synthetic_dictionary",
    "three_factors",
]
