"""One column and an A of few directions: branch and bound over these, with a certified gap.

With A = GGᵀ and d columns in G, max ½wᵀAw is ½φ² for φ = max over unit u in Rᵈ of φ(u), where
φ(u) = max ⟨Gu, w⟩ over w ≥ 0 with wᵀBw ≤ 1 is a convex program with a dual bound. φ is convex and
grows with the length of u, so on the cone of d vertices it lies below the linear function that agrees
with it there: its largest value for a unit u of the cone bounds φ on the whole cone.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from conicnmf.families.one_factor.column_steps import on_scale
from conicnmf.families.one_factor.gains import bounded_aim
from conicnmf.families.one_factor.needs import nonnegative_alone, normalized, quadratic
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor, one_factor
from conicnmf.model.base import BaseProblem
from conicnmf.results import Status
from conicnmf.settings import Positive
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors

_MOST, _FEW = 6, 3
"""Directions that can be searched at all, and so few that it is done by default."""
_CONES = 16
"""Cones that are split in one iteration."""
_ASCENTS = 50

Cone = tuple[float, int, Array, Array]
"""The negative of its bound, its number, its vertices as columns, and φ at them."""


@dataclass(frozen=True, eq=False)
class _Memo:
    """The directions G, the cones that are left, the best w and its ⟨Gu, w⟩, cones so far."""

    G: Array
    cones: tuple[Cone, ...] = ()
    w: Array | None = None
    value: float = 0.0
    count: int = 0

    @property
    def bound(self) -> float:
        """What φ cannot exceed anywhere."""
        return max(self.value, -self.cones[0][0] if self.cones else 0.0)


def few_directions(view: OneFactor) -> Iterator[str]:
    """Yield a reason where A is not positive semi-definite, or has too many directions."""
    if view.rank != 1:
        yield f"it searches for one column, and this problem has {view.rank}"
    elif view.fixed is None or view.fixed.width > _MOST:
        width = "any" if view.fixed is None else str(view.fixed.width)
        yield f"A has {width} directions and it searches {_MOST} at most; give LowRank(G)"
    elif not view.convex:
        yield "A is not positive semi-definite"
    elif view.singular:
        yield "B is singular, so that directions have no bound; add a ridge"


@dataclass(frozen=True)
class DirectionSearch(OneFactorSolver[_Memo]):
    """Maximize ½wᵀAw globally where A has few directions, as between few classes.

    Each of the directions of A is followed to its maximizer, a convex program; branch and bound over
    the sphere of directions ends when none can be better by more than `gap`. The notes of the history
    have the gap that is proved: the maximum is at most 1 + gap times what was found.

    Parameters
    ----------
    gap : float
        The relative distance to the global maximum at which it ends.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import DirectionSearch, Discriminant
    >>> rng = np.random.default_rng(0)
    >>> V, y = rng.standard_normal((4, 60)), np.arange(60) % 3
    >>> result = cn.solve(Discriminant(V + 2 * rng.random((4, 3))[:, y], y), DirectionSearch(1e-3))
    >>> result.status.name, result.history[-1].notes["gap"] <= 1e-3
    ('CONVERGED', True)
    """

    gap: Positive = 1e-4
    asks: ClassVar[Sequence[ViewNeed]] = (quadratic, normalized, nonnegative_alone, few_directions)
    default_stop: ClassVar[Stop] = MaxIter(500)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked: for two or three directions."""
        view = one_factor(problem)
        few = view is not None and view.fixed is not None and 1 < view.fixed.width <= _FEW + 1
        return "A has few directions, and searching them all proves the maximum" if few else ""

    def begin(self, view: OneFactor, context: Context) -> _Memo:
        """Return the directions."""
        assert view.fixed is not None
        return _Memo(np.asarray(view.fixed.directions, dtype=float))

    def advance(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Split the cones of the largest bounds."""
        if memo.w is None:
            memo = self._opened(view, np.asarray(factors[view.name][:, 0], dtype=float), memo)
        else:
            memo = self._split(view, memo)
        assert memo.w is not None
        best, bound = memo.value**2, memo.bound**2
        gap = (bound - best) / best if best else float(bound > 0)
        done = gap <= self.gap or not memo.cones
        status = Status.CONVERGED if done else None
        found = view.factors(memo.w[:, None])
        return Sweep(found, memo, -0.5 * best, status, notes={"gap": gap}, busy=not done)

    def _opened(self, view: OneFactor, w: Array, memo: _Memo) -> _Memo:
        """Return the cones between the axes, one for each choice of signs."""
        d = memo.G.shape[1]
        memo = _better(view, memo, w)
        ends = {}
        for sign in (1.0, -1.0):
            for k in range(d):
                ends[k, sign], w = bounded_aim(view, sign * memo.G[:, k])
                memo = _better(view, memo, w)
        cones = []
        # A = 0 has no directions, and nothing to search.
        for number, choice in enumerate(np.ndindex(*(2,) * d) if d else ()):
            signs = 1.0 - 2.0 * np.array(choice)
            heights = np.array([ends[k, sign] for k, sign in enumerate(signs)])
            cones.append(_cone(number, np.diag(signs), heights))
        heapq.heapify(cones)
        return _Memo(memo.G, tuple(cones), memo.w, memo.value, len(cones))

    def _split(self, view: OneFactor, memo: _Memo) -> _Memo:
        cones = list(memo.cones)
        for _ in range(_CONES):
            if not cones or cones[0][0] ** 2 <= (1 + self.gap) * memo.value**2:
                break
            cap, _, U, heights = heapq.heappop(cones)
            i, j = _widest(U)
            middle = U[:, i] + U[:, j]
            middle /= np.linalg.norm(middle)
            height, w = bounded_aim(view, memo.G @ middle)
            better = _better(view, memo, w)
            for k in (i, j):
                V, own = U.copy(), heights.copy()
                V[:, k], own[k] = middle, height
                heapq.heappush(cones, _cone(better.count + k, V, own, cap))
            memo = _Memo(memo.G, (), better.w, better.value, better.count + max(i, j) + 1)
        return _Memo(memo.G, tuple(cones), memo.w, memo.value, memo.count)


def _cone(number: int, U: Array, heights: Array, cap: float = -np.inf) -> Cone:
    """Return a cone with its bound, which is never above that of the cone it was cut from."""
    slope = np.linalg.solve(U.T, heights)
    inside, _ = nnls(U, slope)  # the part of the slope in the cone is as long as its largest value
    return max(-float(np.linalg.norm(U @ inside)) * (1 + 1e-12), cap), number, U, heights


def _widest(U: Array) -> tuple[int, int]:
    """Return the two vertices that are farthest apart."""
    cosines = U.T @ U
    np.fill_diagonal(cosines, np.inf)
    i, j = np.unravel_index(int(cosines.argmin()), cosines.shape)
    return int(i), int(j)


def _better(view: OneFactor, memo: _Memo, w: Array) -> _Memo:
    """Return the memo with w, improved by linearizing again, where it is better than the best."""
    if not w.any():
        return memo if memo.w is not None else _Memo(memo.G, memo.cones, w, 0.0, memo.count)
    w = on_scale(view, w)
    value = float(np.linalg.norm(memo.G.T @ w))
    for _ in range(_ASCENTS):
        ahead = bounded_aim(view, memo.G @ (memo.G.T @ w))[1]
        ahead = on_scale(view, ahead) if ahead.any() else w
        reached = float(np.linalg.norm(memo.G.T @ ahead))
        if not reached > value * (1 + 1e-10):
            break
        w, value = ahead, reached
    if memo.w is not None and value <= memo.value:
        return memo
    return _Memo(memo.G, memo.cones, w, value, memo.count)
