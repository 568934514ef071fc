"""A block of known constraints solved without a cone solver, to the same answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block
from conicnmf.conic.backends import InnerSolve
from conicnmf.conic.cuts import Cut
from conicnmf.conic.program import Solution
from conicnmf.constraints import NonNegative, Sparseness
from conicnmf.kernels.descent import descend_held
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.terms import Quadratic

_SWEEPS = 2000
_FEW_SWEEPS = 50
"""Where so many do not settle a block without planes, its active sets are searched instead."""


def native_reasons(block: Block) -> Iterator[str]:
    """Yield why a block needs the cone solver; nothing when the native engine serves."""
    for constraint in block.constraints:
        known = isinstance(constraint, NonNegative) or (
            isinstance(constraint, Sparseness) and constraint.each == "component"
        )
        if not known:
            yield f"{constraint} on {block.name} needs the cone solver"
    if sum(isinstance(c, Sparseness) for c in block.constraints) > 1:
        yield f"{block.name} has more than one band"
    if not block.nonneg:
        yield f"{block.name} may be negative"
    if "quadratic" not in block.loss.abilities:
        yield f"{block.loss} has no quadratic form"
    if np.isfinite(block.loss.cap):
        yield "the loss has a cap"
    for penalty in block.penalties:
        if "orthant" not in penalty.abilities:
            yield f"{penalty} on {block.name} needs the cone solver"


class NativeProgram:
    """The convex part of a block, by descent over components; the twin of `BlockProgram`.

    The sweeps end when one of them moves less than `rtol` of the factor; the objective is then
    right to about that squared times the condition of the block.
    """

    def __init__(self, block: Block, rtol: float = 1e-7) -> None:
        self.block = block
        self.rtol = rtol
        bands = [c for c in block.constraints if isinstance(c, Sparseness)]
        self.s_max = min((band.max for band in bands), default=1.0)

    def at(self, A: Array, linear: Array | None = None) -> NativeStep:
        """Return the program for this A, with ⟨linear, B⟩ added to the objective."""
        quadratic = self.block.quadratic(A)
        if linear is not None:
            quadratic = replace(quadratic, C=quadratic.C - linear)
        return NativeStep(self.block, quadratic, self.s_max, self.rtol)


@dataclass(eq=False)
class NativeStep:
    """A block with the other factor fixed; each solve starts from the last one's answer."""

    block: Block
    quadratic: Quadratic
    s_max: float
    rtol: float
    last: Array | None = None

    def solve(self, cuts: Sequence[Cut] | None = None, deadline: float = np.inf) -> Solution:
        """Minimize over B with the cuts, none by default."""
        begin = time.perf_counter()
        G, C = self.quadratic.G, self.quadratic.C
        held = cuts[0].active if cuts else np.zeros(self.block.shape[0], dtype=bool)
        T = cuts[0].normals() if cuts else np.zeros_like(C)
        plain = self.s_max == 1 and not held.any()
        most = _FEW_SWEEPS if plain else _SWEEPS
        start = np.zeros_like(C) if self.last is None else self.last
        B, sweeps = descend_held(G, C, start, T, held, self.s_max, most, self.rtol)
        if plain and sweeps == most:
            B = nnls_gram(G, C, B)
        self.last = B
        status = cp.OPTIMAL if sweeps < _SWEEPS else cp.OPTIMAL_INACCURATE
        return Solution(B, [InnerSolve("NATIVE", status, sweeps, time.perf_counter() - begin)])

    def uncapped(self) -> NativeStep:
        """Return the step itself: a capped loss goes to the cone solver."""
        return self

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self.quadratic.value(B)
