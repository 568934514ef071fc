"""A factorization of any shape: what it means in NumPy, and how it is stated through each door."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn

from ..draw.data import Data
from ..draw.losses import DrawnLoss
from ..draw.methods import Method
from ..draw.shapes import Shape
from ..draw.terms import Drawn
from ..judge import measures
from ..judge.run import run_problem
from ..judge.stated import Stated

OWN = {"Convex", "ConvexPenalty", "ReverseConvex", "ConcavePenalty"}
"""Terms that hold a function of the user's."""


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
    def may_be_unread(self):
        """Whether CVXPY expressions may be kept as they are, without a look at their data."""
        return any("Frobenius" not in loss.text for loss in self.losses.values())

    @property
    def refused(self):
        """What must be refused, "" where everything is right."""
        wrong = any(data.refused for data in self.data.values())
        wrong = wrong or any(loss.refuses for loss in self.losses.values())
        return "data" if wrong else self.method.wrong

    @property
    def many_paths(self):
        """Whether its statement in CVXPY may lead elsewhere.

        The algebra makes one bound of two on the same thing, and may know a user's function for
        what it is, a ball say, which another solver takes; its variables may come in another order; and
        where there are as many components as rows or columns, a block has more than one minimum.
        """
        kinds = [[t.kind for t in terms] for terms in self.terms.values()]
        merged = any(len(set(names)) < len(names) or OWN & set(names) for names in kinds)
        wide = not self.shape.is_two or self.shape.rank >= min(self.shape.models[0].shape)
        squares = all("Frobenius" in loss.text for loss in self.losses.values())
        return merged or wide or not squares or self.method.start != "None"

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
            most = m.magnitude(X, self.shape.constants)
            total += self.weight(m.data) * self.losses[m.data].size(most)
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
        ways = {"terms": self._factorize, "compose": self._compose, "algebra": self.priced}
        return ways[door]()

    def _terms(self, name):
        return [t.term() for t in self.terms[name]]

    def stated_terms(self):
        """Return the loss and the terms of two factors, as `factorize` takes them."""
        return {"loss": self._loss("V"), "W": self._terms("W"), "H": self._terms("H")}

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

    def priced(self, price=None):
        """State it in CVXPY, with a price on the magnitudes of the last variable if there is one."""
        X = {name: cp.Variable(shape, name=name) for name, shape in self.shapes.items()}
        objective, limits = 0, []
        if price is not None:
            objective = price * cp.sum(cp.abs(list(X.values())[-1]))
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
