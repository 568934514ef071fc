"""The summary of a comparison as text for other programs: Markdown and LaTeX."""

from __future__ import annotations

import re
from html import escape

from conicnmf.report.tables import Table, summary_table, summary_tables
from conicnmf.settings import checks_arguments
from conicnmf.study.compare import Comparison

_LATEX = {
    "\\": r"\textbackslash{}",
    **{mark: "\\" + mark for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "→": r"$\to$",
    "≈": r"$\approx$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "–": "--",
    "\n": " ",
}


@checks_arguments
def to_markdown(comparison: Comparison) -> str:
    """Return the summary of a comparison as a Markdown table, the best of each problem in bold.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import to_markdown
    >>> problem = cn.factorize(np.ones((4, 3)), 1)
    >>> print(to_markdown(cn.compare(problem, [cn.HALS()], seeds=[0])))
    | solver | best objective | ...
    """
    table = _one_table(comparison)
    rule = ["---:" if header in table.numeric else "---" for header in table.headers]
    lines = [_markdown_row(table.headers), _markdown_row(rule)]
    for i, row in enumerate(table.rows):
        cells = [_markdown(cell) for cell in row]
        lines.append(_markdown_row([f"**{c}**" if i in table.strong else c for c in cells]))
    return "\n".join(lines)


@checks_arguments
def to_latex(comparison: Comparison) -> str:
    r"""Return the summary of a comparison as a LaTeX tabular, for a page with the booktabs package.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.report import to_latex
    >>> problem = cn.factorize(np.ones((4, 3)), 1)
    >>> print(to_latex(cn.compare(problem, [cn.HALS()], seeds=[0])))
    \begin{tabular}{lrrrrrrl}
    \toprule
    solver & best objective & ...
    """
    table = _one_table(comparison)
    sides = "".join("r" if header in table.numeric else "l" for header in table.headers)
    lines = [f"\\begin{{tabular}}{{{sides}}}", r"\toprule", _latex_row(table.headers), r"\midrule"]
    for i, row in enumerate(table.rows):
        cells = [_latex(cell) for cell in row]
        lines.append(_latex_row([rf"\textbf{{{c}}}" if i in table.strong else c for c in cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _one_table(comparison: Comparison) -> Table:
    """Return the summary, without the problem's name where there is only one."""
    tables = summary_tables(comparison)
    return next(iter(tables.values())) if len(tables) == 1 else summary_table(comparison)


def _markdown(text: str) -> str:
    """Return text that no page takes for markup; marks within a word are none."""
    safe = re.sub(r"([\\`*\[\]|]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", escape(text, quote=False))
    return safe.replace("\n", " ")


def _markdown_row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)
