"""Multiplicative updates with momentum, in logarithms as the updates are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.problem import Problem
from conicnmf.settings import Count
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.methods.multiplicative import Multiplicative, multiplicative_step
from conicnmf.solve.methods.rebirth import reborn
from conicnmf.solve.methods.revive import revive
from conicnmf.types import Array, Factors

_FASTEST = 2.0
"""The largest factor by which the last update is taken to go on."""
_LIFT = 1e-4
"""The part of a component's mean from which an entry that grows begins, at first."""
_LOWER = 0.01
"""What is left of that part after a sweep that rose: where tiny entries count, it must be small."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """The factors before the last update, the time since momentum began, the lowest objective.

    `lift` is the part of its component from which an entry begins to grow.
    """

    last: Factors = field(default_factory=dict)
    age: float = 1.0
    objective: float = np.inf
    lift: float = _LIFT

    @property
    def rests(self) -> bool:
        """Whether the next sweep is one of plain updates."""
        return self.age == 0.0


@dataclass(frozen=True)
class AcceleratedMultiplicative(Solver[Problem, Momentum]):
    """Multiplicative updates, each from a point ahead; the objective never rises.

    An update multiplies each entry by a factor. Before the next update, the entry is multiplied by
    a power of this factor, with an exponent that grows as in Nesterov's method. If a sweep would
    raise the objective, it is undone and repeated with plain updates, which cannot raise it. An
    entry close to zero that starts to grow again is first raised to a small fraction of its
    component, because multiplication alone would take too long.

    Parameters
    ----------
    sweeps : int
        How many times all factors are updated before the objective is measured.

    See Also
    --------
    Multiplicative : the plain rule, and whence it comes.

    References
    ----------
    Hien, Leplat and Gillis, Block majorization minimization with extrapolation and application to
    β-NMF, 2024. Their extrapolation adds; this one multiplies.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).poisson(5.0, (8, 6))
    >>> result = cn.factorize(V, 2, loss="kl").solve(cn.AcceleratedMultiplicative())
    >>> bool((np.diff(result.history.objective) <= 1e-12).all())
    True
    """

    sweeps: Count = 4

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = Multiplicative.needs

    def start(self, problem: Problem, context: Context) -> Momentum:
        """Start without momentum."""
        return Momentum()

    def sweep(self, problem: Problem, factors: Factors, memo: Momentum) -> Sweep[Momentum]:
        """Update every variable `sweeps` times; undo all of it if the objective rose."""
        lowest = memo.objective if memo.last else problem.objective(factors)
        found, last, age = factors, memo.last or factors, memo.age
        for _ in range(self.sweeps):
            later = 0.0 if memo.rests else 0.5 * (1 + math.sqrt(1 + 4 * age * age))
            weight = (age - 1) / later if later else 0.0
            before = found
            for block in problem.blocks:
                B = block.rows(found)
                ahead = _ahead(B, block.rows(last), weight, memo.lift) if weight else B
                found = block.put(found, multiplicative_step(block.given(found), ahead))
            last, age = before, later
        objective = problem.objective(found)
        if objective > lowest * (1 + 1e-14) + 1e-14 * problem.unit and not memo.rests:
            return Sweep(factors, Momentum(factors, 0.0, lowest, _LOWER * memo.lift), lowest)
        alive = found
        for block in problem.blocks:
            alive = revive(problem, block, alive)
        if memo.rests or alive is not found:
            last, age = alive, 1.0
        return Sweep(alive, Momentum(last, age, objective, memo.lift), objective)

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return a point where dead components have work, if that is better."""
        return reborn(problem, factors)

    def pack(self, memo: Momentum) -> dict[str, Array]:
        """Return the point before and the time, so that a solve goes on to the last bit."""
        named = {f"last {name}": X for name, X in memo.last.items()}
        return named | {"momentum": np.array([memo.age, memo.objective, memo.lift])}

    def unpack(self, arrays: dict[str, Array], memo: Momentum) -> Momentum:
        """Return the momentum that `pack` wrote."""
        points = {k.removeprefix("last "): X for k, X in arrays.items() if k.startswith("last ")}
        return Momentum(points, *map(float, arrays["momentum"]))


def _ahead(B: Array, last: Array, weight: float, lift: float) -> Array:
    """Multiply by the last change to the power of a weight; zeros stay."""
    tiny = np.finfo(B.dtype).tiny ** 0.5
    change = np.maximum(B, tiny)
    change /= np.maximum(last, tiny)
    np.clip(change, 1 / _FASTEST, _FASTEST, out=change)
    grows = change > 1
    np.log(change, out=change)
    change *= weight
    ahead = np.exp(change, out=change)
    ahead *= B
    lifted = np.maximum(ahead, lift * B.mean(axis=1, keepdims=True))
    ahead = np.where(grows, lifted, np.maximum(ahead, tiny))
    return np.where(B > 0, ahead, B)
