"""What every solver is: frozen settings, and state that is returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.blocks import Block, Blocks, Factors
from conicnmf.compat import Need
from conicnmf.conic.backends import InnerSolve
from conicnmf.result import Status
from conicnmf.solvers.revive import revive
from conicnmf.stop import MaxIter, RelDecrease, Stop

ENGINES = ("auto", "native", "conic")

Memo = Any
"""What a solver remembers between two updates of a block; only the solver looks inside."""


@dataclass(frozen=True)
class Context:
    """What the engine lends a solver: random numbers and the time by which to return."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    deadline: float = np.inf


@dataclass(frozen=True, eq=False)
class Update:
    """The outcome of one block update.

    `value` is the loss and the block's own penalties when the solver has them anyway; `status`
    ends the solve.
    """

    B: Array
    memo: Memo = None
    value: float | None = None
    status: Status | None = None
    inner: Sequence[InnerSolve] = ()


@dataclass(frozen=True, eq=False)
class Sweep:
    """The outcome of one iteration over all blocks."""

    factors: Factors
    memo: Memo
    objective: float | None = None
    status: Status | None = None
    inner: tuple[InnerSolve, ...] = ()
    notes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Solver:
    """A method for one kind of problem; subclasses are frozen dataclasses of settings.

    `monotone` promises that the objective never rises. A method that follows no stated objective
    sets `states_objective` to False, and its last iterate is returned instead of the best.
    """

    solves: ClassVar[str] = "factorization"
    needs: ClassVar[Sequence[Need]] = ()
    monotone: ClassVar[bool] = True
    states_objective: ClassVar[bool] = True
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5)

    @property
    def name(self) -> str:
        """The name in tables and messages."""
        return type(self).__name__

    def prepare(self, block: Block, context: Context) -> Memo:
        """Return what `update` wants to remember of a block; called once before the first."""

    def update(self, block: Block, A: Array, B: Array, memo: Memo) -> Update:
        """Return a better B for this A."""
        raise TypeError(f"{self.name} must define update(block, A, B, memo)")

    def start(self, blocks: Blocks, context: Context) -> Memo:
        """Return the memo of the first sweep."""
        return {block.name: self.prepare(block, context) for block in blocks}

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return what a checkpoint must hold of the memo; by default nothing."""
        return {}

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo of a checkpoint, given the one that `start` made."""
        return memo

    def sweep(self, blocks: Blocks, factors: Factors, memo: Memo) -> Sweep:
        """Update W, then H; a solver of both at once overrides this."""
        memos = dict(memo)
        inner: list[InnerSolve] = []
        value, status = None, None
        for block in blocks:
            A, B = blocks.view(block, factors)
            update = self.update(block, A, B, memos[block.name])
            memos[block.name] = update.memo
            inner += update.inner
            factors = revive(blocks, block, blocks.put(block, factors, update.B))
            value, status = update.value, update.status
            if status is not None:
                break
        objective = None
        if value is not None and status is None:
            other = blocks.W.penalty(blocks.view(blocks.W, factors)[1])
            objective = value + other + blocks.problem.offset
        return Sweep(factors, memos, objective, status, tuple(inner))
