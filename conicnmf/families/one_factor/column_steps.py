"""One column of W: max ⟨g, w⟩ over w ≥ 0 with wᵀBw ≤ 1, on the rows that no other column uses."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from conicnmf.families.one_factor.view import OneFactor
from conicnmf.model.terms import Constraint
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.results import InnerSolve
from conicnmf.solve.programs.backends import chain, solve_along
from conicnmf.types import Array, Mask

Found = tuple[list[Array], list[InnerSolve]]


def free_rows(view: OneFactor, W: Array, j: int) -> Mask:
    """Return the rows that column j may use."""
    if view.rank == 1:
        return np.ones(view.size, dtype=bool)
    return np.asarray(~np.delete(W, j, axis=1).any(axis=1))


class NativeColumn:
    """Without further constraints it is min ½wᵀBw − ⟨g, w⟩ over w ≥ 0, up to scale."""

    def __init__(self, view: OneFactor) -> None:
        self.view = view

    def best(self, aims: list[Array], W: Array, j: int, fresh: bool) -> Found:
        """Return the maximizer for each direction that some w ≥ 0 agrees with."""
        free = free_rows(self.view, W, j)
        found = []
        for g in aims:
            g = np.where(free, g, -np.inf)
            if self.view.norm is None:
                top = int(g.argmax())
                best = np.maximum(g, 0.0) if g[top] > 0 else np.eye(1, len(g), top)[0]
            else:
                # Up to its scale the level of the norm does not matter.
                best = self.view.norm.metric.nonneg_least(g / (np.abs(g).max() or 1.0))
            if best.any():
                found.append(on_scale(self.view, best))
        return found, []


class ConicColumn:
    """The same as a second-order cone program, with every further constraint on the whole of W."""

    def __init__(self, view: OneFactor, backend: str) -> None:
        self.view = view
        self.backends = chain(backend)
        self.reverse = [c for c in view.others if not c.convex]

    def best(self, aims: list[Array], W: Array, j: int, fresh: bool) -> Found:
        """Return points found with planes at W and, at first, with planes where the optimum is."""
        B = np.ascontiguousarray(W.T, dtype=float)
        feasible = all(c.violation(B).max(initial=0.0) <= FEASIBLE for c in self.reverse)
        found: list[Array | None] = []
        records: list[InnerSolve] = []
        # Planes at w keep w: only the direction that w has can be improved on with them.
        kept = aims if fresh or not self.reverse else [g for g in aims if g @ W[:, j] > 0]
        for g in kept:
            unit = g / (np.linalg.norm(g) or 1.0)
            if feasible:
                w, tried = self._solve(unit, B, j, B)
                found.append(w)
                records += tried
            if self.reverse and (fresh or not feasible):
                free, tried = self._solve(unit, B, j, None)
                records += tried
                for _ in range(4):  # planes at the nearest point of the band, moved with the answer
                    if free is None:
                        break
                    anchor = self._anchored(B, j, free)
                    free, tried = self._solve(unit, B, j, anchor)
                    records += tried
                    found.append(free)
        polished = [self._polished(B, j, w) for w in found if w is not None and np.any(w > 0)]
        return [w for w in polished if w is not None], records

    def _anchored(self, B: Array, j: int, w: Array) -> Array:
        changed = B.copy()
        changed[j] = w
        for c in self.reverse:
            changed[j] = c.project(changed)[j]
        return changed

    def _solve(
        self, g: Array, B: Array, j: int, planes: Array | None
    ) -> tuple[Array | None, list[InnerSolve]]:
        """Maximize ⟨g, w⟩ over the convex constraints, with tangent planes at `planes`."""
        view = self.view
        w = cp.Variable((1, view.size), nonneg=True)
        rows = [w if i == j else cp.Constant(B[[i]]) for i in range(view.rank)]
        whole = w if view.rank == 1 else cp.vstack(rows)
        root = view.root
        held: list[cp.Constraint] = [cp.norm(cp.vec(w @ root, order="F"), 2) <= 1]
        used = ~free_rows(view, B.T, j)
        if used.any():
            held.append(w[:, np.flatnonzero(used)] == 0)
        for c in view.others:
            held += c.cone(whole)
        if planes is not None:
            held += [part for c in self.reverse for part in _plane(c, planes, whole, j)]
        program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(g[None, :], w))), held)
        found, records = solve_along(program, w, self.backends)
        return (None if found is None else np.maximum(found[0], 0.0)), records

    def _polished(self, B: Array, j: int, w: Array) -> Array | None:
        """Return w without the solver's small violations, on the largest scale allowed."""
        view = self.view
        changed = B.copy()
        changed[j] = w
        if view.projection is not None:
            changed[j] = np.where(w > 0, view.projection(changed)[j], 0.0)
        column = np.ascontiguousarray(changed[[j]].T)
        square = float(np.sum(column * view.in_norm(column)))
        if square <= 0:
            return None
        grow = view.scale_free or square > 1
        return np.asarray(column / np.sqrt(square) if grow else column)[:, 0]


def _plane(c: Constraint, P: Array, whole: cp.Expression, j: int) -> list[cp.Constraint]:
    """Return the half-spaces at P that mention component j."""
    spaces = c.tangent(P)
    axis = 1 if spaces.each == "component" else 0
    inner = cp.sum(cp.multiply(spaces.normals, whole), axis=axis)
    kept = [j] if spaces.each == "component" else list(range(spaces.count))
    return [inner[kept] >= spaces.levels[kept]]


def on_scale(view: OneFactor, w: Array) -> Array:
    """Return w with wᵀBw = 1."""
    column = w[:, None]
    square = float(np.sum(column * view.in_norm(column)))
    return np.asarray(w / np.sqrt(square) if square > 0 else w)
