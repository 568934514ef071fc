"""V's walk from the statement to the report, traced: it never returns to an earlier layer.

"Never returns" cannot mean that no line of an earlier layer runs again: solvers and certificates ask
the problem for its blocks, and all use kernels. That is looking things up downstairs. What it means:

1. the layers are entered for the first time in the order of the walk;
2. each of them has one stage (`factorize` or `Problem`, `solve`, `certify`, `html_report`), which is
   called once and not again when a later one has begun;
3. nothing calls into a later layer, except through a few named methods. Imports are
   checked in tests/test_layers.py; this sees what goes through objects that are handed on as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.report import html_report

ROOT = str(Path(cn.__file__).parent) + os.sep
LAYERS = ("model", "results", "solve", "families", "study", "report")
"""The order of imports; `results` comes early because it is only data, which `solve` fills."""
WALK = ["model", "solve", "results", "study", "report"]
DOORS = {
    ("model.base", "BaseProblem.solve"),
    ("model.problem", "Problem.preferred"),
    ("model.problem", "Problem.start"),
    ("model.subproblem", "Subproblem.lowered_by"),  # a solver goes to where a variable is kept
    ("results.result", "Result.certificate"),
}
V = np.random.default_rng(0).random((12, 10))


def from_terms():
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.5)])


def from_algebra():
    W, H = cp.Variable((12, 3), nonneg=True), cp.Variable((3, 10), nonneg=True)
    smooth = cp.sum_squares(cp.diff(H, axis=1)) <= 2
    return cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [smooth])


STAGES = {
    from_terms: ("model.factorize", "factorize"),
    from_algebra: ("model.problem", "Problem.__init__"),
}


def walk(state, folder):
    """Go from the statement to the report."""
    result = state().solve(stop=3)
    html_report(result, folder / "report.html", certificate=result.certificate())


def module(frame):
    """Return the module of ours that a frame runs, None for others'."""
    file = frame.f_code.co_filename
    if not file.startswith(ROOT):
        return None
    return file.removeprefix(ROOT).removesuffix(".py").replace(os.sep, ".")


def layer(name):
    return name.partition(".")[0]


class Trace:
    """The calls within the package: (caller, callee), each a (module, function)."""

    def __init__(self):
        self.calls = []

    def __call__(self, frame, event, _):
        """Note a call; frames of others between two of ours are skipped."""
        name = module(frame) if event == "call" else None
        if name is None or layer(name) not in LAYERS:
            return
        back = frame.f_back
        while back is not None and (module(back) is None or layer(module(back)) not in LAYERS):
            back = back.f_back
        caller = None if back is None else (module(back), back.f_code.co_qualname)
        self.calls.append((caller, (name, frame.f_code.co_qualname)))


@pytest.fixture(scope="module", params=list(STAGES), ids=["terms", "algebra"])
def traced(request, tmp_path_factory):
    """Return what was called on the way, and the stage at which it began."""
    folder = tmp_path_factory.mktemp("walk")
    walk(request.param, folder)  # compiles and imports, which is no part of the walk
    trace, before = Trace(), sys.getprofile()
    sys.setprofile(trace)
    try:
        walk(request.param, folder)
    finally:
        sys.setprofile(before)
    return trace.calls, STAGES[request.param]


def test_rooms_are_entered_in_the_order_of_the_walk(traced):
    calls, _ = traced
    assert list(dict.fromkeys(layer(name) for _, (name, _) in calls)) == WALK


def test_each_stage_is_entered_once_and_in_order(traced):
    calls, first = traced
    later = [("solve.engine", "solve"), ("study.certificate", "certify")]
    stages = [first, *later, ("report.html", "html_report")]
    assert [callee for _, callee in calls if callee in stages] == stages


def test_later_rooms_are_reached_through_the_doors_alone(traced):
    calls, _ = traced
    upward = {
        caller
        for caller, (name, _) in calls
        if caller is not None and LAYERS.index(layer(caller[0])) < LAYERS.index(layer(name))
    }
    assert upward <= DOORS
    assert ("model.base", "BaseProblem.solve") in upward  # the trace sees such calls


def test_the_report_reads_and_solves_nothing(traced):
    calls, _ = traced
    begin = next(i for i, (_, callee) in enumerate(calls) if layer(callee[0]) == "report")
    assert {layer(name) for _, (name, _) in calls[begin:]} <= {"results", "study", "report"}
