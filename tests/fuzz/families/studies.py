"""Studies of drawn problems: many starts, comparisons, paths, ranks, stability."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..draw.methods import Method
from ..draw.numbers import pick
from ..draw.terms import Drawn
from ..judge.again import same
from ..judge.checked import run_checks
from ..judge.findings import Finding
from ..judge.results import judge
from . import problems
from .problem_case import ProblemCase

KINDS = {
    "multistart": 2,
    "compare": 3,
    "stability": 2,
    "path": 2,
    "parameter": 1,
    "cross_validate_rank": 2,
}
STOP = 4


@dataclass(frozen=True, eq=False)
class StudyCase:
    """A study of one problem; what it returns is judged as results of that problem are."""

    id: str
    kind: str
    inner: ProblemCase
    seed: int

    refused = False

    @property
    def text(self):
        return f"{self.id}  {self.kind}, seed {self.seed}, of {self.inner.text.split('  ', 1)[1]}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_checks(self, warned=("length one", "melts away"))

    def inputs(self):
        return self.inner.inputs()

    def check(self):
        """Make the study twice, and yield what is wrong with it."""
        stated = self.inner.state(self.inner.doors[0])
        try:
            yield from getattr(self, f"_{self.kind}")(stated)
        except (cn.InfeasibleError, cn.IncompatibleError):
            return  # of the problem itself, which other cases judge
        except cn.InputError as error:
            if not any(
                word in str(error) for word in ("succeeded", "could be solved", "no product")
            ):
                raise

    def _judged(self, result, stated, case=None):
        yield from judge(case or self.inner, result, stated.read(result.factors))

    def _multistart(self, stated):
        runs = cn.multistart(stated.problem, n_starts=3, seed=self.seed, stop=STOP)
        yield from self._judged(runs.best, stated)
        fine = ~runs.table["status"].isin([s.name for s in cn.Status if s.kind == "failed"])
        told = runs.table["objective"][fine & runs.table["objective"].notna()]
        if len(runs.table) != 3 or runs.best.objective > told.min():
            yield Finding("best kept", f"{runs.best.objective:.6g} of {told.tolist()}")
        names = {name: getattr(cn, name) for name in cn.__all__}
        solver = eval(runs.best.solver, names)  # one run, where `solve` alone may race several
        alone = stated.problem.solve(solver, seed=runs.best.seed, stop=STOP, throw=False)
        if not same(alone, runs.best):
            yield Finding("differs", "a start gives another result than its solver and seed")

    def _compare(self, stated):
        solvers = ["TangentPlane", "HALS", "Multiplicative"]
        seeds = [self.seed, self.seed + 1]
        with tempfile.TemporaryDirectory() as folder:
            runs = cn.compare(stated.problem, solvers, seeds, stop=STOP, store=folder)
            again = cn.compare(stated.problem, solvers, seeds, stop=STOP, store=folder)
        for task, result in runs.results.items():
            yield from self._judged(result, stated)
            if task not in again.results or not same(again.results[task], result):
                yield Finding("saved", f"{task} comes back from the store as something else")
        if len(runs.table) != 6:
            yield Finding("value", f"{len(runs.table)} rows for three solvers and two seeds")
        for row in runs.table.to_dict("records"):
            if row["status"] == "ERROR" and "constraints" not in str(row):
                yield Finding("raw row", str(row)[-200:])
        fits = {str(s): cn.extend.SOLVERS.find(s)().mismatches(stated.problem) for s in solvers}
        for name, reasons in fits.items():
            rows = runs.table[runs.table["solver"] == name]["status"]
            if bool(reasons) != bool((rows == "SKIPPED").all()):
                yield Finding("fits", f"{name}: {rows.tolist()}, {reasons}")

    def _stability(self, stated):
        found = cn.stability(stated.problem, n_starts=3, seed=self.seed, stop=STOP)
        for result in found.results:
            yield from self._judged(result, stated)
        if found.best.objective > min(r.objective for r in found.results):
            yield Finding("best kept", "the best of the runs has not the lowest objective")
        C, cosines = found.consensus, found.cosines
        sound = np.array_equal(C, C.T) and (np.diag(C) == 1).all() and 0 <= C.min() <= C.max() <= 1
        measures = np.array([found.score, found.cophenetic, found.dispersion])
        if not sound or np.abs(cosines).max() > 1 + 1e-9 or not np.isfinite(measures).all():
            yield Finding("value", f"consensus, cosines or {measures} are out of range")

    def _path(self, stated):
        name = list(self.inner.terms)[-1]
        unit = float(np.abs(self.inner.point[name]).max()) or 1.0
        worth = self.inner.size(self.inner.point) or 1.0
        cases = {own: self._with(name, own * worth / unit / 100) for own in (0.1, 1.0, 10.0)}
        made = {own: case.state("compose") for own, case in cases.items()}
        found = cn.path(lambda value: made[value].problem, list(cases), seed=self.seed, stop=STOP)
        if found.values != list(cases) or len(found.results) != len(cases):
            yield Finding("value", f"values {found.values}, {len(found.results)} results")
            return
        for own, result in zip(cases, found.results, strict=True):
            yield from self._judged(result, made[own], cases[own])

    def _parameter(self, stated):
        """A path over a CVXPY parameter is the path over statements with its values."""
        worth = self.inner.size(self.inner.point) or 1.0
        unit = float(np.abs(list(self.inner.point.values())[-1]).max()) or 1.0
        values = [own * worth / unit / 100 for own in (0.1, 1.0)]
        price = cp.Parameter(nonneg=True, name="price", value=values[0])
        options = {"seed": self.seed, "stop": STOP}
        found = cn.path(self.inner.priced(price).problem, {price: values}, **options)
        again = cn.path(lambda own: self.inner.priced(own).problem, values, **options)
        if price.value != values[0]:
            yield Finding("input changed", f"the parameter is {price.value}, was {values[0]}")
        for one, two in zip(found.results, again.results, strict=True):
            if not np.isclose(one.objective, two.objective, rtol=1e-6, atol=1e-9 * worth):
                yield Finding("doors", f"{one.objective:.9g} by a parameter, {two.objective:.9g}")

    def _with(self, name, weight):
        """Return the problem with one more penalty."""
        more = Drawn(
            f"L1({weight:g})",
            lambda: cn.L1(weight),
            value=lambda X: weight * float(np.abs(X).sum()),
        )
        return replace(
            self.inner, terms={**self.inner.terms, name: [*self.inner.terms[name], more]}
        )

    def _cross_validate_rank(self, stated):
        data = next(iter(self.inner.data.values()))
        options = {"folds": 2, "seed": self.seed, "stop": STOP}
        known = data.dense.size >= 2
        try:
            found = cn.cross_validate_rank(data.V, [1, 2], **options)
        except cn.InputError:
            if known and np.abs(data.dense).max() > 0:
                raise
            return
        means = found.folds.groupby("rank")["held_out"].mean()
        if found.best != means.idxmin() or found.rank > found.best or len(found.folds) != 4:
            yield Finding("value", f"best {found.best}, rank {found.rank} of {means.to_dict()}")


def draw(rng, name, shift=0):
    """Draw a study of a sound problem."""
    kind = pick(rng, KINDS)
    while True:
        inner = problems.draw(rng, name)
        sound = not inner.refused and all(loss.term is not None for loss in inner.losses.values())
        algebra = kind != "parameter" or "algebra" in inner.doors
        if sound and inner.feasible and algebra:
            break
    door = inner.doors[0] if kind != "path" else "compose"
    inner = replace(inner, method=Method("None", stop=str(STOP)), doors=(door,))
    return StudyCase(name, kind, inner, int(rng.integers(100)))
