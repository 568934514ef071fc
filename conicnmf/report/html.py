"""`html_report`: a result or a comparison as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conicnmf.errors import InputError
from conicnmf.report.comparison_page import comparison_sections, lead
from conicnmf.report.page import page, write_page
from conicnmf.report.result_page import Certificates, Shape, result_sections
from conicnmf.results import Result
from conicnmf.settings import Count, Place, checks_arguments
from conicnmf.study.compare import Comparison


@checks_arguments
def html_report(
    content: Result | Comparison,
    path: Place,
    *,
    title: str = "conicnmf report",
    image_shape: tuple[Count, Count] | None = None,
    certificate: Certificates = None,
) -> Path:
    """Write a result or a comparison as one HTML file with its pictures inside.

    Parameters
    ----------
    content : Result or Comparison
    path : path
        The file to write; its folder is made if need be.
    title : str
        The heading.
    image_shape : tuple of int, optional
        (rows, columns) of a column of W seen as an image, row by row.
    certificate : Certificate, or dict of str to Certificate, optional
        What was checked, see `Result.certificate`; shown as a table.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn, tempfile
    >>> from conicnmf.report import html_report
    >>> result = cn.factorize(np.eye(4), 2).solve()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     html_report(result, folder + "/eye.html", certificate=result.certificate()).name
    'eye.html'
    """
    words, sections = _parts(content, image_shape, certificate)
    text = page(title, words, sections)
    return write_page(Path(path), text)


def _parts(
    content: Any, image_shape: Shape, certificate: Certificates
) -> tuple[str, Iterator[str]]:
    if isinstance(content, Result):
        return content.solver_text, result_sections(content, image_shape, certificate)
    if isinstance(content, Comparison):
        return lead(content), comparison_sections(content, image_shape, certificate)
    kind = type(content).__name__
    raise InputError(f"html_report shows a Result or a Comparison, got {kind}; solve first")
