"""Ranges of cases: run them, count what was found, say it in one line."""

from __future__ import annotations

import time
from collections import Counter

from .cases import draw_case
from .judge.findings import SILENT


def run_range(seed, first, count):
    """Run cases first … first + count − 1; return failures by id, and how often each ending came."""
    failures, ends = {}, Counter()
    for k in range(first, first + count):
        case = draw_case(seed, k)
        end, findings = case.run()
        ends[end] += 1
        if findings:
            failures[case.id] = {f.kind: f.reason for f in findings}
    return failures, dict(ends)


def summary(tried, failures):
    """Return the line that says how it went."""
    kinds = [set(found) for found in failures.values()]
    silent = sum(bool(found & set(SILENT)) for found in kinds)
    raw = sum(any(_is_raw(kind) for kind in found) for found in kinds)
    warned = sum(any(_is_leak(kind) for kind in found) for found in kinds)
    return f"{tried} tried, {silent} silent wrong, {raw} raw exceptions, {warned} leaked warnings"


def _is_raw(kind):
    return kind.split()[0] in ("raw", "certificate", "save", "lost")


def _is_leak(kind):
    return kind.startswith("warning") or kind == "printed"


def lines(failures):
    """Return one line a finding, with the id that runs it again."""
    return [
        f"{name}  {kind}: {reason}"
        for name, found in failures.items()
        for kind, reason in found.items()
    ]


def rerun(name):
    """Print a case and what is wrong with it."""
    seed, k = map(int, name.split(":"))
    case = draw_case(seed, k)
    begin = time.perf_counter()
    end, findings = case.run()
    print(case.text)
    print(f"  {end} in {time.perf_counter() - begin:.2f} s")
    for finding in findings:
        print(f"  {finding.kind}: {finding.reason}")
