"""Matrices in strips of columns, on disk or on a cluster, and crews that work on them.

Nothing here knows a model: a reader loads a strip, a crew applies a function to one strip after the
other where it is, and what comes back is added up.
"""

from conicnmf.strips.crew import Crew
from conicnmf.strips.local import LocalCrew
from conicnmf.strips.matrix import Strips
from conicnmf.strips.readers import Reader
from conicnmf.strips.source import as_source, is_large

__all__ = ["Crew", "LocalCrew", "Reader", "Strips", "as_source", "is_large"]
