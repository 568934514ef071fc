"""Sparse non-negative discriminant of faces, 672×400, sparseness ≥ 0.85, against cone programs."""

from __future__ import annotations

from collections.abc import Iterator

import conicnmf as cn
from benchmarks.harness import Row, Setup, SkippedError, guarded, speedup
from conicnmf.errors import InputError
from conicnmf.families.one_factor import ConeAscent, Discriminant, MedianFlip
from experiments.yang_faces import faces

LEVEL, RIDGE, STEPS, TARGET = 0.85, 1.0, 8, 30.0
LOWER = 1e-4
"""A ratio that is lower by less than this part counts as equal."""


def run(setup: Setup) -> Iterator[Row]:
    for wanted in ("glasses", "facial_hair")[: 1 if setup.quick else None]:
        yield from guarded(wanted, _rows(wanted, setup))


def _rows(wanted: str, setup: Setup) -> Iterator[Row]:
    try:
        data = faces("olivetti", wanted)
    except (InputError, OSError) as error:
        raise SkippedError(str(error).splitlines()[0]) from error
    flipped = MedianFlip.learn(data.V, data.y, 1.0).apply(data.V)
    problem = Discriminant(flipped, data.y, ridge=RIDGE, constraints=[cn.Sparseness(min=LEVEL)])

    def solved(engine: str) -> float:
        """Return ½wᵀS_Bw, which is maximized."""
        return -problem.solve(ConeAscent(engine=engine), stop=STEPS, throw=False).objective

    sides = {"ours": lambda _: solved("native"), "theirs": lambda _: solved("conic")}
    runs = setup.race(sides, repeats=3, warm=("ours",))
    ours, theirs = runs["ours"].values[0], runs["theirs"].values[0]
    case = f"{wanted.replace('_', ' ')}, {data.V.shape[0]}×{data.V.shape[1]}, {STEPS} steps"
    note = f"gain {ours:.5g}, by cone programs {theirs:.5g}"
    reached = ours >= theirs - LOWER * abs(theirs)
    yield speedup(case, runs["ours"], runs["theirs"], TARGET, note, also=reached)
