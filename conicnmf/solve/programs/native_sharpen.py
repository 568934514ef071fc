"""Sparsity maximization without a cone solver: other points, the same guarantees.

The maximizer of the first program is not unique, and all that the method needs of it is that it
is feasible, no worse in f and sparser. A pull of strength μ along the gauges' slopes makes every
component sparser; the largest μ that does not raise f is found by bisection.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from conicnmf.geometry.cones import distance_to_cone
from conicnmf.kernels.descent import descend_held, descend_near
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.results import InnerSolve
from conicnmf.solve.deadline import is_late
from conicnmf.solve.programs.native import NativeProgram, NativeStep
from conicnmf.solve.programs.sharpen import sparseness_bounds
from conicnmf.solve.programs.slices import in_slices
from conicnmf.types import Array, Mask

_BISECTIONS = 12
_SWEEPS = 200


@dataclass(eq=False)
class NativeSharpener:
    """Both steps of a block of known constraints, by descent over components."""

    block: Block

    def at(self, held: Subproblem) -> NativeSharpenStep:
        """Return the steps for a held block."""
        return NativeSharpenStep(NativeProgram(self.block).at(held))


@dataclass(eq=False)
class NativeSharpenStep:
    """The steps with the other factor fixed."""

    step: NativeStep

    def convex(self) -> tuple[Array | None, list[InnerSolve]]:
        """Minimize f without the lower bounds."""
        solution = self.step.solve()
        return solution.B, solution.records

    def value(self, B: Array) -> float:
        """Return the block's objective."""
        return self.step.value(B)

    def sharpen(self, B: Array) -> tuple[Array, list[InnerSolve]]:
        """Pull every component toward its sparser side as hard as f allows."""
        begin = time.perf_counter()
        bound = sparseness_bounds(self.step.block)[0]
        quadratic, level = self.step.quadratic, self.step.value(B)
        T = bound.tangent(B).normals
        curvature = np.diag(quadratic.G)[:, None]
        held = np.ones(len(B), dtype=bool)
        # A pull μ shifts the target of component j by μ times its own length along its slope.
        sizes = np.linalg.norm(B, axis=1, keepdims=True)
        low, high, sharp = 0.0, 1.0, B
        for _ in range(_BISECTIONS):
            if is_late():
                break  # what is sharp so far is feasible and no worse
            mu = (low + high) / 2
            new = self._pulled(quadratic.C + mu * curvature * sizes * T, sharp, T, held)
            if self.step.value(new) <= level and new.any(axis=1).all():
                low, sharp = mu, new
            else:
                high = mu
        record = InnerSolve("NATIVE", cp.OPTIMAL, _BISECTIONS, time.perf_counter() - begin)
        return sharp, [record]

    def _pulled(self, C: Array, B: Array, T: Array, held: Mask) -> Array:
        """Return the minimizer for another linear part, on the sparser side of the planes."""
        G, s_max = self.step.quadratic.G, self.step.s_max
        return in_slices(
            lambda B, count: descend_held(G, C, B, T, held, s_max, count, 1e-4), B, _SWEEPS
        )[0]

    def relax(self, sharp: Array) -> tuple[Array, list[InnerSolve]]:
        """Minimize f within the safe distance of each sharpened component."""
        begin = time.perf_counter()
        G, C, s_max = self.step.quadratic.G, self.step.quadratic.C, self.step.s_max
        radii = distance_to_cone(sharp, sparseness_bounds(self.step.block)[0].band()[0])
        new, sweeps = in_slices(
            lambda B, count: descend_near(G, C, sharp, radii, s_max, count, start=B), sharp, _SWEEPS
        )
        return new, [InnerSolve("NATIVE", cp.OPTIMAL, sweeps, time.perf_counter() - begin)]
