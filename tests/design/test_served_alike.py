"""Nothing asks for a term's class: what has the abilities is served, whoever wrote it."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.solve.choice import fitting

V = np.random.default_rng(0).random((12, 10))


class Localized(cn.Sparseness):
    """A bound on sparseness under another name."""


def names(problem):
    return {solver.name for solver in fitting(problem)}


@pytest.mark.parametrize(
    "solver",
    [cn.HALS(), cn.TangentPlane(engine="native"), cn.TangentPlane(engine="conic")],
    ids=["HALS", "native", "conic"],
)
@pytest.mark.parametrize("factor", ["W", "H"])
def test_a_subclass_of_sparseness_is_served_like_it(solver, factor):
    ours, theirs = (
        cn.factorize(V, 3, **{factor: [cn.NonNegative(), kind(min=0.6)]})
        for kind in (cn.Sparseness, Localized)
    )
    assert names(theirs) == names(ours)
    expected, found = (problem.solve(solver, stop=5, seed=2) for problem in (ours, theirs))
    assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    assert found.max_violation < 1e-6
    assert "Localized" in found.problem_text


@pytest.mark.parametrize("each", ["component", "sample"])
def test_a_simplex_with_l1_is_served_where_the_orthant_with_l1_is(each):
    simplex = cn.Simplex(each=each)
    alone = names(cn.factorize(V, 3, H=[simplex]))
    together = names(cn.factorize(V, 3, H=[simplex, cn.L1(0.1)]))
    orthant = names(cn.factorize(V, 3, H=[cn.NonNegative(), cn.L1(0.1)]))
    assert together == alone & orthant
    assert {"TangentPlane", "ProjectedGradient"} <= together
    for name in together - {"JointNLP"}:
        result = cn.factorize(V, 3, H=[simplex, cn.L1(0.1)]).solve(name, stop=5)
        assert result.max_violation < 1e-6, name


def test_solve_shows_every_option():
    method = dict(inspect.signature(cn.Problem.solve).parameters)
    function = dict(inspect.signature(cn.solve).parameters)
    del method["self"], function["problem"]
    assert method == function
    assert set(method) >= {"solver", "init", "stop", "seed", "time_limit", "progress", "throw"}
    kinds = {parameter.kind for parameter in method.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
