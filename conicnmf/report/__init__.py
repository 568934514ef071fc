"""Figures, tables and one-file HTML pages from results and comparisons."""

from __future__ import annotations

from conicnmf.report.basis import plot_basis
from conicnmf.report.convergence import plot_convergence
from conicnmf.report.gabor import GaborFits, fit_gabor, plot_gabor
from conicnmf.report.html import html_report
from conicnmf.report.markup import to_latex, to_markdown
from conicnmf.report.performance import plot_data_profile, plot_performance
from conicnmf.report.profiles import plot_profile
from conicnmf.report.selection import plot_consensus, plot_path, plot_rank
from conicnmf.report.sparseness import plot_sparseness

__all__ = [
    "GaborFits",
    "fit_gabor",
    "html_report",
    "plot_basis",
    "plot_consensus",
    "plot_convergence",
    "plot_data_profile",
    "plot_gabor",
    "plot_path",
    "plot_performance",
    "plot_profile",
    "plot_rank",
    "plot_sparseness",
    "to_latex",
    "to_markdown",
]
