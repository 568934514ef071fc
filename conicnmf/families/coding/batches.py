"""Learning from one batch after the other: codes of the batch, then all components by the past."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conicnmf.families.coding.coders import Coder
from conicnmf.families.coding.sparse_code import squared_norms
from conicnmf.model.addends import PenaltyView
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.terms import Quadratic
from conicnmf.model.tolerances import FEASIBLE
from conicnmf.solve.methods import HALS, ProjectedGradient, Splitting, TangentPlane
from conicnmf.types import Array, Data

ROUNDS = 5
"""How often codes of a batch and components are found in turn."""
_STEPS: tuple[Any, ...] = (
    HALS(sweeps=10, extrapolate=False),
    TangentPlane(),
    Splitting(),
    ProjectedGradient(),
)
"""What improves components, the first that fits."""
FORGETTING = 8.0
"""The past counts (1 − 1/t)⁸ after batch t: codes of old batches belong to components long gone."""
_EARLY, _SETTLING = 4.0, 100.0
"""At first it fades faster by this factor, while components change most, and not after this batch."""
_UNUSED = 1e-12
"""A component whose codes are below this part of the largest squares is of no use."""


@dataclass(frozen=True, eq=False)
class Past:
    """What is kept of the samples: Σ h hᵀ, Σ h vᵀ, Σ v² of each feature and Σ 1, old ones faded."""

    G: Array
    C: Array
    squares: Array
    count: float
    seen: int
    batches: int = 1
    latest: Array | None = None
    """The components that the last batch led to, of which those that are given away are an average."""

    @classmethod
    def of(cls, V: Data, H: Array) -> Past:
        """Return the sums of one batch in double precision."""
        wide = H.astype(np.float64)
        n = V.shape[1]
        return cls(wide @ wide.T, np.asarray((V @ wide.T).T), squared_norms(V.T), n, n)

    def then(self, new: Past, forgetting: float = FORGETTING) -> Past:
        """Return the sums with one more batch."""
        t = self.batches + 1
        left = (1 - 1 / t) ** (forgetting * min(max(_SETTLING / t, 1.0), _EARLY))
        return Past(
            left * self.G + new.G,
            left * self.C + new.C,
            left * self.squares + new.squares,
            left * self.count + new.count,
            self.seen + new.seen,
            t,
        )

    def average(self, before: Array, forgetting: float) -> Array:
        """Return the average of the latest components and of those before, in which old ones fade.

        Batch by batch the latest components follow the few batches that they remember. Their average
        does not, and yet does not lag behind by much (Shamir and Zhang, ICML 2013).
        """
        assert self.latest is not None
        share = (1 + forgetting) / (self.batches + forgetting)
        return np.asarray(before + share * (self.latest - before), dtype=before.dtype)

    def in_all(self, samples: int | None = None) -> tuple[Array, Array, Array]:
        """Return the sums at the size of so many samples, which prices on components refer to."""
        whole = (samples or self.seen) / self.count
        return whole * self.G, whole * self.C, whole * self.squares


@dataclass(frozen=True, eq=False)
class Lesson:
    """How components learn from a batch: the block they are, and who codes and improves them."""

    block: Block
    code: Callable[[Array], Array]
    """Returns codes of the batch in a dictionary W."""
    samples: int | None = None
    """How many there are in all, where that is known."""
    forgetting: float = FORGETTING
    dictionary: Coder | None = None
    """What makes components sparse once they are improved."""

    def learned(
        self, V: Data, B: Array, past: Past | None, rounds: int = ROUNDS
    ) -> tuple[Array, Array, Past]:
        """Return components, codes and sums after codes and components were found in turn."""
        kind, before = B.dtype, B.copy()
        if past is not None and past.latest is not None:
            B = past.latest
        for _ in range(rounds):
            H = self.code(np.ascontiguousarray(B.T))
            new = Past.of(V, H)
            seen = new if past is None else past.then(new, self.forgetting)
            better = self.improved(seen, B)
            B = renewed(self.block, seen.G, better, V, H).astype(kind)
            fresh = (better != B).any(axis=1)
            before[fresh] = B[fresh]
        seen = replace(seen, latest=B)
        return self._averaged(before, seen), H, seen

    def _averaged(self, before: Array, seen: Past) -> Array:
        """Return the average of components, brought back into the constraints, else the latest."""
        assert seen.latest is not None
        if self.dictionary is not None:
            return seen.latest  # an average of sparse atoms is none
        found = seen.average(before, self.forgetting)
        if self.block.projection is not None:
            found = self.block.projection(found)
        within = self.block.violation(found) <= FEASIBLE and not self.block.collapsed(found)
        return found if within else seen.latest

    def improved(self, past: Past, B: Array) -> Array:
        """Return the components after steps on the sums of the past."""
        return self._improved(past, B.astype(np.float64)).astype(B.dtype)

    def _improved(self, past: Past, B: Array) -> Array:
        G, C, squares = past.in_all(self.samples)
        scale = self.block.addends[0].loss.scale  # type: ignore[attr-defined]
        sums = Quadratic(2 * scale * G, 2 * scale * C, scale * float(squares.sum()))
        held = Subproblem(self.block, (PenaltyView(sums),))
        solver = next(own for own in _STEPS if not own.unmet(self.block))
        found: Array = solver.lower(held, B, solver.look(self.block)).B
        if self.dictionary is None:
            return found
        sparse = self.dictionary.code(G, C, squares, found)
        # An atom of which nothing is left stays as it was.
        norms = np.linalg.norm(sparse, axis=1, keepdims=True)
        return np.asarray(np.divide(sparse, norms, out=found.copy(), where=norms > 0))


def unlearnable(block: Block) -> list[str]:
    """Return why components cannot be improved by sums over the past, nothing where they can."""
    reasons = [own.unmet(block) for own in _STEPS]
    return [] if not all(reasons) else min(reasons, key=len)


def renewed(block: Block, G: Array, B: Array, V: Data, H: Array) -> Array:
    """Return the components with samples that are explained worst in place of those without use.

    Examples
    --------
    >>> import conicnmf as cn
    >>> V, H = np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros((2, 2))
    >>> block = cn.factorize(V, 2, W=[cn.NonNegative()]).blocks[0]
    >>> renewed(block, np.diag([1.0, 0.0]), np.array([[0.0, 1.0], [0.0, 0.0]]), V, H)
    array([[0., 1.],
           [3., 0.]])
    """
    use = np.diag(G)
    idle = np.flatnonzero((use <= _UNUSED * use.max(initial=0.0)) | ~B.any(axis=1))
    if not idle.size or block.projection is None or not block.by_component:
        return B
    left = np.asarray(V - B.T @ H, dtype=np.float64)
    worst = np.argsort(-np.einsum("ij,ij->j", left, left), kind="stable")[: idle.size]
    B = B.copy()
    for j, sample in zip(idle, worst, strict=False):
        own = B.copy()
        own[j] = np.maximum(left[:, sample], 0.0) if block.nonneg else left[:, sample]
        own[j] = block.projection(own, slice(j, j + 1))[0]
        B = own if own[j].any() else B
    return B
