"""The sections of a page on a comparison."""

from __future__ import annotations

from collections.abc import Iterator

from conicnmf.report.components import components_of
from conicnmf.report.page import (
    code,
    figure_html,
    folded,
    gallery,
    heading,
    paragraph,
    section,
    status_note,
    table_html,
)
from conicnmf.report.performance import plot_data_profile, plot_performance
from conicnmf.report.profiles import by_problem, plot_profile
from conicnmf.report.result_page import Certificates, Shape, basis, certificate_section
from conicnmf.report.tables import (
    environment_table,
    number,
    runs_table,
    settings_table,
    significance_table,
    skipped_table,
    summary_tables,
)
from conicnmf.results import Result, Status
from conicnmf.study.compare import Comparison

_MOST_PAIRS = 10

Problems = dict[str, dict[str, list[Result]]]


def comparison_sections(
    comparison: Comparison, image_shape: Shape, certificates: Certificates
) -> Iterator[str]:
    """Yield the sections of a page on a comparison."""
    yield section(
        "Summary",
        *_summaries(comparison),
        paragraph("Bold: the solver with the lowest objective of any run.", "soft"),
        *map(paragraph, comparison.remarks),
    )
    if comparison.results:
        problems = by_problem(comparison)
        yield section("Problems", *_statements(problems))
        yield section("Bases", *_bases(problems, image_shape))
        yield section("Objective over time", *_profiles(comparison))
        yield section("Performance", *_performances(comparison))
        yield section("Significance", *_significance(comparison))
    if certificates is not None:
        yield certificate_section(certificates)
    runs = runs_table(comparison)
    yield section("Runs", folded(f"All {len(runs.rows)} runs", table_html(runs)))
    yield section("Statuses", *_statuses(comparison))
    skipped = skipped_table(comparison)
    yield section(
        "Skipped pairs",
        table_html(skipped) if skipped.rows else paragraph("Every solver fits every problem."),
    )
    if comparison.settings:
        yield section("Settings", table_html(settings_table(comparison)))
    for result in list(comparison.results.values())[:1]:
        yield section("Environment", table_html(environment_table(result)))


def lead(comparison: Comparison) -> str:
    """Return how much was compared, in words."""
    table = comparison.table
    counts = [(table[name].nunique(), name) for name in ("problem", "solver", "seed")]
    return ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for n, name in counts)


def _summaries(comparison: Comparison) -> Iterator[str]:
    tables = summary_tables(comparison)
    for label, table in tables.items():
        if len(tables) > 1:
            yield heading(label)
        yield table_html(table)


def _statements(problems: Problems) -> Iterator[str]:
    for label, solvers in problems.items():
        if len(problems) > 1:
            yield heading(label)
        yield code(next(iter(solvers.values()))[0].problem_text)


def _bases(problems: Problems, image_shape: Shape) -> Iterator[str]:
    """Yield the first components of every solver's best run."""
    yield paragraph("The best run of each solver; each component on its own scale.", "soft")
    for label, solvers in problems.items():
        if len(problems) > 1:
            yield heading(label)
        pictures = []
        for name, runs in solvers.items():
            best = min(runs, key=lambda run: (run.status.kind == "failed", run.objective))
            for part in components_of(best, image_shape)[:1]:
                caption = f"{name}: objective {number(best.objective, 6)}, {best.status.name}"
                pictures.append(basis(best, part, image_shape, caption))
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
        "Share of each solver's runs whose objective is within x of the best.",
        "Share of runs whose objective is within x of the best one of the same seed.",
    )
    yield figure_html(
        plot_performance(comparison, "seconds"),
        "Share of each solver's runs within 1 % of the best, by time relative to the fastest.",
        "Time to come within 1 % of the best objective, as a multiple of the fastest solver's; a "
        "line that ends below 1 did not always get there.",
    )
    yield figure_html(
        plot_data_profile(comparison),
        "Share of each solver's runs within 1 % of the best, by seconds.",
        "Time to come within 1 % of the best objective of the same seed; a line that ends below 1 "
        "did not always get there.",
    )


def _significance(comparison: Comparison) -> Iterator[str]:
    table = significance_table(comparison)
    if not table.rows:
        yield paragraph("There is only one solver, so there is nothing to compare.")
        return
    shown = table_html(table)
    if len(table.rows) > _MOST_PAIRS:
        shown = folded(f"All {len(table.rows)} pairs, {len(table.strong)} with a finding", shown)
    yield shown
    yield paragraph(
        "Final objectives of the same problem and seed. Ratio: median of the first solver's to the "
        "second's; p: Wilcoxon's signed-rank test after Holm's correction; lower: how often the "
        "first and the second was. Several seeds of one problem tell you about that problem only.",
        "soft",
    )


def _statuses(comparison: Comparison) -> Iterator[str]:
    """Yield every status that occurred, with its advice."""
    known = Status.__members__
    for name in dict.fromkeys(comparison.table["status"]):
        if name in known:
            yield status_note(name, known[name].kind, known[name].value)
