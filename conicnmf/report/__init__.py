"""Figures, tables and one-file HTML pages from results and comparisons.

Tables of text need nothing but the package. Pictures and pages need matplotlib, which the extra
`plot` brings; it is loaded when the first of them is used.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from conicnmf.errors import require as _require
from conicnmf.report.markup import to_latex, to_markdown

if _TYPE_CHECKING:
    from conicnmf.report.basis import plot_basis
    from conicnmf.report.convergence import plot_convergence
    from conicnmf.report.gabor import GaborFits, fit_gabor, plot_gabor
    from conicnmf.report.html import html_report
    from conicnmf.report.performance import plot_data_profile, plot_performance
    from conicnmf.report.profiles import plot_profile
    from conicnmf.report.selection import plot_consensus, plot_path, plot_rank
    from conicnmf.report.sparseness import plot_sparseness

_PICTURES = {
    "GaborFits": "gabor",
    "fit_gabor": "gabor",
    "html_report": "html",
    "plot_basis": "basis",
    "plot_consensus": "selection",
    "plot_convergence": "convergence",
    "plot_data_profile": "performance",
    "plot_gabor": "gabor",
    "plot_path": "selection",
    "plot_performance": "performance",
    "plot_profile": "profiles",
    "plot_rank": "selection",
    "plot_sparseness": "sparseness",
}


def __getattr__(name: str) -> _Any:
    if name in _PICTURES:
        _require("matplotlib", "plot", "plots need")
        return getattr(_import_module(f"conicnmf.report.{_PICTURES[name]}"), name)
    raise AttributeError(f"module 'conicnmf.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PICTURES})


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
