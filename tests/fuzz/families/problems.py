"""Factorizations of every shape: two factors, views, offsets, three factors, constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..draw import constraints, structured
from ..draw.data import EXPONENTS, Data, draw_data
from ..draw.losses import DrawnLoss, draw_loss
from ..draw.methods import Method, draw_method
from ..draw.numbers import chance, pick
from ..draw.penalties import draw_penalty
from ..draw.shapes import Shape, draw_shape
from ..draw.terms import Drawn, Side
from ..draw.units import share_units
from ..judge import measures
from ..judge.run import run_problem
from ..judge.stated import Stated

STYLES = {"plain": 3, "components": 3, "any": 4}
"""Non-negative factors; terms that most solvers take; everything."""
SHAPERS = {
    "plain": {"none": 1},
    "components": {
        "none": 4,
        "unit_norm": 1,
        "prescribed": 1,
        "monotone": 0.3,
        "unimodal": 0.3,
        "cardinality": 0.4,
        "orthogonal": 0.2,
    },
    "any": {
        "none": 14,
        "simplex": 3,
        "unit_norm": 0.5,
        "prescribed": 2,
        "monotone": 0.8,
        "unimodal": 0.5,
        "cardinality": 0.8,
        "orthogonal": 0.5,
    },
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
        "factor_sum": 0.7,
        "factor_norm": 0.7,
    },
}


@dataclass(frozen=True, eq=False)
class ProblemCase:
    """One problem and one way to solve it; `feasible` when `point` satisfies every constraint."""

    id: str
    shape: Shape
    data: dict[str, Data]
    losses: dict[str, DrawnLoss]
    terms: dict[str, list[Drawn]]
    point: dict[str, np.ndarray]
    feasible: bool
    doors: tuple[str, ...]
    method: Method
    weights: dict[str, float] = field(default_factory=dict)

    @property
    def text(self):
        sides = [f"{f}: {', '.join(t.text for t in ts) or 'free'}" for f, ts in self.terms.items()]
        known = "feasible" if self.feasible else "wild"
        given = [
            f"{m.data} {m.shape[0]} × {m.shape[1]} ({self.data[m.data].text}) by "
            f"{self.weight(m.data):g} {self.losses[m.data].text} ≈ {m.text}"
            for m in self.shape.models
        ]
        parts = [*given, *sides, " and ".join(self.doors), self.method.text]
        return f"{self.id}  rank {self.shape.rank}, {known}; {'; '.join(parts)}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_problem(self)

    def weight(self, name):
        """Return what the loss of these data is multiplied by."""
        return self.weights.get(name, 1.0)

    @property
    def shapes(self):
        return {name: shape for name, (shape, _) in self.shape.variables.items()}

    @property
    def single(self):
        """Whether some of the numbers are in single precision, and with them the objective."""
        weights = any("single" in loss.text for loss in self.losses.values())
        return weights or any(data.single for data in self.data.values())

    @property
    def refused(self):
        """What must be refused, "" where everything is right."""
        return "data" if any(data.refused for data in self.data.values()) else self.method.wrong

    @property
    def many_paths(self):
        """Whether its statement in CVXPY may lead elsewhere.

        The algebra makes one bound of two on the same thing, and may know a `Convex` for what it
        is, a ball say, which another solver takes; its variables may come in another order; and
        where there are as many components as rows or columns, a block has more than one minimum.
        """
        kinds = [[t.kind for t in terms] for terms in self.terms.values()]
        merged = any(len(set(names)) < len(names) or "Convex" in names for names in kinds)
        wide = not self.shape.is_two or self.shape.rank >= min(self.shape.models[0].shape)
        return merged or wide or self.method.start != "None"

    # What the case means in NumPy.

    def objective(self, X):
        """Return the objective."""
        values = (m.value(X, self.shape.constants) for m in self.shape.models)
        fits = [
            self.weight(m.data) * self.losses[m.data].value(value)
            for m, value in zip(self.shape.models, values, strict=True)
        ]
        return sum(fits) + sum(self._penalties(X))

    def _penalties(self, X):
        return [t.value(X[name]) for name, ts in self.terms.items() for t in ts if t.value]

    def violation(self, X):
        """Return the largest violation and the constraint it belongs to."""
        worst = [
            (float(t.violation(X[name])), f"{name}: {t.text}")
            for name, ts in self.terms.items()
            for t in ts
            if t.violation
        ]
        for m in self.shape.models:
            loss = self.losses[m.data]
            if np.isfinite(loss.cap):
                value = loss.value(m.value(X, self.shape.constants))
                worst.append((value / loss.cap - 1, "the loss's cap"))
        return max(worst, default=(0.0, ""))

    def size(self, X):
        """Return the size of the numbers that are subtracted from each other in the objective."""
        total = 0.0
        for m in self.shape.models:
            most, loss = m.magnitude(X, self.shape.constants), self.losses[m.data]
            total += self.weight(m.data) * max(loss.value(most), loss.value(-most))
        return total + sum(map(abs, self._penalties(X)))

    def magnitude(self, X):
        """Return the squares of the numbers that are subtracted from the data."""
        sizes = [m.magnitude(X, self.shape.constants) for m in self.shape.models]
        return sum(float((own**2).sum()) for own in sizes)

    def errors(self, X):
        """Return the squared error of each model and the squares of its data, by name."""
        found = {}
        for m in self.shape.models:
            V, M = self.data[m.data].dense, self.losses[m.data].weights
            model = m.value(X, self.shape.constants)
            found[m.data] = tuple(measures.squares(V, own, M) for own in (model, np.zeros(V.shape)))
        return found

    # How it is stated.

    def state(self, door):
        """State the problem through a door."""
        ways = {"terms": self._factorize, "compose": self._compose, "algebra": self._algebra}
        return ways[door]()

    def _terms(self, name):
        return [t.term() for t in self.terms[name]]

    def _loss(self, name):
        loss = self.losses[name]
        return None if loss.text == "Frobenius(1)" else loss.term()

    def _factorize(self):
        options: dict[str, Any] = dict(self.shape.options or {})
        views = len(self.shape.models) > 1
        if views:
            names = [m.data for m in self.shape.models]
            options["loss"] = {x: loss for x in names if (loss := self._loss(x)) is not None}
            options["weight"] = {x: self.weight(x) for x in names}
            V = {x: self.data[x].V for x in names}
        else:
            V, options["loss"] = self.data["V"].V, self._loss("V")
            options["weight"] = self.weight("V")
        for name in self.terms:
            letter, _, view = name.partition("_")
            if view:
                options.setdefault(letter, {})[view] = self._terms(name)
            else:
                options[letter] = self._terms(name)
        return Stated(cn.factorize(V, self.shape.rank, **options))

    def _compose(self):
        approximations = [
            cn.Approx(
                self.data[m.data].V,
                m.text,
                loss=self._loss(m.data),
                weight=self.weight(m.data),
                name=m.data,
            )
            for m in self.shape.models
        ]
        terms = {name: self._terms(name) for name in self.terms}
        rank, constants = self.shape.rank, self.shape.constants
        return Stated(cn.compose(*approximations, rank=rank, constants=constants, **terms))

    def _algebra(self):
        X = {name: cp.Variable(shape, name=name) for name, shape in self.shapes.items()}
        objective, limits = 0, []
        for m in self.shape.models:
            V = cp.Constant(self.data[m.data].V)
            fit = self.losses[m.data].algebra(V, m.value(X, self.shape.constants))
            objective = objective + self.weight(m.data) * fit
        for name, terms in self.terms.items():
            for term in terms:
                stated = term.algebra(X[name])
                if term.value is not None:
                    objective = objective + stated
                else:
                    limits += stated if isinstance(stated, list) else [stated]
        return Stated(cn.Problem(cp.Minimize(objective), limits), X)

    def inputs(self):
        """Return everything of the user's that must come back unchanged."""
        own = [x for terms in self.terms.values() for t in terms for x in t.inputs]
        losses = [x for loss in self.losses.values() for x in loss.inputs]
        data = [data.V for data in self.data.values()]
        return [*data, *losses, *own, *self.shape.constants.values(), *self.method.arrays.values()]


def draw(rng, name, shift=0):
    """Draw a problem; `shift` gives the same one for data 2^(6 shift) times as large."""
    m, n, rank = _sizes(rng)
    shape = draw_shape(rng, m, n, rank)
    exponent = pick(rng, EXPONENTS) + 6 * shift
    style = pick(rng, STYLES)
    wild = style != "plain" and rng.random() < 0.2
    shapers = {own: pick(rng, SHAPERS[style]) for own in shape.variables}
    normed = [own for own, shaper in shapers.items() if shaper == "unit_norm"]
    exponents = share_units(shape, normed, exponent)
    unit = 2.0 ** (exponent if any(exponents.values()) else 0)
    sides = _sides(rng, shape, style, wild, exponents)
    terms = {side.name: _constraints(rng, side, style, shapers[side.name]) for side in sides}
    point = {side.name: side.point for side in sides}
    for side in sides:
        side.worth = unit**2 * max(m, n)
        for _ in range(int(rng.choice(3, p=[0.75, 0.2, 0.05]))):
            terms[side.name].append(draw_penalty(rng, side))
    models = {o.data: o.value(point, shape.constants) for o in shape.models}
    data = {own: draw_data(rng, model, unit, 0.02) for own, model in models.items()}
    stated = _stated_in_cvxpy(data, terms)
    tiny = m * n <= 40 and rank <= 3 and shape.is_two
    losses = {
        own: draw_loss(rng, data[own].dense, model, style, tiny and stated)
        for own, model in models.items()
    }
    weights = {own: float(pick(rng, {1.0: 3, 0.5: 1, 4.0: 1})) for own in list(models)[1:]}
    units = {side.name: side.unit for side in sides} | {"data": unit}
    method = draw_method(rng, style, point, units, tiny)
    doors = _doors(rng, shape, stated, losses.values())
    return ProblemCase(name, shape, data, losses, terms, point, not wild, doors, method, weights)


def _stated_in_cvxpy(data, terms):
    """Whether CVXPY can state the data and every term."""
    plain = all(own.stated_in_cvxpy and not own.refused for own in data.values())
    return plain and all(t.algebra is not None for ts in terms.values() for t in ts)


def _sizes(rng):
    m, n = (int(rng.integers(2, 13)) for _ in range(2))
    rank = int(rng.integers(1, min(m, n) + 1)) if rng.random() < 0.85 else int(rng.integers(1, 13))
    odd = rng.random()
    if odd < 0.08:
        return m, n, 1
    return (1 if odd < 0.13 else m), (1 if 0.13 <= odd < 0.18 else n), rank


def _sides(rng, shape, style, wild, exponents):
    """Draw a point for each variable."""
    share = {"plain": 0.95, "components": 0.9, "any": 0.85}[style]
    sides = []
    for name, (own, columns) in shape.variables.items():
        nonneg, unit = chance(rng, share), 2.0 ** exponents[name]
        X = rng.random(own) ** 2 + 0.01 if nonneg else rng.standard_normal(own)
        if nonneg and chance(rng, 0.3):
            X = np.where(rng.random(own) < 0.3, 0.001, X)
        sides.append(Side(name, unit * X, columns, nonneg, wild, style != "any", unit))
    return sides


def _constraints(rng, side, style, shaper):
    """Draw the terms: first what shapes the point, then bounds that the point meets."""
    drawn = [constraints.nonnegative(rng, side)] if side.nonneg else []
    if shaper != "none" and (side.nonneg or shaper not in ("simplex", "orthogonal")):
        drawn.append(_MAKERS[shaper](rng, side))
    for _ in range(1 if side.simple else 2):
        fitter = pick(rng, FITTERS[style])
        labeled = side.name.startswith("H") and side.nonneg and not side.columns
        if fitter == "labels" and not labeled:
            continue
        if fitter != "none":
            drawn.append(_MAKERS[fitter](rng, side))
    return drawn


_MAKERS = vars(constraints) | vars(structured)


def _doors(rng, shape, in_algebra, losses):
    """Return the doors to use, one or two of those that can state the problem."""
    if any(loss.term is None for loss in losses):
        return ("algebra",)
    able = (["terms"] if shape.options is not None else []) + ["compose"]
    able += ["algebra"] if in_algebra and all(loss.algebra is not None for loss in losses) else []
    first = able[0] if chance(rng, 0.6) else able[int(rng.integers(len(able)))]
    others = [door for door in able if door != first]
    if others and chance(rng, 0.25):
        return first, others[int(rng.integers(len(others)))]
    return (first,)
