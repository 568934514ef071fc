"""Bring a start to positive factors: a divergence is infinite where the model of an entry is zero."""

from __future__ import annotations

import numpy as np

from conicnmf.model.blocks import Block, fitted_block
from conicnmf.model.losses import KullbackLeibler
from conicnmf.model.problem import Problem
from conicnmf.solve.needs import cones_on_orthant, conic_constraints
from conicnmf.solve.programs.lightest import has_native_program, native_program
from conicnmf.solve.programs.program import BlockProgram
from conicnmf.solve.programs.tangent import TangentLoop, tangent_step, with_interior
from conicnmf.solve.starts.nearest import nearest
from conicnmf.types import Array, Factors

_LIFT = 1e-2
"""Entries are lifted by this part of their component's mean."""


def positive_start(problem: Problem, factors: Factors, rng: np.random.Generator) -> Factors:
    """Return factors of finite loss near these: positive, and still in their constraints."""
    # A projection may leave a row of W without a positive entry, where V has one.
    barred = [fit for fit in problem.fits if fit.loss.powers[1] < 0]
    if not barred or all(np.isfinite(fit.value(factors)) for fit in barred):
        return factors
    for block in problem.blocks:
        if block.nonneg and any(block.name in fit.variables for fit in barred):
            factors = block.put(factors, _positive(block, block.rows(factors), rng))
    return factors


def _positive(block: Block, B: Array, rng: np.random.Generator) -> Array:
    """Return the point of the constraints with the least divergence from B, lifted a little."""
    means = B.mean(axis=1, keepdims=True)
    sizes = _LIFT * np.where(means > 0, means, B.mean() or 1.0)
    # Not all by the same: components that begin alike would stay alike.
    lifted = B + (sizes * (0.5 + rng.random(B.shape))).astype(B.dtype)
    if block.orthant_only:
        return lifted
    if [*conic_constraints(block), *cones_on_orthant(block)]:
        return nearest(block, lifted)
    eye = np.eye(block.shape[0], dtype=B.dtype)
    own = with_interior(block).constraints
    _, held = fitted_block(block.name, lifted, eye, KullbackLeibler(), own)
    seen = held.block.separable
    assert seen is not None
    program = native_program(seen, 0.0) if has_native_program(seen) else BlockProgram(seen)
    outcome = tangent_step(program.at(held.majorized(lifted, seen)), B, TangentLoop(rounds=1))
    return B if outcome.B is None else outcome.B.astype(B.dtype, copy=False)
