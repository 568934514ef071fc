"""`html_report`: a result or a comparison as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conicnmf.compare import Comparison
from conicnmf.errors import InputError
from conicnmf.report.basis import plot_basis
from conicnmf.report.convergence import plot_convergence
from conicnmf.report.page import (
    code,
    figure_html,
    folded,
    gallery,
    heading,
    page,
    paragraph,
    section,
    status_note,
    table_html,
)
from conicnmf.report.profiles import by_problem, plot_performance, plot_profile
from conicnmf.report.sparseness import plot_sparseness
from conicnmf.report.tables import (
    number,
    result_table,
    runs_table,
    skipped_table,
    summary_tables,
    version_table,
    violation_table,
)
from conicnmf.result import Result, Status

Shape = tuple[int, int] | None


def html_report(
    content: Result | Comparison,
    path: str | Path,
    *,
    title: str = "conicnmf report",
    image_shape: tuple[int, int] | None = None,
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
    ...     html_report(result, folder + "/eye.html", image_shape=(2, 2)).name
    'eye.html'
    """
    lead, sections = _parts(content, image_shape)
    text = page(title, lead, sections)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _parts(content: Any, image_shape: Shape) -> tuple[str, Iterator[str]]:
    if isinstance(content, Result):
        return content.solver, _result_sections(content, image_shape)
    if isinstance(content, Comparison):
        return _lead(content), _comparison_sections(content, image_shape)
    kind = type(content).__name__
    raise InputError(f"html_report shows a Result or a Comparison, got {kind}; solve first")


def _result_sections(result: Result, image_shape: Shape) -> Iterator[str]:
    """Yield the sections of a page on one result."""
    yield section("Summary", table_html(result_table(result)))
    yield section(
        "Status", status_note(result.status.name, result.status.kind, result.status.value)
    )
    yield section("Problem", code(result.problem))
    if "W" in result.factors:
        yield section("Basis", _basis(result, image_shape, "Columns of W, each on its own scale."))
    yield section(
        "Convergence",
        figure_html(
            plot_convergence(result),
            f"Objective of {result.solver} over time, {result.n_iter} iterations, "
            f"ending at {number(result.objective, 6)}.",
            "How far the objective was above its best value; the axis ends at a millionth of it.",
        ),
    )
    yield section(
        "Sparseness",
        figure_html(
            plot_sparseness(result),
            "Histograms of the Hoyer sparseness of columns of W, rows of H and columns of H.",
            "Hoyer sparseness: 0 when all entries are equal, 1 for a single entry. "
            "The upright line is the median.",
        ),
    )
    stated = table_html(violation_table(result)) if result.violation else paragraph("None stated.")
    yield section("Constraints", stated)
    yield section("Versions", table_html(version_table(result)))


def _comparison_sections(comparison: Comparison, image_shape: Shape) -> Iterator[str]:
    """Yield the sections of a page on a comparison."""
    yield section(
        "Summary",
        *_summaries(comparison),
        paragraph("Bold: the solver with the lowest objective of any run.", "soft"),
    )
    if comparison.results:
        problems = by_problem(comparison)
        yield section("Problems", *_statements(problems))
        yield section("Bases", *_bases(problems, image_shape))
        yield section("Objective over time", *_profiles(comparison))
        yield section("Performance", *_performances(comparison))
    runs = runs_table(comparison)
    yield section("Runs", folded(f"All {len(runs.rows)} runs", table_html(runs)))
    yield section("Statuses", *_statuses(comparison))
    skipped = skipped_table(comparison)
    yield section(
        "Skipped pairs",
        table_html(skipped) if skipped.rows else paragraph("Every solver fits every problem."),
    )
    for result in list(comparison.results.values())[:1]:
        yield section("Versions", table_html(version_table(result)))


def _summaries(comparison: Comparison) -> Iterator[str]:
    tables = summary_tables(comparison)
    for label, table in tables.items():
        if len(tables) > 1:
            yield heading(label)
        yield table_html(table)


def _lead(comparison: Comparison) -> str:
    table = comparison.table
    counts = [(table[name].nunique(), name) for name in ("problem", "solver", "seed")]
    return ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts)


def _basis(result: Result, image_shape: Shape, caption: str) -> str:
    form = "profiles" if image_shape is None else "images"
    alt = f"The {result.W.shape[1]} components found by {result.solver}, as {form}."
    return figure_html(plot_basis(result, image_shape), alt, caption)


Problems = dict[str, dict[str, list[Result]]]


def _statements(problems: Problems) -> Iterator[str]:
    for label, solvers in problems.items():
        if len(problems) > 1:
            yield heading(label)
        yield code(next(iter(solvers.values()))[0].problem)


def _bases(problems: Problems, image_shape: Shape) -> Iterator[str]:
    """Yield the basis of every solver's best run."""
    yield paragraph("The best run of each solver; each component on its own scale.", "soft")
    for label, solvers in problems.items():
        if len(problems) > 1:
            yield heading(label)
        pictures = []
        for name, runs in solvers.items():
            best = min(runs, key=lambda run: (run.status.kind == "failed", run.objective))
            if "W" in best.factors:
                caption = f"{name}: objective {number(best.objective, 6)}, {best.status.name}"
                pictures.append(_basis(best, image_shape, caption))
        yield gallery(pictures)


def _profiles(comparison: Comparison) -> Iterator[str]:
    yield figure_html(
        plot_profile(comparison),
        "Best objective that each solver had reached at each time, relative to the best of all.",
        "Medians over the seeds; bands reach from the best seed to the worst.",
    )


def _performances(comparison: Comparison) -> Iterator[str]:
    yield figure_html(
        plot_performance(comparison, "objective"),
        "Fraction of each solver's runs whose objective is within a gap of the best.",
        "How often a solver comes how close to the best objective of the same seed.",
    )
    yield figure_html(
        plot_performance(comparison, "seconds"),
        "Fraction of each solver's runs that come close to the best within a factor of time.",
        "How often a solver gets there how fast; a line that ends below 1 did not always.",
    )


def _statuses(comparison: Comparison) -> Iterator[str]:
    """Yield every status that occurred, with its advice."""
    known = Status.__members__
    for name in dict.fromkeys(comparison.table["status"]):
        if name in known:
            yield status_note(name, known[name].kind, known[name].value)
