"""The problem that options state: bounds, terms, loss and weights as a model of DATA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from conicnmf.cli import options as o
from conicnmf.cli.data import Source, read_weights
from conicnmf.cli.in_cvxpy import constraints_on, factors_of, read_constraint
from conicnmf.cli.stated import read_loss, read_term
from conicnmf.errors import InputError
from conicnmf.model.constraints import NonNegative, NormBall, Sparseness
from conicnmf.model.factorize import factorize
from conicnmf.model.losses import Frobenius, WeightedFrobenius
from conicnmf.model.penalties import L1
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Constraint, Loss, Term


@dataclass(frozen=True, kw_only=True)
class Statement:
    """The options that state a problem.

    Examples
    --------
    >>> import numpy as np
    >>> Statement(rank=2, sparse_w=0.6, l1_h=0.1).problem(Source("ones", np.ones((4, 3)))).H
    (NonNegative(), L1(weight=0.1))
    """

    rank: o.Rank
    sparse_w: o.SparseW = None
    sparse_w_max: o.SparseWMax = None
    sparse_h: o.SparseH = None
    l1_h: o.L1H = None
    loss: o.LossName = None
    term_w: o.TermsOfW = None
    term_h: o.TermsOfH = None
    constraint: o.Constraints = None
    weights: o.Weights = None

    def problem(self, source: Source, memory_limit: str | None = None) -> Problem:
        """Return the problem of these data."""
        named = (source.features, source.samples)
        features, samples = (None if own is None else numbered(own) for own in named)
        W, H = self._constraints(source.V)
        return factorize(
            source.V,
            self.rank,
            loss=self._loss(source.known),
            W=[*W, *self._terms_of_W()],
            H=[*H, *self._terms_of_H()],
            memory_limit=memory_limit,
            feature_names=features,
            sample_names=samples,
        )

    def _loss(self, known: Any) -> Loss:
        loss = Frobenius() if self.loss is None else read_loss(self.loss)
        weights = read_weights(self.weights)
        if weights is not None:
            loss = weighed(loss, weights)
        return loss if known is None else loss.masked(known)

    def _constraints(self, V: Any) -> Iterator[list[Constraint]]:
        """Yield what is stated of W and of H in CVXPY's words, and that they are not negative."""
        if not self.constraint:
            yield [NonNegative()]
            yield [NonNegative()]
            return
        if not hasattr(V, "shape"):
            raise InputError(
                "--constraint needs DATA in memory, but it is read in strips; use terms"
            )
        factors = factors_of(V.shape, self.rank)
        stated = [read_constraint(text, factors) for text in self.constraint]
        for axis, (name, X) in enumerate(factors.items()):
            yield constraints_on(X, [constraint for own, constraint in stated if own == name], axis)

    def _terms_of_W(self) -> list[Term]:
        terms: list[Term] = []
        if self.sparse_w is not None or self.sparse_w_max is not None:
            most = 1.0 if self.sparse_w_max is None else self.sparse_w_max
            terms.append(Sparseness(self.sparse_w or 0.0, most))
        if self.l1_h is not None:
            terms.append(NormBall())  # else W would grow and the sum of H melt away
        return [*terms, *map(read_term, self.term_w or ())]

    def _terms_of_H(self) -> list[Term]:
        terms: list[Term] = []
        if self.sparse_h is not None:
            terms.append(Sparseness(self.sparse_h))
        if self.l1_h is not None:
            terms.append(L1(self.l1_h))
        return [*terms, *map(read_term, self.term_h or ())]


def weighed(loss: Loss, weights: Any) -> Loss:
    """Return a loss with a weight for each entry.

    Examples
    --------
    >>> import numpy as np
    >>> weighed(Frobenius(), np.array([[1.0, 4.0]])).value(np.zeros((1, 2)), np.eye(1), np.ones((1, 2)))
    5.0
    """
    if "masked" not in loss.abilities:
        raise InputError(f"{loss} takes no weights; leave out --weights, or use --loss kl")
    if weights.min() < 0:
        raise InputError(f"--weights must be >= 0, got {weights.min():g}; take magnitudes")
    if isinstance(loss, Frobenius):  # its weights multiply residuals
        return WeightedFrobenius(np.sqrt(weights), loss.scale)
    return loss.masked(weights)


def numbered(names: list[str]) -> list[str]:
    """Return names that differ: later ones of the same name get a number.

    Examples
    --------
    >>> numbered(["a", "a", "b"])
    ['a', 'a (2)', 'b']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in map(str, names):
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found if len(set(found)) == len(found) else [f"{n} #{i}" for i, n in enumerate(names)]
