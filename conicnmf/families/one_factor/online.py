"""The non-negative linear Hebbian network on a stream of samples.

Printed for one sample, the rule cancels the output of the network: each row of W would merely be
rescaled, and a single zero in the sample would end its row for good. A running average of v vᵀ takes
the place of the single products, kept as S Sᵀ with a few columns in S: what is learned from is always
that of the W of now, where averages of v yᵀ would be those of outputs y = Wᵀv of long ago.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.one_factor.multiplicative import ratio, without_dust
from conicnmf.families.one_factor.needs import (
    nonnegative_alone,
    nonnegative_moments,
    reconstruction,
)
from conicnmf.families.one_factor.solver import OneFactorSolver, ViewNeed
from conicnmf.families.one_factor.view import OneFactor
from conicnmf.model.operators import dense
from conicnmf.settings import Count, Rule, Whole, checks_arguments
from conicnmf.solve.methods.base import Context, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Data, Factors, Mask, stored
from conicnmf.validate import as_data, as_matrix

_WIDTH = 4
"""Directions of the second moments that are kept, for each column of W."""


@dataclass(frozen=True, eq=False)
class HebbianState:
    """W; S, whose SSᵀ stands for the running average of vvᵀ; features seen and batches so far."""

    W: Array
    S: Array
    known: Mask
    seen: int = 0

    @property
    def learned(self) -> Array:
        """W without the features that have been zero so far, with largest singular value 1."""
        return _normalized(np.where(self.known[:, None], self.W, 0.0).astype(self.W.dtype))

    @classmethod
    def begin(cls, W: Array) -> HebbianState:
        """Return the state before the first sample."""
        m = len(W)
        return cls(_normalized(W), np.zeros((m, 0), dtype=W.dtype), np.zeros(m, dtype=bool))

    def after(self, X: Array, rate: float, steps: int) -> HebbianState:
        """Return the state after a batch of samples, the columns of X."""
        kind = self.W.dtype.type
        share = max(rate, 1 / (self.seen + 1))  # the first samples are averaged plainly
        old, new = np.sqrt(1 - share), np.sqrt(share / X.shape[1])
        S = _compressed(np.hstack([kind(old) * self.S, kind(new) * X]), _WIDTH * self.W.shape[1])
        known = self.known | np.asarray(X.any(axis=1))
        W = self.W
        for _ in range(steps):
            # Without the directions that were dropped a product may fall below zero.
            N = np.maximum(S @ (S.T @ W), 0.0)
            # A feature that has been zero so far is not known yet; zero would be for good.
            factor = np.where(known[:, None], ratio(N, W @ (W.T @ N)), 1.0).astype(N.dtype)
            W = _normalized(without_dust(W * factor))
        return HebbianState(W, S, known, self.seen + 1)


def _compressed(S: Array, width: int) -> Array:
    """Return S, or its largest singular directions once it has twice as many columns."""
    if S.shape[1] <= 2 * width:
        return S
    left, sizes, _ = np.linalg.svd(S, full_matrices=False)
    return np.asarray(left[:, :width] * sizes[:width])


def _normalized(W: Array) -> Array:
    """Return W with largest singular value 1: the rule alone would invert its scale."""
    size = float(np.linalg.eigvalsh(W.T @ W)[-1])
    return W / np.sqrt(size).astype(W.dtype) if size > 0 else W


Rate: TypeAlias = Annotated[float, Rule("> 0 and <= 1", lambda rate: 0 < rate <= 1)]


def _stream(
    state: HebbianState, V: Data, order: Any, rate: float, batch: int, steps: int
) -> HebbianState:
    """Return the state after all samples in this order."""
    # Rows of the transpose are stored together, so one sample is read without touching the others.
    samples = V.T.tocsr() if hasattr(V, "tocsr") else np.ascontiguousarray(V.T)
    for first in range(0, len(order), batch):
        X = dense(samples[order[first : first + batch]]).T
        state = state.after(X, rate, steps)
    return state


_Memo = tuple[HebbianState | None, np.random.Generator]


@dataclass(frozen=True)
class OnlineHebbian(OneFactorSolver[_Memo]):
    """One pass over the samples, in random order, in each iteration.

    Parameters
    ----------
    rate : float
        The weight of the newest batch in the running average.
    batch : int
        Samples that are averaged before W is updated.
    steps : int
        Steps of the rule after each batch.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import OnlineHebbian, ProjectiveNMF
    >>> V = np.repeat(np.eye(2), 3, axis=0) @ np.random.default_rng(0).random((2, 500))
    >>> cn.solve(ProjectiveNMF(V, 2), OnlineHebbian()).relative_error < 1e-3
    True
    """

    rate: Rate = 0.001
    batch: Count = 1
    steps: Count = 3
    asks: ClassVar[Sequence[ViewNeed]] = (
        reconstruction,
        nonnegative_alone,
        nonnegative_moments,
    )
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(3)

    def begin(self, view: OneFactor, context: Context) -> _Memo:
        """Remember where the order of the samples comes from."""
        return None, context.rng

    def advance(self, view: OneFactor, factors: Factors, memo: _Memo) -> Sweep[_Memo]:
        """Pass over the samples once."""
        state, rng = memo
        state = HebbianState.begin(factors[view.name]) if state is None else state
        V = view.term.V
        order = rng.permutation(V.shape[1])
        state = _stream(state, V, order, self.rate, self.batch, self.steps)
        point = view.scaled(state.learned)
        return Sweep(view.factors(point.W), (state, rng), view.value(point))


class HebbianStream:
    """The on-line network for data that arrive in small batches.

    Parameters
    ----------
    rank : int
    rate, batch, steps : see `OnlineHebbian`
    seed : int
        Fixes the start.
    W : array, optional
        A start of one's own, features × rank.

    Attributes
    ----------
    W : array
        What was learned so far, with largest singular value 1.

    Examples
    --------
    >>> from conicnmf.families.one_factor import HebbianStream
    >>> stream, rng = HebbianStream(rank=2), np.random.default_rng(0)
    >>> for _ in range(20):
    ...     stream = stream.partial_fit(np.repeat(np.eye(2), 3, axis=0) @ rng.random((2, 50)))
    >>> (stream.W.T > 0.5).astype(int).tolist()
    [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    """

    @checks_arguments
    def __init__(
        self,
        rank: Count,
        rate: Rate = 0.001,
        batch: Count = 1,
        seed: Whole = 0,
        W: Any = None,
        steps: Count = 3,
    ) -> None:
        self.rank, self.rate, self.batch, self.seed, self.steps = rank, rate, batch, seed, steps
        self._given = W
        self._state: HebbianState | None = None

    @property
    def W(self) -> Array:
        """What was learned so far."""
        if self._state is None:
            raise InputError("HebbianStream has seen no sample yet; call partial_fit(V) first")
        return self._state.learned

    def partial_fit(self, V: Any) -> HebbianStream:
        """Learn from more samples, the columns of V, in the order given; returns itself."""
        data = as_data(V)
        if stored(data).min(initial=0.0) < 0:
            raise InputError("HebbianStream needs V >= 0, got negative entries; shift V")
        m = data.shape[0]
        if self._state is None:
            self._state = HebbianState.begin(self._begin(m, data.dtype))
        elif self._state.W.shape[0] != m:
            raise InputError(
                f"V must have the {self._state.W.shape[0]} features seen before, got {m}"
            )
        order = np.arange(data.shape[1])
        self._state = _stream(self._state, data, order, self.rate, self.batch, self.steps)
        return self

    def _begin(self, m: int, dtype: Any) -> Array:
        if self._given is not None:
            return as_matrix(self._given, "W", (m, self.rank)).astype(dtype)
        entries = 1.0 - np.random.default_rng(self.seed).random((m, self.rank))
        return np.asarray(entries, dtype=dtype)
