"""What users do with a result: certify it, save it, solve once more, go on, change the units."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import conicnmf as cn

from .attempt import attempt
from .findings import Finding, raw
from .planted import planted
from .units import same_in_other_units


def again(case, door, made):
    """Yield what is wrong when more is done with a result; which of it, the case's number says."""
    k = int(case.id.split(":")[1])
    result = made.result
    yield from certified(case, made)
    if k % 5 == 0:
        yield from saved(result)
        yield from named(case, made)
    if k % 5 == 1:
        yield from repeated(case, door, result)
    if k % 5 == 2:
        yield from planted(case, made)
    if k % 5 == 3:
        yield from resumed(case, door, result)
    if k % 5 == 4:
        yield from same_in_other_units(case, door, result)


def certified(case, made):
    """A certificate never raises, and never passes what is infeasible."""
    try:
        certificate = made.result.certificate()
        str(certificate)
    except Exception as error:
        yield raw(error, "certificate")
        return
    if certificate.ok:
        worst, where = case.violation(made.X)
        if not worst <= 1e-4:
            yield Finding("certified", f"violation {worst:.3g} of {where}")


def saved(result):
    """What is saved comes back to the last bit."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            back = cn.load(result.save(Path(folder) / "result"))
        except Exception as error:
            yield raw(error, "save")
            return
    if not same(back, result):
        yield Finding("saved", "loading gives another result than was saved")


def named(case, made):
    """Tables of a result hold its numbers."""
    result = made.result
    # An expression of CVXPY may be a sum of two fits, of which there is not one model.
    two = hasattr(case, "shape") and case.shape.is_two and len(result.relative_errors) == 1
    try:
        frames = {name: result.frame(name) for name in result.factors}
        whole = np.asarray(result.reconstruct()) if two else None
        for name in result.factors:
            str(result.top(2, of=name) if result.side(name) else "")
    except Exception as error:
        yield raw(error, "save")
        return
    for name, frame in frames.items():
        if not np.array_equal(frame.to_numpy(), result[name], equal_nan=True):
            yield Finding("value", f"the frame of {name} has other numbers")
    if whole is not None and not np.array_equal(whole, result.W @ result.H, equal_nan=True):
        yield Finding("value", "the model is not the product of its factors")


def repeated(case, door, result):
    """The same call gives the same answer, with one thread too, and if a callback meddles or not."""
    with threadpool_limits(1):
        twin = attempt(case, door)
    if twin.result is None or not same(twin.result, result):
        value = "" if twin.result is None else repr(twin.result.objective)
        told = f"{result.objective!r} {result.status.name}, then {value} {twin.end}"
        yield Finding("differs", told)


def resumed(case, door, result):
    """A solve that goes on from its checkpoint ends no worse than where it was."""
    if case.method.callback != "none" or case.method.limit != "none":
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        first = attempt(case, door, checkpoint=path, stop=2)
        second = attempt(case, door, checkpoint=path, stop=4)
    if first.result is None or second.result is None:
        yield Finding(
            "resumed", f"{result.status.name}, with a checkpoint {first.end}, {second.end}"
        )
        return
    yield from (f for f in (*first.findings, *second.findings) if f.kind != "status")
    told = first.result.history.objective
    went_on = second.result.history.objective[: len(told)]
    if not np.array_equal(told, went_on, equal_nan=True):
        yield Finding("resumed", "the history does not go on from where it was")


def same(a, b):
    """Whether two results are equal to the last bit."""
    factors = list(a.factors) == list(b.factors) and all(
        np.array_equal(a.factors[f], X, equal_nan=True) and a.factors[f].dtype == X.dtype
        for f, X in b.factors.items()
    )
    traces = np.array_equal(a.history.objective, b.history.objective, equal_nan=True)
    return factors and traces and _equal(a.objective, b.objective) and a.status == b.status


def _equal(a, b):
    return a == b or (np.isnan(a) and np.isnan(b))
