"""Strips that the workers of a Dask cluster hold; nothing outside this folder imports Dask."""

from conicnmf.strips.cluster.crew import DaskCrew
from conicnmf.strips.cluster.reader import DaskReader

__all__ = ["DaskCrew", "DaskReader"]
