"""Work on strips that was asked for: it is done, with all that waits, when its outcome is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from conicnmf.strips.tally import Combine, Stats, Tally

if TYPE_CHECKING:
    from conicnmf.strips.crew import Crew
    from conicnmf.strips.matrix import Operand, Strips

Work: TypeAlias = Callable[..., tuple[Any, Any]]
"""work(k, strip of each operand ...) returns a strip to keep, or nothing, and what is to be added."""

DATA = 0
"""The key of the data; other keys are those of matrices that were made."""


@dataclass(frozen=True, eq=False)
class Task:
    """One work on strips, as it is sent to where they are."""

    work: Work
    operands: Sequence[Operand]
    combine: Combine
    key: int | None = None
    """That of the matrix which is made and kept, if one is."""
    passing: bool = False
    """Whether that matrix is needed for a short time only."""


@dataclass(eq=False)
class Asked:
    """A task, and what it has given as soon as that is wanted.

    Whoever knows what will be asked next asks for it now: tasks that wait are done together, with
    one visit of each strip and one message to each worker.
    """

    crew: Crew
    task: Task
    matrices: tuple[Strips, ...] = ()
    """Those it works on, which must not be forgotten until it is done."""
    tally: Tally | None = None
    error: BaseException | None = None
    notes: dict[Any, Asked] = field(default_factory=dict)
    """What else was asked about the matrix that is made."""

    @property
    def key(self) -> int:
        """That of the matrix that is made."""
        assert self.task.key is not None
        return self.task.key

    @property
    def matrix(self) -> Strips:
        """The matrix that is made."""
        from conicnmf.strips.matrix import Strips

        return Strips(self.crew, self)

    @property
    def total(self) -> Any:
        """What all strips have given together."""
        return self._done.total

    @property
    def stats(self) -> Stats:
        """What is known of the matrix that is made."""
        found = self._done.stats
        assert found is not None
        return found

    @property
    def _done(self) -> Tally:
        if self.tally is None and self.error is None:
            self.crew.settle()
        if self.tally is None:
            raise self.error or RuntimeError("this work was given up")
        return self.tally

    def ended(self, tally: Tally | None, error: BaseException | None = None) -> None:
        """Take the outcome; operands may go."""
        self.tally, self.error, self.matrices = tally, error, ()
