"""Planted faults: a certificate must not pass a result that was tampered with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .findings import Finding, raw

FAR = 1e-3
"""A planted violation or error is larger than this."""


def planted(case, made):
    """Yield the faults that a certificate passes."""
    if made.result.status.kind == "failed":
        return
    for name, wrong in _faults(case, made):
        try:
            passed = wrong.certificate().ok
        except Exception as error:
            yield raw(error, "certificate")
            continue
        if passed:
            yield Finding("certified", f"a result with {name}")


def _faults(case, made):
    result, X = made.result, made.X
    size = max(abs(result.objective), FAR * case.size(X))
    if size > 0:
        yield "another objective", replace(result, objective=result.objective + 0.1 * size)
    if any(name not in result.factors or result[name].shape != X[name].shape for name in X):
        return  # they have other names in the problem, or are turned
    for name, own in X.items():
        moved = {**X, name: own + 0.3 * (np.abs(own).max() or 1.0)}
        if case.violation(moved)[0] > FAR:
            kind = result.factors[name].dtype
            factors = {**result.factors, name: moved[name].astype(kind)}
            wrong = replace(result, factors=factors, objective=case.objective(moved))
            yield f"{name} out of bounds", wrong
            return
