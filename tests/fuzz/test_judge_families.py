"""The judges of the other families: whatever goes wrong in the package is noticed."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve import engine

from .cases import FAMILIES
from .families import (
    autoencoders,
    bounds,
    coding,
    estimators,
    measures,
    one_factor,
    strips,
    studies,
)


def sound(family, wanted):
    """Yield cases of a family that are as wanted and have no findings."""
    for k in count():
        rng = np.random.default_rng([1, k])
        case = FAMILIES[family][0].draw(rng, f"1:{k}")
        if wanted(case) and not case.refused and not case.run()[1]:
            yield case


def first(family, wanted=lambda case: True):
    return next(sound(family, wanted))


def kinds(case):
    return {finding.kind for finding in case.run()[1]}


def test_every_family_has_a_judge_that_is_tested_here():
    tested = {estimators, coding, autoencoders, studies, measures, one_factor, strips, bounds}
    assert {own for own, _ in FAMILIES.values()} - tested == {FAMILIES["problems"][0]}


@pytest.mark.parametrize("spoil", [lambda H: H * 1.01, lambda H: -H, lambda H: H[:, :-1]])
def test_wrong_codes_are_caught(spoil, monkeypatch):
    plain = cn.sparse_code
    case = first("coding", lambda c: "LeastSquares" in c.coder and c.data.dense.min() > 0.01)
    monkeypatch.setattr(cn, "sparse_code", lambda *a, **k: spoil(plain(*a, **k)))
    assert "value" in kinds(case)


def test_more_atoms_than_allowed_are_caught(monkeypatch):
    case = first("coding", lambda c: "OMP(max_atoms=1)" in c.coder and c.W.shape[1] > 3)
    plain = cn.sparse_code
    monkeypatch.setattr(cn, "sparse_code", lambda V, W, coder, init=None: plain(V, W) + 1e-9)
    assert "value" in kinds(case)


def test_a_refusal_by_any_other_error_is_caught(monkeypatch):
    case = first("coding", lambda c: not c.wrong)

    def fail(*arguments, **options):
        raise ValueError("numpy says so")

    monkeypatch.setattr(cn, "sparse_code", fail)
    assert kinds(case) == {"raw ValueError"}
    assert kinds(replace(case, wrong="NaN")) == {"raw ValueError"}


def test_what_must_be_refused_and_is_not_is_caught():
    case = first("coding", lambda c: not c.wrong)
    assert kinds(replace(case, wrong="NaN")) == {"accepted"}


@pytest.mark.parametrize("name", ["orthogonality", "support_scores", "cosines"])
def test_a_wrong_measure_is_caught(name, monkeypatch):
    case = first("measures", lambda c: c.kind == name)
    plain = getattr(cn.measures, name)
    monkeypatch.setattr(cn.measures, name, lambda *a: np.asarray(plain(*a)) + 1e-6)
    assert kinds(case) == {"value"}


def nmf(case):
    return case.made.startswith("SparseNMF") and len(case.data.dense) > 4


def test_negative_components_are_caught(monkeypatch):
    case = first("estimators", nmf)
    kind = cn.estimators.SparseNMF
    keep = kind._keep

    def spoiled(self, *arguments):
        keep(self, *arguments)
        self.components_ = self.components_ - 1.0
        return self

    monkeypatch.setattr(kind, "_keep", spoiled)
    assert "infeasible" in kinds(case)


def test_codes_that_depend_on_the_other_samples_are_caught(monkeypatch):
    case = first("estimators", lambda c: nmf(c) and not c.known.get("tied") and "L1" not in c.made)
    kind = cn.estimators.SparseNMF
    plain = kind.transform
    monkeypatch.setattr(kind, "transform", lambda self, X: plain(self, X) * len(X))
    assert "value" in kinds(case)


def test_an_estimator_that_changes_x_is_caught(monkeypatch):
    case = first("estimators", lambda c: nmf(c) and type(c.data.V) is np.ndarray)
    kind = cn.estimators.SparseNMF
    plain = kind.fit

    def careless(self, X, y=None):
        plain(self, X, y)
        if X.flags.writeable:
            X[...] = 0
        return self

    monkeypatch.setattr(kind, "fit", careless)
    assert "input changed" in kinds(case)


@pytest.mark.parametrize("family", ["autoencoders", "one_factor"])
def test_results_of_other_problems_are_judged_too(family, monkeypatch):
    def calm(case):
        return case.method.callback == case.method.limit == "none" and case.run()[0] == "MAX_ITER"

    case = first(family, calm)
    plain = engine.solve

    def spoiled(problem, *arguments, **options):
        result = plain(problem, *arguments, **options)
        return replace(result, objective=result.objective + 1e-3 * (1 + abs(result.objective)))

    monkeypatch.setattr(engine, "solve", spoiled)
    assert "objective" in kinds(case)


def test_an_unbounded_direction_must_be_one():
    case = first("one_factor", lambda c: c.norm is not None and c.run()[0] == "MAX_ITER")
    result = case.state("terms").problem.solve(stop=1, throw=False)
    wrong = replace(result, status=cn.Status.UNBOUNDED, direction={"W": -case.point["W"]})
    assert [f.kind for f in case.promised(wrong, {})] == ["status"]
    assert list(case.promised(result, {})) == []


@pytest.mark.parametrize("kind", ["multistart", "stability", "compare", "path"])
def test_studies_are_judged_by_their_results(kind, monkeypatch):
    case = first("studies", lambda c: c.kind == kind and c.run()[0] == "fine")
    judged = []
    monkeypatch.setattr(studies, "judge", lambda *a: judged.append(a) or iter(()))
    assert not kinds(case)
    assert judged


def test_a_rank_that_is_not_the_best_is_caught(monkeypatch):
    case = first("studies", lambda c: c.kind == "cross_validate_rank" and c.run()[0] == "fine")
    plain = cn.cross_validate_rank

    def spoiled(*arguments, **options):
        found = plain(*arguments, **options)
        return replace(found, best=3 - found.best)

    monkeypatch.setattr(cn, "cross_validate_rank", spoiled, raising=False)
    assert "value" in kinds(case)


def test_strips_that_lead_elsewhere_and_files_that_are_not_checked_are_caught(monkeypatch):
    case = first("strips", lambda c: c.store == "npy" and c.solver == "HALS" and c.limit == "'2KB'")
    plain = cn.factorize
    monkeypatch.setattr(
        cn,
        "factorize",
        lambda V, *a, memory_limit, **k: plain(
            V, *a, memory_limit=memory_limit, **k | ({} if memory_limit == 10**6 else {"H": []})
        ),
    )
    found = kinds(case)
    monkeypatch.undo()
    assert found & {"infeasible", "doors", "objective"}
    monkeypatch.setattr("conicnmf.strips.source.readable", nullcontext)
    assert any(kind.startswith("raw") for kind in kinds(replace(case, wrong="cut off")))


def test_bounds_that_are_too_high_are_caught(monkeypatch):
    case = first("bounds", lambda c: c.kind == "block" and c.band[0] > 0)
    plain = cn.global_block
    for wrong in ({"lower": 1e9}, {"objective": -1.0}):
        monkeypatch.setattr(cn, "global_block", lambda *a, **k: replace(plain(*a, **k), **wrong))  # noqa: B023
        assert kinds(case) & {"value", "objective"}
