"""The sections of a page on one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conicnmf.report.basis import plot_basis
from conicnmf.report.components import Components, components_of, fits, pieces_of
from conicnmf.report.convergence import plot_convergence
from conicnmf.report.page import (
    code,
    figure_html,
    heading,
    paragraph,
    section,
    status_note,
    table_html,
)
from conicnmf.report.sparseness import plot_sparseness
from conicnmf.report.tables import (
    certificate_table,
    environment_table,
    number,
    result_table,
    top_table,
    violation_table,
)
from conicnmf.results import Result
from conicnmf.study.certificate import Certificate

Shape = tuple[int, int] | None
Certificates = Certificate | Mapping[str, Certificate] | None


def result_sections(
    result: Result, image_shape: Shape, certificates: Certificates
) -> Iterator[str]:
    """Yield the sections of a page on one result."""
    yield section("Summary", table_html(result_table(result)))
    yield section(
        "Status",
        status_note(result.status.name, result.status.kind, result.status.value),
        *map(paragraph, result.remarks),
    )
    yield section("Problem", code(result.problem_text))
    shown = components_of(result, image_shape)
    if shown:
        yield section("Basis", *(basis(result, part, image_shape) for part in shown))
    if result.names.rows or result.names.columns:
        yield section("Names", *_named(result))
    yield section(
        "Convergence",
        figure_html(
            plot_convergence(result),
            f"Objective of {result.solver_text} over time, {result.n_iter} iterations, "
            f"ending at {number(result.objective, 6)}.",
            "How far the objective was above its best value; the axis ends at a millionth of it.",
        ),
    )
    if pieces_of(result):
        yield section("Sparseness", _sparseness(result))
    stated = table_html(violation_table(result)) if result.violation else paragraph("None stated.")
    yield section("Constraints", stated)
    yield certificate_section(certificates)
    yield section("Environment", table_html(environment_table(result)))


def basis(result: Result, part: Components, image_shape: Shape, caption: str = "") -> str:
    """Return a figure of some components, as images where they have as many entries as pixels."""
    images = part.words == "columns of W" or fits(part.matrix, image_shape)
    shape = image_shape if images else None
    form = "profiles" if shape is None else "images"
    count = part.matrix.shape[1]
    alt = f"The {count} {part.words} found by {result.solver_text}, as {form}."
    words = caption or f"{part.words[0].upper()}{part.words[1:]}, each on its own scale."
    return figure_html(plot_basis(part.matrix, shape, feature_names=part.names or None), alt, words)


def _named(result: Result) -> Iterator[str]:
    """Yield the largest entries of each component by name: its features, then its samples."""
    for kind, what in {"rows": "features", "columns": "samples"}.items():
        for name in getattr(result.names, kind):
            of = " of each component" if result.side(name) else ""  # an offset has none
            yield paragraph(f"The {what}{of} with the largest entries in {name}.", "soft")
            yield table_html(top_table(result.top(10, of=name)))


def certificate_section(certificates: Certificates) -> str:
    """Return the checks of one certificate, or of several by name."""
    if certificates is None:
        remedy = "No certificate was requested; result.certificate() computes one."
        return section("Certificate", paragraph(remedy, "soft"))
    if isinstance(certificates, Certificate):
        return section("Certificate", *_certificate(certificates))
    parts = [
        part for name, one in certificates.items() for part in (heading(name), *_certificate(one))
    ]
    return section("Certificates", *parts)


def _certificate(certificate: Certificate) -> Iterator[str]:
    failed = [check.name for check in certificate.checks if not check.ok]
    if failed:
        listed = ", ".join(failed)
        yield status_note("NOT CERTIFIED", "stopped", f"Beyond the tolerance: {listed}.")
    else:
        yield status_note(
            "CERTIFIED", "converged", "All checks passed, independently of the solver."
        )
    yield table_html(certificate_table(certificate))


def _sparseness(result: Result) -> str:
    listed = ", ".join(pieces_of(result))
    return figure_html(
        plot_sparseness(result),
        f"Histograms of the Hoyer sparseness of {listed}.",
        "Hoyer sparseness: 0 when all entries are equal, 1 for a single entry. "
        "The vertical line is the median.",
    )
