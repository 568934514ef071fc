"""Estimators that learn from one batch of samples after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from conicnmf.errors import IncompatibleError, InputError
from conicnmf.estimators.base import FactorizationEstimator
from conicnmf.families.coding.batches import Lesson, Past, unlearnable
from conicnmf.families.coding.coders import Coder
from conicnmf.model.factorize import factorize
from conicnmf.model.terms import Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.types import Array, Data


class Streaming(FactorizationEstimator):
    """A factorization that can be learned batch by batch.

    Σ h hᵀ and Σ v hᵀ over all samples seen are enough to improve W without the samples, and they fade
    with every batch, since the codes of early ones belong to components long gone. W is improved by
    exact steps over its components, so every constraint on it holds at any time.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro, Online learning for matrix factorization and sparse coding,
    JMLR 2010.
    """

    _past: Past | None

    def _streamed_terms(self) -> Sequence[Term]:
        """Return the terms that W obeys from the second batch on."""
        return self._terms()[0]

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Improve the components by one more batch; the first batch is fitted by itself.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
            Complete samples, without NaN.
        y : ignored
        """
        first = not hasattr(self, "components_")
        V, observed = self._data(X, reset=first)
        if observed is not None:
            raise InputError("partial_fit needs complete samples, got NaN; fit takes missing ones")
        if first:
            return self.fit(X)
        lesson = self._lesson(V)
        B = np.ascontiguousarray(self.components_)
        self.components_, _, self._past = lesson.learned(V, B, self._past)
        self.n_iter_ += 1
        return self

    def _keep(self, result: Any, V: Data, observed: Any) -> Self:
        super()._keep(result, V, observed)
        self._past = Past.of(V, result.H) if observed is None else None
        return self

    def _lesson(self, V: Data) -> Lesson:
        """Return how components learn from a batch."""
        loss, terms = self._loss(), self._streamed_terms()
        reasons = [
            f"{term} on H links samples" for term in self._terms()[1] if not of_one_sample(term)
        ]
        block = factorize(V, self.n_components, loss=loss, W=terms).blocks[0]
        if "quadratic" not in loss.abilities:
            reasons.append(f"{loss} is not a sum of squares, which batches need")
        else:
            reasons += unlearnable(block)
        if self._past is None:
            reasons.append("the first batch had missing entries")
        if reasons:
            listed = "\n".join(f"  - {reason}" for reason in reasons)
            raise IncompatibleError(f"this model cannot be learned batch by batch:\n{listed}")
        return Lesson(block, lambda W: self._coded(V, W), dictionary=self._dictionary())

    def _dictionary(self) -> Coder | None:
        """Return what makes components sparse, if anything does."""
        return None

    def _coded(self, V: Data, W: Array) -> Array:
        self.components_ = np.ascontiguousarray(W.T)
        return self._codes(V, None)
