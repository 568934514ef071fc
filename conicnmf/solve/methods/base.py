"""What every solver is: frozen settings, and state that is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, cast

import numpy as np

from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.problem import Problem
from conicnmf.registry import Registry
from conicnmf.results import InnerSolve, Promises, Status
from conicnmf.settings import Reads, Settings, checks_arguments
from conicnmf.solve.methods.rebirth import reborn
from conicnmf.solve.methods.revive import revive
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors

Engine: TypeAlias = Literal["auto", "native", "conic"]

View = TypeVar("View", bound=BaseProblem, contravariant=True)
"""The kind of problem that a solver takes."""
Memo = TypeVar("Memo")
"""What a solver remembers from one sweep to the next; only the solver looks inside."""
BlockMemo = TypeVar("BlockMemo")
"""What a solver remembers of one block."""

Need = Callable[[Any], Iterator[str]]
"""A requirement on a block (on the whole problem where that has no blocks); it yields a reason
for each way this fails it."""


@dataclass(frozen=True)
class Context:
    """What the engine lends a solver: random numbers and the time by which to return."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    deadline: float = np.inf


@dataclass(frozen=True, eq=False)
class Update(Generic[BlockMemo]):
    """The outcome of one block update.

    `value` is the loss and the block's own penalties when the solver has them anyway; `status`
    ends the solve.
    """

    B: Array
    memo: BlockMemo = None  # type: ignore[assignment]
    value: float | None = None
    status: Status | None = None
    inner: Sequence[InnerSolve] = ()


@dataclass(frozen=True, eq=False)
class Sweep(Generic[Memo]):
    """The outcome of one iteration over all blocks.

    `objective` and `violation` are those of the factors when the solver has them anyway; `status`
    ends the solve.
    """

    factors: Factors
    memo: Memo
    objective: float | None = None
    status: Status | None = None
    inner: tuple[InnerSolve, ...] = ()
    notes: dict[str, float] = field(default_factory=dict)
    violation: float | None = None
    direction: Factors | None = None
    """Along which the objective falls without end, where the status says so."""
    busy: bool = False
    """Whether the solver has more to try, so that to have settled is no news."""


@dataclass(frozen=True)
class Solver(Settings, Generic[View, Memo]):
    """A method for one kind of problem; subclasses are frozen dataclasses of settings.

    `monotone` promises that the objective never rises. A method that follows no stated objective
    sets `states_objective` to False, and its last iterate is returned instead of the best.
    """

    solves: ClassVar[type[BaseProblem]] = BaseProblem
    needs: ClassVar[Sequence[Need]] = ()
    monotone: ClassVar[bool] = True
    states_objective: ClassVar[bool] = True
    absolute: ClassVar[bool] = False
    """Whether settings are in the units of the data, so that these may not be changed."""
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5)

    @property
    def name(self) -> str:
        """The name in tables and messages."""
        return type(self).__name__

    @property
    def promises(self) -> Promises:
        """What the solver promises of its results."""
        stated = self.states_objective
        return Promises(self.monotone and stated, stated, "stated" if stated else "")

    def concerns(self, problem: BaseProblem) -> bool:
        """Whether tables of this problem list the solver, be it with the reasons against it."""
        return isinstance(problem, self.solves)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is to be picked before others that fit, nothing where it is not."""
        return ""

    @checks_arguments
    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why the solver does not fit a problem, none when it does."""
        if not isinstance(problem, self.solves):
            return [f"it solves a {self.solves.kind}, and this is a {problem.kind}"]
        blocks = [self.facing(block) for block in problem.blocks]
        parts: Sequence[Block | BaseProblem] = blocks or [problem]
        found = problem.refuses(self)
        found += [reason for part in parts for reason in self.unmet(part)]
        return list(dict.fromkeys(found))  # what is wrong with a loss is told once

    def facing(self, block: Block) -> Block:
        """Return a block as the solver works on it: as it is, or with a majorized loss."""
        return block

    def unmet(self, part: Block | BaseProblem) -> list[str]:
        """Return every need that a block, or a problem without blocks, does not meet."""
        return [reason for need in self.needs for reason in need(part)]

    def start(self, problem: View, context: Context) -> Memo:
        """Return the memo of the first sweep."""
        return cast("Memo", None)

    def sweep(self, problem: View, factors: Factors, memo: Memo) -> Sweep[Memo]:
        """Return better factors."""
        raise TypeError(f"{self.name} must define sweep(problem, factors, memo)")

    def revived(self, problem: View, factors: Factors) -> Factors | None:
        """Return a better point than one where the solver has settled, where it can be left."""
        return None

    def again(self, problem: View, factors: Factors, memo: Memo, context: Context) -> Memo:
        """Return the memo of the first sweep from such a point, by default as for any start."""
        return self.start(problem, context)

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return what a checkpoint must hold of the memo; by default nothing."""
        return {}

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo of a checkpoint, given the one that `start` made."""
        return memo


AnySolver: TypeAlias = Solver[Any, Any]


def first_fit(solver: AnySolver, block: Block) -> Block:
    """Return the block as it is if a solver fits that, else majorized in the first way it fits."""
    return next((seen for seen in (block, *block.majorized) if not solver.unmet(seen)), block)


@dataclass(frozen=True, eq=False)
class Seen(Generic[BlockMemo]):
    """A block as a solver works on it, and what the solver remembers of it."""

    block: Block
    memo: BlockMemo


@dataclass(frozen=True)
class BlockSolver(Solver[Problem, dict[str, Seen[BlockMemo]]], Generic[BlockMemo]):
    """A method that updates one block after the other.

    A loss that lacks the forms it needs may be majorized by one that has them. Then each block is
    updated a few times, `majorizations`, with the majorizer of the point reached.
    """

    solves: ClassVar[type[BaseProblem]] = Problem
    majorizations: ClassVar[int] = 2

    def prepare(self, block: Block, context: Context) -> BlockMemo:
        """Return what `update` wants to remember of a block, at first nothing; called once."""
        return cast("BlockMemo", None)

    def update(self, held: Subproblem, B: Array, memo: BlockMemo) -> Update[BlockMemo]:
        """Return a better B, the other variables being held."""
        raise TypeError(f"{self.name} must define update(held, B, memo)")

    def facing(self, block: Block) -> Block:
        """Return the block, majorized where the solver fits only that."""
        return first_fit(self, block)

    def look(self, block: Block, context: Context | None = None) -> Seen[BlockMemo]:
        """Return the block as the solver works on it, prepared."""
        seen = self.facing(block)
        return Seen(seen, self.prepare(seen, context or Context()))

    def lower(self, held: Subproblem, B: Array, seen: Seen[BlockMemo]) -> Update[Seen[BlockMemo]]:
        """Update a block, through majorizers where the solver works on those."""
        if seen.block.kind is None:
            if held.block is not seen.block:
                held = held.on(seen.block)
            made = self.update(held, B, seen.memo)
            memo = Seen(seen.block, made.memo)
            return Update(made.B, memo, made.value, made.status, made.inner)
        inner: list[InnerSolve] = []
        value, own = held.objective(B), seen.memo
        for _ in range(self.majorizations):
            made = self.update(held.majorized(B, seen.block), B, own)
            own, found = made.memo, held.objective(made.B)
            inner += made.inner
            if made.status is not None or not found <= value:
                break  # rounding alone lets the loss rise where its majorizer falls
            B, value = made.B, found
        return Update(B, Seen(seen.block, own), value, made.status, inner)

    def revived(self, problem: Problem, factors: Factors) -> Factors | None:
        """Return a point where dead components have work, if that is better."""
        return reborn(problem, factors)

    def start(self, problem: Problem, context: Context) -> dict[str, Seen[BlockMemo]]:
        """Prepare every block."""
        return {block.name: self.look(block, context) for block in problem.blocks}

    def sweep(
        self, problem: Problem, factors: Factors, memo: dict[str, Seen[BlockMemo]]
    ) -> Sweep[dict[str, Seen[BlockMemo]]]:
        """Update one block after the other."""
        memos = dict(memo)
        inner: list[InnerSolve] = []
        for block in problem.blocks:
            last = block.rows(factors)
            update = block.given(factors).lowered_by(self, last, memos[block.name])
            block.foresee(update.B, last, update.B)
            memos[block.name] = update.memo
            inner += update.inner
            factors, value = revive(problem, block, block.put(factors, update.B)), update.value
            if block.collapsed(block.rows(factors)):
                value = None
                factors = block.put(factors, block.kept_alive(block.rows(factors), last))
            if update.status is not None:
                return Sweep(factors, memos, None, update.status, tuple(inner))
        objective = None
        if value is not None and len(block.addends) == len(problem.addends):
            misfit = value - block.penalty(block.rows(factors))
            objective = problem.total(misfit, factors)
        return Sweep(factors, memos, objective, None, tuple(inner))


def _fault(thing: Any) -> str:
    fits = isinstance(thing, type) and issubclass(thing, Solver)
    return "" if fits else "it is not a class of a Solver"


_FAMILIES = ("one_factor", "coding", "autoencoders")
SOLVERS: Registry[type[AnySolver]] = Registry(
    "solver", "conicnmf.solvers", _fault, tuple(f"conicnmf.families.{name}" for name in _FAMILIES)
)
"""Every solver, in the order in which tables list them."""


def register_solvers(*kinds: type[AnySolver]) -> None:
    """Make solvers known to the problems they solve, in the order in which tables list them."""
    for kind in kinds:
        SOLVERS.add(kind.__name__, kind)


def as_solver(solver: Any, name: str = "solver") -> AnySolver:
    """Return a solver, given as an object or by its name, with its defaults.

    Examples
    --------
    >>> import conicnmf
    >>> as_solver("hals")
    HALS(sweeps=3, extrapolate=True)
    """
    found: AnySolver = SOLVERS.instance(solver, Solver, "HALS()", name)
    return found


SolverLike: TypeAlias = Annotated[AnySolver | str, Reads(as_solver)]
"""What may stand for a solver: a `Solver`, or its name."""
