"""Figures, tables and one-file HTML pages from results and comparisons."""

from __future__ import annotations

from conicnmf.report.basis import plot_basis
from conicnmf.report.convergence import plot_convergence
from conicnmf.report.html import html_report
from conicnmf.report.profiles import plot_performance, plot_profile
from conicnmf.report.sparseness import plot_sparseness
from conicnmf.report.tables import to_markdown

__all__ = [
    "html_report",
    "plot_basis",
    "plot_convergence",
    "plot_performance",
    "plot_profile",
    "plot_sparseness",
    "to_markdown",
]
