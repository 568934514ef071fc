"""Learning from one batch after the other: codes of the batch, then all components by the past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from conicnmf.errors import IncompatibleError, InputError
from conicnmf.estimators.base import FactorizationEstimator
from conicnmf.families.coding.sparse_code import squared_norms
from conicnmf.model.blocks import Block
from conicnmf.model.factorize import factorize
from conicnmf.model.terms import Quadratic, Term
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.solve.methods import HALS
from conicnmf.types import Array, Data

_SWEEPS = HALS(sweeps=10, extrapolate=False)
_ROUNDS = 5
"""How often codes of a batch and components are found in turn."""
_FADING = 16.0
"""The past counts (1 − 1/t)¹⁶ after batch t: codes of early batches belong to poor components."""
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

    @classmethod
    def of(cls, V: Data, H: Array) -> Past:
        """Return the sums of one batch in double precision."""
        wide = H.astype(np.float64)
        n = V.shape[1]
        return cls(wide @ wide.T, np.asarray((V @ wide.T).T), squared_norms(V.T), n, n)

    def then(self, new: Past) -> Past:
        """Return the sums with one more batch."""
        t = self.batches + 1
        left = (1 - 1 / t) ** _FADING
        return Past(
            left * self.G + new.G,
            left * self.C + new.C,
            left * self.squares + new.squares,
            left * self.count + new.count,
            self.seen + new.seen,
            t,
        )

    def in_all(self) -> tuple[Array, Array, Array]:
        """Return the sums at the size of all samples seen, which prices on components refer to."""
        whole = self.seen / self.count
        return whole * self.G, whole * self.C, whole * self.squares


def renewed(block: Block, G: Array, B: Array, V: Data, H: Array) -> Array:
    """Return the components with samples that are explained worst in place of those without use.

    Examples
    --------
    >>> import conicnmf as cn
    >>> V, H = np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros((2, 2))
    >>> block = factorize(V, 2, W=[cn.NonNegative()]).blocks[0]
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
        past = self._past
        for _ in range(_ROUNDS):
            codes = self._codes(V, None)
            W = self._improved(V, codes, past)
            self.components_ = np.ascontiguousarray(W.T)
        self.n_iter_ += 1
        return self

    def _keep(self, result: Any, V: Data, observed: Any) -> Self:
        super()._keep(result, V, observed)
        self._past = Past.of(V, result.H) if observed is None else None
        return self

    def _improved(self, V: Data, H: Array, past: Past | None) -> Array:
        """Return W after exact steps over its components, by what is known of all samples."""
        terms = self._streamed_terms()
        block = factorize(V, self.n_components, W=terms).blocks[0]
        reasons = _SWEEPS.unmet(block)
        tied = [term for term in self._terms()[1] if not of_one_sample(term)]
        reasons += [f"{term} on H ties samples together" for term in tied]
        if "quadratic" not in self._loss().abilities:
            reasons.append(f"{self._loss()} is not a sum of squares, which batches need")
        if past is None:
            reasons.append("the first batch had missing entries")
        if reasons or past is None:
            listed = "\n".join(f"  - {reason}" for reason in reasons)
            raise IncompatibleError(f"this model cannot be learned batch by batch:\n{listed}")
        self._past = past.then(Past.of(V, H))
        B = self._improve(block, self._past, self.components_.astype(np.float64))
        return renewed(block, self._past.G, B, V, H).T.astype(self.components_.dtype)

    def _improve(self, block: Block, past: Past, B: Array) -> Array:
        """Return the components after exact steps over each of them."""
        G, C, _ = past.in_all()
        slope, curvature = block.orthant
        steps = Quadratic(2 * G + curvature * np.eye(len(G)), 2 * C - slope, 0.0)
        return _SWEEPS.descend(block, steps, B)
