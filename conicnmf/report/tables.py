"""Results and comparisons as tables of text, for pages, terminals and other programs."""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from conicnmf.results import Result
from conicnmf.results.named import Top
from conicnmf.study.certificate import Certificate
from conicnmf.study.compare import Comparison


@dataclass(frozen=True)
class Table:
    """Rows of text under headers; `numeric` columns are set to the right, `strong` rows stand out.

    Examples
    --------
    >>> Table(["solver", "seed", "seconds"], [["HALS", "0", "0.1"]]).without("seed").rows
    [['HALS', '0.1']]
    """

    headers: list[str]
    rows: list[list[str]]
    numeric: frozenset[str] = frozenset()
    strong: frozenset[int] = frozenset()

    def without(self, *headers: str) -> Table:
        """Return the table with fewer columns."""
        kept = [i for i, header in enumerate(self.headers) if header not in headers]
        rows = [[row[i] for i in kept] for row in self.rows]
        return replace(self, headers=[self.headers[i] for i in kept], rows=rows)


def number(value: float, digits: int = 4) -> str:
    """Return a number as short text, a dash where there is none.

    Examples
    --------
    >>> number(0.123456), number(1234567.0), number(float("nan"))
    ('0.1235', '1.235e+06', '–')
    """
    return "–" if np.isnan(value) else f"{value:.{digits}g}"


def result_table(result: Result) -> Table:
    """Return the figures that sum up a result."""
    shapes = ", ".join(
        f"{name} {' × '.join(map(str, X.shape))}" for name, X in result.factors.items()
    )
    seed = "none" if result.seed is None else str(result.seed)
    rows = [
        ["solver", result.solver_text],
        ["status", f"{result.status.name} ({result.status.kind})"],
        ["objective", number(result.objective, 8)],
        ["relative error", number(result.relative_error, 5)],
        *_errors_by_fit(result),
        ["largest violation", number(result.max_violation, 2)],
        ["iterations", str(result.n_iter)],
        ["seconds", number(result.seconds, 3)],
        ["seed", seed],
        ["factors", shapes],
    ]
    return Table(["quantity", "value"], rows)


def _errors_by_fit(result: Result) -> list[list[str]]:
    """Return a row for each matrix of data where there are several."""
    errors = result.relative_errors if len(result.relative_errors) > 1 else {}
    return [[f"relative error of {name}", number(error, 5)] for name, error in errors.items()]


def violation_table(result: Result) -> Table:
    """Return the largest violation of each constraint."""
    rows = [[name, number(value, 2)] for name, value in result.violation.items()]
    return Table(["constraint", "largest violation"], rows, frozenset({"largest violation"}))


def top_table(top: Top) -> Table:
    """Return the largest entries of each component, one component a row."""
    rows = [
        [component, ", ".join(f"{name} ({number(value, 3)})" for name, value in entries)]
        for component, entries in top.entries.items()
    ]
    return Table(["component", "largest entries"], rows)


def environment_table(result: Result) -> Table:
    """Return the packages a result was made with, and where it was written down."""
    here = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    rows = [list(pair) for pair in result.versions.items()]
    return Table(["package", "version"], [*rows, ["this page", here]])


def certificate_table(certificate: Certificate) -> Table:
    """Return the checks of a certificate; those that failed stand out."""
    rows = [
        [
            f"{check.name}: {check.note}" if check.note else check.name,
            "ok" if check.ok else "FAIL",
            number(check.measured, 3),
            number(check.tolerance, 1),
        ]
        for check in certificate.checks
    ]
    failed = frozenset(i for i, check in enumerate(certificate.checks) if not check.ok)
    headers = ["check", "verdict", "measured", "tolerance"]
    return Table(headers, rows, frozenset(headers[2:]), failed)


def settings_table(comparison: Comparison) -> Table:
    """Return what was the same for all runs."""
    return Table(["setting", "value"], [list(pair) for pair in comparison.settings.items()])


def significance_table(comparison: Comparison) -> Table:
    """Return the signed-rank tests of every pair of solvers; findings stand out."""
    frame = comparison.significance()
    rows = [
        [
            f"{line['first']} : {line['second']}",
            line["finding"],
            *(number(line[name], 3) for name in ("ratio", "p_holm")),
            f"{line['lower']} : {line['higher']} of {line['pairs']}",
        ]
        for line in frame.to_dict("records")
    ]
    strong = frozenset(i for i, row in enumerate(rows) if row[1].endswith("is lower"))
    headers = ["solvers", "finding", "ratio", "p", "lower"]
    return Table(headers, rows, frozenset(headers[2:]), strong)


def summary_table(comparison: Comparison) -> Table:
    """Return one row a problem and solver; the solver with a problem's best run stands out."""
    summary = comparison.summary().reset_index()
    winners = _winners(comparison)
    digits = {"best": 6, "objective": 6, "relative_error": 4, "violation": 2, "iterations": 4}
    rows, strong = [], set()
    for i, line in enumerate(summary.to_dict("records")):
        time = f"{line['seconds']:.2g} ± {line['seconds_sd']:.1g}"
        rows.append(
            [
                line["problem"],
                line["solver"],
                *(number(line[name], d) for name, d in digits.items()),
                number(line["seconds"]) if np.isnan(line["seconds"]) else time,
                line["status"],
            ]
        )
        if winners.get(line["problem"]) == line["solver"]:
            strong.add(i)
    numeric = ["best objective", "mean objective", "relative error", "violation", "iterations"]
    headers = ["problem", "solver", *numeric, "seconds", "status"]
    return Table(headers, rows, frozenset([*numeric, "seconds"]), frozenset(strong))


def summary_tables(comparison: Comparison) -> dict[str, Table]:
    """Return the summary of each problem, by its name."""
    whole = summary_table(comparison)
    tables = {}
    for problem in dict.fromkeys(row[0] for row in whole.rows):
        mine = [i for i, row in enumerate(whole.rows) if row[0] == problem]
        strong = frozenset(new for new, old in enumerate(mine) if old in whole.strong)
        rows = [whole.rows[i] for i in mine]
        tables[problem] = replace(whole, rows=rows, strong=strong).without("problem")
    return tables


def runs_table(comparison: Comparison) -> Table:
    """Return one row a run that took place, with the reason if one failed."""
    digits = {"objective": 8, "relative_error": 5, "violation": 2, "iterations": 6, "seconds": 3}
    runs = comparison.table[comparison.table["status"] != "SKIPPED"]
    rows = [
        [
            *(str(line[name]) for name in ("problem", "solver", "seed")),
            *(number(line[name], d) for name, d in digits.items()),
            *(str(line[name]) for name in ("status", "reason")),
        ]
        for line in runs.to_dict("records")
    ]
    numeric = [name.replace("_", " ") for name in digits]
    headers = ["problem", "solver", "seed", *numeric, "status", "reason"]
    table = Table(headers, rows, frozenset(["seed", *numeric]))
    return table if any(row[-1] for row in rows) else table.without("reason")


def skipped_table(comparison: Comparison) -> Table:
    """Return the pairs of problem and solver that do not fit, with the reason."""
    skipped = comparison.table[comparison.table["status"] == "SKIPPED"]
    pairs = skipped[["solver", "problem", "reason"]].drop_duplicates()
    return Table(["solver", "problem", "reason"], pairs.astype(str).to_numpy().tolist())


def _winners(comparison: Comparison) -> dict[str, str]:
    """Return the solver with the lowest objective of a run that did not fail, by problem."""
    runs = [
        (problem, solver, result.objective)
        for (problem, solver, _), result in comparison.results.items()
        if result.status.kind != "failed"
    ]
    frame = pd.DataFrame(runs, columns=["problem", "solver", "objective"])
    best = frame.sort_values("objective", kind="stable").drop_duplicates("problem")
    return dict(zip(best["problem"], best["solver"], strict=True))
