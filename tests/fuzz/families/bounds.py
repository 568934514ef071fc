"""Branch and bound: a lower bound is below every feasible point, whichever solver found it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import conicnmf as cn

from ..draw.numbers import chance, pick
from ..judge import measures
from ..judge.checked import run_checks
from ..judge.findings import Finding

KINDS = {"block": 3, "whole": 2, "certificate": 1}
STOP = 6


@dataclass(frozen=True, eq=False)
class BoundCase:
    """A small problem with a band on the components of W, and how many parts may be bounded."""

    id: str
    kind: str
    V: np.ndarray
    rank: int
    band: tuple[float, float]
    signed: bool
    budget: int
    seed: int

    refused = False

    @property
    def text(self):
        m, n = self.V.shape
        sign = ", signed W" if self.signed else ""
        given = f"V {m} × {n} up to {np.abs(self.V).max():.3g}, rank {self.rank}, band {self.band}"
        return f"{self.id}  {self.kind}, {given}{sign}, budget {self.budget}, seed {self.seed}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_checks(self)

    def inputs(self):
        return [self.V]

    def problem(self):
        """Return the problem as it is stated."""
        sign = [] if self.signed else [cn.NonNegative()]
        terms = [*sign, cn.Sparseness(*self.band)] if self.band != (0.0, 1.0) else sign
        return cn.factorize(self.V, self.rank, W=terms)

    def check(self):
        """Bound from below, and yield what is wrong with the bound or with the point."""
        problem = self.problem()
        tried = [problem.solve(seed=self.seed + k, stop=STOP, throw=False) for k in range(3)]
        tried = [own for own in tried if own.status.kind != "failed"]
        if not tried:
            return
        if self.kind == "certificate":
            str(tried[0].certificate(budget=self.budget, restarts=2))
            return
        try:
            found = self._found(problem, tried[0])
        except cn.IncompatibleError:
            return
        yield from self._point(found, tried[0])
        yield from self._lower(found, tried)

    def _found(self, problem, begin):
        if self.kind == "block":
            return cn.global_block(problem, begin.factors, "W", budget=self.budget)
        return cn.global_minimum(problem, begin.factors, budget=self.budget, seed=self.seed)

    def _point(self, found, begin):
        W, H = (np.asarray(found.factors[name], dtype=float) for name in "WH")
        own, whole = measures.squares(self.V, W @ H), float((self.V**2).sum())
        if not abs(own - found.objective) <= 1e-7 * own + 1e-12 * whole:
            yield Finding("objective", f"reported {found.objective:.9g}, is {own:.9g}")
        outside = measures.outside_band(W.T, *self.band)
        if outside > 1e-5 or (not self.signed and W.min() < 0) or H.min() < 0:
            yield Finding("infeasible", f"sparseness is out of its band by {outside:.3g}")
        if self.kind == "block" and not np.array_equal(H, begin.H):
            yield Finding("value", "what was held is another one")
        if found.objective > begin.objective * (1 + 1e-9) + 1e-12 * whole:
            yield Finding("best kept", f"{found.objective:.9g} from {begin.objective:.9g}")
        if found.proved != (found.gap <= 1e-3) and own > 1e-9 * whole:
            yield Finding("status", f"proved {found.proved} with a gap of {found.gap:.3g}")

    def _lower(self, found, tried):
        """Feasible points of other starts; for a block with H held, and multiples of W too."""
        whole = float((self.V**2).sum())
        for other in tried:
            W, H = other.W, found.factors["H"] if self.kind == "block" else other.H
            model = W @ H
            size = float((model**2).sum())
            best = max(0.0, float((self.V * model).sum()) / size) if size else 0.0
            value = min(measures.squares(self.V, c * model) for c in (1.0, best or 1.0))
            if found.lower > value * (1 + 1e-6) + 1e-9 * whole:
                yield Finding("value", f"at least {found.lower:.9g}, and there is {value:.9g}")


def draw(rng, name, shift=0):
    """Draw a small problem."""
    kind = pick(rng, KINDS)
    m, n = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    rank = 1 if kind == "whole" and chance(rng, 0.5) else int(rng.integers(1, 3))
    V = rng.random((m, rank)) @ rng.random((rank, n)) + 0.2 * rng.random((m, n))
    V = V - (0.6 if chance(rng, 0.15) else 0.0)
    V[:, -1] = 0.0 if chance(rng, 0.1) else V[:, -1]
    V *= pick(rng, {1.0: 8, 2.0**24: 1, 2.0**-24: 1, 2.0**90: 0.5})
    low, high = np.sort(rng.random(2)).round(2)
    band = pick(rng, {(float(low), 1.0): 4, (0.0, float(high)): 1, (float(low), float(high)): 1})
    band = (0.0, 1.0) if chance(rng, 0.1) else band
    budget = int(rng.choice([1, 5, 40, 150]))
    return BoundCase(name, kind, V, rank, band, chance(rng, 0.15), budget, int(rng.integers(50)))
