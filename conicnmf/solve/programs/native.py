"""A block of known constraints solved without a cone solver, to the same answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import cvxpy as cp
import numpy as np

from conicnmf.kernels.descent import descend_held
from conicnmf.kernels.hals import hals_sweeps
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Quadratic
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.programs.cuts import Cut
from conicnmf.solve.programs.program import Solution
from conicnmf.solve.programs.slices import in_slices
from conicnmf.types import Array

_SWEEPS = 2000
_FEW_SWEEPS = 50
"""Where so many do not settle a column without planes, its active set is searched instead."""


def native_reasons(block: Block) -> Iterator[str]:
    """Yield why a block needs the cone solver; nothing when the native engine serves."""
    if block.only_band is None and not block.orthant_only:
        stated = ", ".join(map(str, block.constraints)) or "no constraint"
        yield f"{stated} on {block.name} needs the cone solver"
    if "quadratic" not in block.abilities:
        yield f"the loss has no quadratic form in {block.name}"
    if block.capped:
        yield "the loss has a cap"
    for penalty in block.penalties:
        if "orthant" not in penalty.abilities:
            yield f"{penalty} on {block.name} needs the cone solver"


class NativeProgram:
    """The convex part of a block, by descent over components; the twin of `BlockProgram`.

    The sweeps end when one of them moves less than `rtol` of the factor, or of each column where
    columns do not see each other; the objective is then right to about that squared times the
    condition of the block.
    """

    def __init__(self, block: Block, rtol: float = 1e-7) -> None:
        self.block = block
        self.rtol = rtol
        self.s_max = np.ones(()) if block.only_band is None else block.only_band[1]

    def at(self, held: Subproblem, linear: Array | None = None) -> NativeStep:
        """Return the program of a held block, with ⟨linear, B⟩ added to the objective."""
        quadratic = held.quadratic()
        if linear is not None:
            quadratic = replace(quadratic, C=quadratic.C - linear)
        return NativeStep(self.block, quadratic, self.s_max, self.rtol)


@dataclass(eq=False)
class NativeStep:
    """A block with the other factor fixed; each solve starts from the last one's answer."""

    block: Block
    quadratic: Quadratic
    s_max: Array
    rtol: float
    last: Array | None = None

    leaves_dust: ClassVar[bool] = False

    def solve(self, cuts: Sequence[Cut] | None = None) -> Solution:
        """Minimize over B with the cuts, none by default."""
        begin = time.perf_counter()
        G, C = self.quadratic.G, self.quadratic.C
        held = cuts[0].active if cuts else np.zeros(self.block.shape[0], dtype=bool)
        # Only the normals of held rows are read.
        T = cuts[0].halfspaces.normals if cuts else np.zeros_like(C)
        start = np.zeros_like(C) if self.last is None else self.last
        if bool((self.s_max == 1).all()) and not held.any():
            B, sweeps = _column_by_column(G, C, start, self.rtol), _FEW_SWEEPS
        else:
            B, sweeps = in_slices(
                lambda B, count: descend_held(G, C, B, T, held, self.s_max, count, self.rtol),
                start,
                _SWEEPS,
            )
        self.last = B
        settled = sweeps < _SWEEPS and not is_late()
        status = cp.OPTIMAL if settled else cp.OPTIMAL_INACCURATE
        return Solution(B, [InnerSolve("NATIVE", status, sweeps, time.perf_counter() - begin)])

    def uncapped(self) -> NativeStep:
        """Return the step itself: a capped loss goes to the cone solver."""
        return self

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self.quadratic.value(B)


def _column_by_column(G: Array, C: Array, start: Array, rtol: float) -> Array:
    """Return the least squares over B ≥ 0, in which no column depends on those next to it."""
    before = hals_sweeps(G, C, start, _FEW_SWEEPS - 1)
    B = hals_sweeps(G, C, before, 1)
    curvatures = np.diag(G)
    left = curvatures @ (B - before) ** 2 > rtol**2 * (curvatures @ B**2)
    if left.any():
        B[:, left] = nnls_gram(G, C[:, left], B[:, left])
    return B
