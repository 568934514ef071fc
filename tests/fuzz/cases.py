"""A case: everything about one solve, drawn from its id alone."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from . import constraints
from .data import Data, draw_data, pick
from .losses import DrawnLoss, draw_loss
from .methods import Method, draw_method
from .penalties import draw_penalty
from .terms import Drawn, Side

STYLES = {"plain": 3, "components": 3, "any": 4}
"""Non-negative factors; terms that most solvers take; everything."""
SHAPERS = {
    "plain": {"none": 1},
    "components": {"none": 4, "unit_norm": 1, "prescribed": 1},
    "any": {"none": 14, "simplex": 3, "unit_norm": 0.5, "prescribed": 2},
}
FITTERS = {
    "plain": {"none": 1},
    "components": {"none": 4, "sparse": 4, "box": 1, "fixed": 1, "norm_ball": 1},
    "any": {
        "none": 12,
        "sparse": 6,
        "box": 2,
        "fixed": 2,
        "norm_ball": 2,
        "convex": 2,
        "labels": 1,
    },
}


@dataclass(frozen=True, eq=False)
class Case:
    """One problem and one way to solve it; `feasible` when `point` satisfies every constraint."""

    id: str
    data: Data
    rank: int
    loss: DrawnLoss
    terms: dict[str, list[Drawn]]
    point: tuple[np.ndarray, np.ndarray]
    feasible: bool
    doors: tuple[str, ...]
    method: Method

    @property
    def text(self):
        m, n = self.data.dense.shape
        sides = [f"{f}: {', '.join(t.text for t in ts) or 'free'}" for f, ts in self.terms.items()]
        known = "feasible" if self.feasible else "wild"
        head = f"{self.id}  V {m} × {n} ({self.data.text}), rank {self.rank}, {known}"
        doors = " and ".join(self.doors)
        return f"{head}; {self.loss.text}; {'; '.join(sides)}; {doors}; {self.method.text}"

    def state(self, door):
        """State the problem through a door."""
        if door == "terms":
            W, H = ([t.term() for t in self.terms[f]] for f in "WH")
            loss = None if self.loss.text == "Frobenius(1)" else self.loss.term()
            return cn.factorize(self.data.V, self.rank, loss=loss, W=W, H=H)
        return self._algebra()

    def _algebra(self):
        m, n = self.data.dense.shape
        W, H = cp.Variable((m, self.rank), name="W"), cp.Variable((self.rank, n), name="H")
        V = cp.Constant(self.data.V) if sp.issparse(self.data.V) else self.data.V
        objective, limits = self.loss.algebra(V, W @ H), []
        for X, terms in ((W, self.terms["W"]), (H, self.terms["H"])):
            for term in terms:
                stated = term.algebra(X)
                if term.value is not None:
                    objective = objective + stated
                else:
                    limits += stated if isinstance(stated, list) else [stated]
        return cn.Problem(cp.Minimize(objective), limits)

    def inputs(self):
        """Return everything of the user's that must come back unchanged."""
        own = [x for f in "WH" for t in self.terms[f] for x in t.inputs]
        return [self.data.V, *self.loss.inputs, *own, *self.method.inputs]


def draw_case(seed, k):
    """Return case k of a seed."""
    rng = np.random.default_rng([seed, k])
    m, n, rank = _shape(rng)
    scale = float(pick(rng, {1.0: 20, 1e-3: 1, 1e3: 1, 1e-8: 0.7, 1e8: 0.7}))
    style = pick(rng, STYLES)
    wild = style != "plain" and rng.random() < 0.2
    tiny = m * n <= 40 and rank <= 3
    root = float(f"{np.sqrt(scale):.3g}")
    shapes = {"W": (m, rank), "H": (rank, n)}
    sides = [_side(rng, f, shape, style, wild, root) for f, shape in shapes.items()]
    terms = {side.factor: _constraints(rng, side, style) for side in sides}
    point = tuple(side.point for side in sides)
    for side in sides:
        for _ in range(int(rng.choice(3, p=[0.75, 0.2, 0.05]))):
            terms[side.factor].append(draw_penalty(rng, side, root * max(m, n)))
    data = draw_data(rng, *point, scale)
    in_algebra = _in_algebra(data, terms)
    loss = draw_loss(rng, data.dense, point, style, tiny and in_algebra)
    doors = _doors(rng, in_algebra, loss)
    method = draw_method(rng, style, point, tiny)
    return Case(f"{seed}:{k}", data, rank, loss, terms, point, not wild, doors, method)


def _shape(rng):
    m, n = (int(rng.integers(2, 13)) for _ in range(2))
    rank = int(rng.integers(1, min(m, n) + 1)) if rng.random() < 0.85 else int(rng.integers(1, 13))
    odd = rng.random()
    if odd < 0.08:
        return m, n, 1
    return (1 if odd < 0.13 else m), (1 if 0.13 <= odd < 0.18 else n), rank


def _side(rng, factor, shape, style, wild, root):
    nonneg = rng.random() < {"plain": 0.95, "components": 0.9, "any": 0.85}[style]
    X = rng.random(shape) ** 2 + 0.01 if nonneg else rng.standard_normal(shape)
    if nonneg and rng.random() < 0.3:
        X = np.where(rng.random(shape) < 0.3, 0.001, X)
    return Side(factor, root * X, nonneg, wild, style != "any", root)


def _constraints(rng, side, style):
    """Draw the terms: first what shapes the point, then bounds that the point meets."""
    drawn = [constraints.nonnegative(rng, side)] if side.nonneg else []
    shaper = pick(rng, SHAPERS[style])
    if shaper != "none" and (side.nonneg or shaper != "simplex"):
        drawn.append(getattr(constraints, shaper)(rng, side))
    for _ in range(1 if side.simple else 2):
        fitter = pick(rng, FITTERS[style])
        if fitter == "labels" and not (side.factor == "H" and side.nonneg):
            continue
        if fitter != "none":
            drawn.append(getattr(constraints, fitter)(rng, side))
    return drawn


def _in_algebra(data, terms):
    """Whether CVXPY can state the data and every term."""
    V = data.V
    plain = isinstance(V, np.ndarray) and V.dtype.kind == "f" and V.itemsize > 2
    stated = plain or (sp.issparse(V) and V.format in ("csr", "csc"))
    return stated and all(t.algebra is not None for ts in terms.values() for t in ts)


def _doors(rng, in_algebra, loss):
    """Return the doors to use."""
    if loss.term is None:
        return ("algebra",)
    if not in_algebra or loss.algebra is None:
        return ("terms",)
    return (("terms",), ("algebra",), ("terms", "algebra"))[int(rng.choice(3, p=[0.6, 0.2, 0.2]))]
