"""Newton steps on one entry after the other, for the divergence of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.kernels.poisson import by_columns, poisson_sweeps
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.losses.weights import column_sums
from conicnmf.settings import Count
from conicnmf.solve.methods.base import Update
from conicnmf.solve.methods.extrapolated import Extrapolated
from conicnmf.solve.needs import (
    LossWith,
    PenaltiesWith,
    nonnegative_around,
    nonnegative_only,
    one_addend,
    uncapped,
)
from conicnmf.types import Array, Data


@dataclass(frozen=True, eq=False)
class Counts:
    """The weights of the logarithms, column after column in memory, and those of the model."""

    logs: Data
    linear: Data

    @classmethod
    def of(cls, logs: Data, linear: Data) -> Counts:
        """Return the counts of a block."""
        return cls(by_columns(logs), linear)


@dataclass(frozen=True)
class CyclicNewton(Extrapolated):
    """Lower the Kullback–Leibler divergence by Newton steps on one entry after the other.

    Steps that could raise the divergence are shortened until they cannot, so the objective never
    rises. For sparse data, only stored entries are visited.

    Parameters
    ----------
    sweeps : int
        How many times the entries of a factor are updated before the other factor's turn.
    extrapolate : bool
        Extrapolate each factor before the other one is updated, see `HALS`.

    References
    ----------
    Hsieh and Dhillon, Fast coordinate descent methods with variable selection for NMF, KDD 2011.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).poisson(5.0, (8, 6))
    >>> cn.factorize(V, 2, loss="kl").solve(cn.CyclicNewton()).status.name
    'CONVERGED'
    """

    sweeps: Count = 2
    extrapolate: bool = True

    needs: ClassVar = (
        uncapped,
        one_addend,
        LossWith(("poisson",), "which steps on logarithms need"),
        PenaltiesWith(("orthant",), "which steps on entries need"),
        nonnegative_only,
        nonnegative_around,
    )

    def facing(self, block: Block) -> Block:
        """Return the block itself: no majorizer is a divergence."""
        return block

    def update(self, held: Subproblem, B: Array, memo: Counts | None) -> Update[Counts]:
        """Visit every entry `sweeps` times; the data are brought into columns once a solve."""
        (view,) = held.views
        memo = memo or Counts.of(*view.poisson())
        slope, ridge = held.block.orthant
        A, X = view.sides(B)
        S = np.broadcast_to(column_sums(memo.linear, A)[: len(B)] + slope, B.shape)
        return Update(poisson_sweeps(memo.logs, A, S, X, self.sweeps, ridge)[: len(B)], memo)
