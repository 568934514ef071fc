"""Planted faults: a certificate must not pass a result that was tampered with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .findings import Finding, raw

FAR = 1e-3
"""A planted violation or error is larger than this."""


def planted(case, result):
    """Yield the faults that a certificate passes."""
    if result.status.kind == "failed":
        return
    for name, wrong in _faults(case, result):
        try:
            passed = result.certificate.__func__(wrong).ok
        except Exception as error:
            yield raw(error, "certificate")
            continue
        if passed:
            yield Finding("certified", f"a result with {name}")


def _faults(case, result):
    X = {name: np.asarray(own, dtype=np.float64) for name, own in result.factors.items()}
    size = max(abs(result.objective), FAR * case.size(X))
    if size > 0:
        yield "another objective", replace(result, objective=result.objective + 0.1 * size)
    for name, own in result.factors.items():
        moved = {**X, name: X[name] + 0.3 * (np.abs(X[name]).max() or 1.0)}
        if case.violation(moved)[0] > FAR:
            yield f"{name} out of bounds", replace(
                result,
                factors={**result.factors, name: moved[name].astype(own.dtype)},
                objective=case.objective(moved),
            )
            return
