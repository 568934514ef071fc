"""Tangent-plane steps end at feasible points no worse than the ones they were anchored at."""

import numpy as np
import pytest
from block_cases import PLUS, TERMS, at, block_of, draw, masked
from hypothesis import given, settings
from hypothesis import strategies as st

import conicnmf as cn
from conicnmf.model.constraints.joint import find_projection
from conicnmf.solve.programs.native import NativeProgram
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step, with_interior

SPARSE = {
    "lower bound": TERMS["lower bound"],
    "lower bound of samples": TERMS["lower bound of samples"],
    "band": [PLUS, cn.Sparseness(0.4, 0.6)],
    "prescribed": [PLUS, cn.Sparseness(0.5, 0.5)],
    "penalized": [PLUS, cn.Sparseness(min=0.5), cn.L1(0.05), cn.L2(0.02)],
}


def violation_of_the_living(block, B):
    """Return the largest violation of a piece that is not zero; zero is left to the caller."""
    alive = {"component": B.any(axis=1), "sample": B.any(axis=0), "entry": slice(None)}
    return max(float(c.violation(B)[alive[c.each]].max(initial=0.0)) for c in block.constraints)


def start(block, seed):
    return find_projection(block.constraints)(np.random.default_rng(seed).random(block.shape))


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("kind", [BlockProgram, NativeProgram])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 9999))
def test_a_step_is_feasible_and_no_worse_than_its_anchor(kind, name, seed):
    V, A = draw(seed)
    block = with_interior(block_of(SPARSE[name], V))
    if kind is NativeProgram and "samples" in name:
        return
    step = at(kind(block), A)
    outcome = tangent_step(step, start(block, seed), TangentLoop())
    assert outcome.B is not None
    assert violation_of_the_living(block, outcome.B) <= 1e-6
    anchor = find_projection(block.constraints)(step.solve().B)
    assert step.value(outcome.B) <= step.value(anchor) + 1e-6 * block.unit


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("name", ["lower bound", "lower bound of samples", "band"])
def test_a_step_is_feasible_at_any_scale(name, scale):
    V, A = draw(3)
    block = block_of(SPARSE[name], scale * V)
    outcome = tangent_step(at(BlockProgram(block), A), scale * start(block, 0), TangentLoop())
    assert outcome.B is not None
    assert block.violation(outcome.B) <= 1e-6


def test_weights_and_other_convex_constraints_are_kept():
    V, A = draw(4)
    terms = [*TERMS["small steps"], cn.Sparseness(min=0.3)]
    block = block_of(terms, V, masked(4))
    outcome = tangent_step(
        at(BlockProgram(block), A), start(block_of(SPARSE["band"], V), 4), TangentLoop()
    )
    assert outcome.B is not None
    assert block.violation(outcome.B) <= 1e-6


def test_a_block_without_lower_bounds_is_solved_once():
    V, A = draw(5)
    outcome = tangent_step(
        at(BlockProgram(block_of([PLUS], V)), A), np.ones((3, 6)), TangentLoop(rounds=5)
    )
    assert len(outcome.records) == 1


def test_components_that_are_sparse_enough_are_left_alone():
    rng = np.random.default_rng(0)
    B = np.eye(3, 6) + 0.01
    A = rng.random((8, 3))
    block = block_of([PLUS, cn.Sparseness(min=0.5)], A @ B)
    outcome = tangent_step(at(BlockProgram(block), A), B, TangentLoop(rounds=5))
    assert len(outcome.records) == 1
    np.testing.assert_allclose(outcome.B, B, atol=1e-5)


def test_more_rounds_do_not_end_higher():
    V, A = draw(6)
    block = block_of(SPARSE["lower bound"], V)
    B = start(block, 6)
    values = [
        step.value(tangent_step(step, B, TangentLoop(rounds, rtol=0)).B)
        for rounds in (1, 2, 6)
        for step in [at(BlockProgram(block), A)]
    ]
    assert values[0] >= values[1] - 1e-9 >= values[2] - 2e-9


def test_contradicting_constraints_are_told_apart_from_failures():
    V, A = draw(7)
    terms = [cn.Simplex(), cn.Convex(lambda H: H >= 1), cn.Sparseness(min=0.5)]
    outcome = tangent_step(at(BlockProgram(block_of(terms, V)), A), np.ones((3, 6)), TangentLoop())
    assert outcome.B is None
    assert outcome.infeasible


@pytest.mark.parametrize("engine", ["native", "conic"])
def test_both_engines_take_the_same_step(engine):
    V, A = draw(8)
    block = block_of(SPARSE["lower bound"], V)
    kind = {"native": NativeProgram, "conic": BlockProgram}[engine]
    step = at(kind(block), A)
    found = tangent_step(step, start(block, 8), TangentLoop(rounds=1)).B
    conic = at(BlockProgram(block), A)
    wanted = tangent_step(conic, start(block, 8), TangentLoop(rounds=1)).B
    assert conic.value(found) == pytest.approx(conic.value(wanted), abs=1e-5 * block.unit)


def test_only_prescribed_sparseness_is_widened():
    V, _ = draw(0)
    block = block_of([PLUS, cn.Sparseness(0.5, 0.5), cn.Sparseness(0.2, 0.9, "sample")], V)
    assert [c for c in with_interior(block).constraints if isinstance(c, cn.Sparseness)] == [
        cn.Sparseness(0.5, 0.52),
        cn.Sparseness(0.2, 0.9, "sample"),
    ]


def test_two_bounds_on_one_factor_are_both_kept():
    V, _ = draw(0)
    terms = [cn.NonNegative(), cn.Sparseness(min=0.3), cn.Sparseness(min=0.6)]
    result = cn.factorize(V, 3, W=terms).solve(cn.TangentPlane(), stop=5)
    assert cn.sparseness(result.W, axis=0).min() >= 0.6 - 1e-6
