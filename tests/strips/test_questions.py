"""How often strips are asked: what is needed next comes along with what is needed now."""

from __future__ import annotations

from dataclasses import dataclass, field

import dask.array as da
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.large import large_problem
from conicnmf.strips import LocalCrew
from conicnmf.strips.cluster.team import Team
from conicnmf.strips.readers import SlicedReader

RNG = np.random.default_rng(8)
V = RNG.random((12, 4)) @ RNG.random((4, 45)) + 0.1 * RNG.random((12, 45))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 45)) + 0.1
NONNEG = cn.NonNegative()
OBSERVED = cn.WeightedFrobenius(RNG.random(V.shape) < 0.7)

ONE_QUESTION = {
    "plain": ({}, "HALS"),
    "band on W": ({"W": [NONNEG, cn.Sparseness(min=0.6)]}, "HALS"),
    "exact steps": ({}, "ANLS"),
    "priced": ({"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.1)]}, "HALS"),
    "simplex of each sample": ({"H": [NONNEG, cn.Simplex(each="sample")]}, "ANLS"),
    "mask": ({"loss": OBSERVED}, "ANLS"),
}


@pytest.mark.parametrize("model", ONE_QUESTION)
def test_a_step_asks_the_workers_once(model, three, monkeypatch):
    asked, at = [0], []
    own = Team.asked

    def counted(team, posts, method, *args):
        asked[0] += method == "run"
        return own(team, posts, method, *args)

    monkeypatch.setattr(Team, "asked", counted)
    stated, solver = ONE_QUESTION[model]
    problem = cn.factorize(da.from_array(V, chunks=(12, 7)), 4, **stated)
    problem.solve(solver, init=START, stop=9, callback=lambda *_: at.append(asked[0]))
    questions = np.diff(at[1:])
    # A step that is undone, as the objective would rise, is made again from a point already left.
    assert np.median(questions) == 1, questions


@dataclass(frozen=True, eq=False)
class Counted(SlicedReader):
    """A reader that counts."""

    loads: list = field(default_factory=list)

    def load(self, k):
        self.loads.append(k)
        return super().load(k)


def test_a_step_reads_a_file_once():
    reader, at = Counted(V, 7), []
    problem = large_problem(LocalCrew(reader), 4, None, None, None)
    problem.solve("HALS", init=START, stop=6, callback=lambda *_: at.append(len(reader.loads)))
    assert np.median(np.diff(at[1:])) == reader.count


@pytest.mark.parametrize("model", ONE_QUESTION)
def test_what_comes_along_is_what_one_array_says(model):
    stated, solver = ONE_QUESTION[model]
    terms = [stated.get(name) for name in ("loss", "W", "H")]
    problem = large_problem(LocalCrew(SlicedReader(V, 7)), 4, *terms)
    found = problem.solve(solver, init=START, stop=8).history
    wanted = cn.factorize(V, 4, **stated).solve(solver, init=START, stop=8).history
    for measure in ("change", "violation", "objective"):
        numbers = [[getattr(own, measure) for own in history] for history in (found, wanted)]
        np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-12, err_msg=measure)
