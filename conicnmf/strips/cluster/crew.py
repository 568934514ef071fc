"""`DaskCrew`: strips that the workers of a cluster hold, and that survive their workers."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conicnmf.strips.asked import Task, Work
from conicnmf.strips.cluster.holder import Holder, packed
from conicnmf.strips.cluster.origins import Origin, parents_of, steps_to
from conicnmf.strips.cluster.reader import DaskReader
from conicnmf.strips.cluster.team import LOST, Post, Team
from conicnmf.strips.crew import Crew, LostStripsError, added
from conicnmf.strips.local import Store, empty_matrix
from conicnmf.strips.matrix import Strips, scaled_strip
from conicnmf.strips.tally import Stats, Tally
from conicnmf.types import Array

_LONGEST = 32
"""So many works are repeated for a lost strip at most; then a copy of it is brought home."""
_TRIES = 8


class DaskCrew(Crew):
    """Workers of a Dask cluster, each with its strips, to which work is sent.

    A step sends the work once to each worker, and brings back a few sums of it. Strips of a worker
    that is gone are loaded and made again by others: each matrix remembers the work that made it.

    Examples
    --------
    >>> import dask.array as da
    >>> crew = DaskCrew(DaskReader.of(da.ones((2, 6), chunks=(2, 2))))
    >>> doubled = crew.data.mapped(lambda strip: 2 * strip)
    >>> doubled.squares
    array([24., 24.])
    >>> crew.close()
    """

    reader: DaskReader

    def __init__(self, reader: DaskReader, limit: float = np.inf) -> None:
        super().__init__(reader)
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        self._team: Team | None = None
        self._posts: list[Post] = []
        self._origins: dict[int, Origin] = {}
        self._gone: deque[int] = deque()
        self._store = Store(self._limit)
        self._waiting = []

    def _run(self, tasks: Sequence[Task]) -> list[Tally]:
        sent = packed(tasks)
        gone = tuple(self._gone.popleft() for _ in range(len(self._gone)))
        found = self._asked(self._all(), "run", sent, gone)
        made = [(place, task) for place, task in enumerate(tasks) if task.key is not None]
        for place, task in made:
            self._know(task, sent, place)
        for _, task in made:
            self._shorten(task)
        return [
            Tally.grown(task.combine, [branch for own in of_task for branch in own])
            for task, of_task in zip(tasks, zip(*found, strict=True), strict=True)
        ]

    def made_by(self, made: Strips, work: Work, *matrices: Strips) -> None:
        """Repeat this work, and not all that was done, should strips of the matrix be lost."""
        task = Task(work, [matrix.operand for matrix in matrices], added, made.key)
        self._know(task, packed([task]), 0)
        self._shorten(task)

    def _know(self, task: Task, sent: bytes, place: int) -> None:
        """Note how a matrix was made."""
        assert task.key is not None
        parents = parents_of(task.operands, self._origins)
        self._origins[task.key] = Origin(task.key, sent, place, parents)

    def _shorten(self, task: Task) -> None:
        """Copy a matrix that is kept where it would take long to make it again."""
        assert task.key is not None
        origin = self._origins[task.key]
        if origin.depth > _LONGEST and not task.passing:
            for post in list(self._posts):
                for strips in self._asked([post], "sent", origin.key):
                    self._copied(origin, strips)
            origin.copied()

    def _copied(self, origin: Origin, strips: dict[int, Array]) -> None:
        for k, strip in strips.items():
            self._store.put(origin.key, k, strip)
        weakref.finalize(origin, self._store.forget, origin.key)

    def _all(self) -> list[Post]:
        """Return who holds strips; the first question lets them be loaded."""
        if self._team is None:
            self._team = Team(self.reader)
            self._end = weakref.finalize(self, self._team.close)
        if not self._posts:
            self._posts = self._replaced([], range(self.reader.count))
        return self._posts

    def _asked(self, posts: Sequence[Post], method: str, *args: Any) -> list[Any]:
        """Return the answers of posts, or of those who took the place of one that is gone."""
        assert self._team is not None
        answers, waiting = [], list(posts)
        while waiting:
            lost = []
            for post, answer in zip(waiting, self._team.asked(waiting, method, *args), strict=True):
                if answer is LOST:
                    lost.append(post)
                else:
                    answers.append(answer)
            waiting = self._replaced(lost, [k for post in lost for k in post.ks])
        return answers

    def _replaced(self, lost: Sequence[Post], ks: Sequence[int]) -> list[Post]:
        """Let workers load strips and make again all that is in use; return their posts."""
        assert self._team is not None
        self._posts = [post for post in self._posts if post not in lost]
        new: list[Post] = []
        left = set(ks)
        for _ in range(_TRIES):
            if not left:
                break
            for post in self._team.hired(sorted(left), [*self._posts, *new]):
                if self._taught(post):
                    new.append(post)
                    left -= set(post.ks)
        if left:
            raise LostStripsError(
                f"workers of the Dask cluster were lost {_TRIES} times in a row while loading strips; "
                "give them more memory, or V smaller chunks"
            )
        self._posts = [*self._posts, *new]
        return new

    def _taught(self, post: Post) -> bool:
        """Repeat at a post the work that made what is in use; return whether it is still there."""
        assert self._team is not None
        for step in steps_to(list(self._origins.values())):
            call = self._repetition(step.origin, post.ks)
            for ask in (call, ("forget", step.done_with)):
                if LOST in self._team.asked([post], *ask):
                    return False
        return True

    def _repetition(self, origin: Origin, ks: Sequence[int]) -> tuple[Any, ...]:
        """Return the call that gives a holder the strips of a matrix."""
        if origin.packed is None:
            return "put", origin.key, {k: self._store.get(origin.key, k) for k in ks}
        return "run", origin.packed, (), origin.place

    def place(self, X: Any) -> Strips:
        """Send a matrix of the user to those who hold the strips of the data."""
        posts = list(self._all())
        key, edges = next(self._keys), self.reader.edges
        tally, origin = Tally(_nothing), Origin(key)
        for k in range(self.reader.count):
            strip = np.array(X[:, edges[k] : edges[k + 1]], self.data.dtype, order="C")
            self._copied(origin, {k: strip})
            tally.add(k, Stats.of(strip), None)
        for post in posts:
            self._asked([post], *self._repetition(origin, post.ks))
        self._origins[key] = origin
        return self._placed(key, tally)

    def gather(self, matrix: Strips) -> Any:
        """Return a matrix in memory where it fits, else as a Dask array, or here on disk."""
        fits = matrix.shape[0] * matrix.shape[1] * matrix.dtype.itemsize <= self._limit
        edges = self.reader.edges
        try:
            posts = list(self._all())
            if not fits and not self._is_own:
                return self._left_there(matrix)
            whole = empty_matrix(matrix.shape, matrix.dtype, fits)
            for post in posts:
                for strips in self._asked([post], "sent", matrix.key):
                    for k, strip in strips.items():
                        whole[:, edges[k] : edges[k + 1]] = scaled_strip(strip, matrix.scale)
        except LostStripsError:
            whole = empty_matrix(matrix.shape, matrix.dtype, fits)
            for k in range(self.reader.count):
                strip = self._made_here(matrix.key, k)
                whole[:, edges[k] : edges[k + 1]] = scaled_strip(strip, matrix.scale)
        return whole

    @property
    def _is_own(self) -> bool:
        return self._team is not None and self._team.is_own

    def _made_here(self, key: int, k: int) -> Any:
        """Make a strip in this process, where no worker is left to ask."""
        holder = Holder((k,), self.reader.blocks[k].compute(scheduler="synchronous"))
        for step in steps_to([self._origins[key]]):
            method, *args = self._repetition(step.origin, (k,))
            well, found = getattr(holder, method)(*args)
            if not well:
                raise found
            holder.forget(step.done_with)
        return holder.strips(key)[k]

    def _left_there(self, matrix: Strips) -> Any:
        """Return a matrix as a Dask array whose chunks stay at the workers."""
        import dask.array as da
        from dask import delayed
        from distributed import wait

        assert self._team is not None
        client, chunks = self._team.client, {}
        for post in self._posts:
            for k in post.ks:
                chunks[k] = client.submit(
                    _strip_of, post.future, *matrix.operand, k, workers=[post.address], pure=False
                )
        wait(list(chunks.values()))
        widths = np.diff(self.reader.edges)
        parts = [
            da.from_delayed(delayed(chunks[k]), (matrix.shape[0], int(widths[k])), matrix.dtype)
            for k in range(self.reader.count)
        ]
        return da.concatenate(parts, axis=1)

    def with_weights(self, weights: Any) -> DaskCrew:
        """Return a crew whose workers load weights along with the data."""
        return DaskCrew(replace(self.reader, weights=weights), self._limit)

    def forget(self, key: int) -> None:
        """Release a matrix; workers are told with the next work."""
        self._origins.pop(key, None)
        self._gone.append(key)

    def rest(self) -> None:
        """Close a cluster of our own; workers of others keep what they have loaded."""
        if self._is_own:
            self.close()

    def close(self) -> None:
        """Release all strips, and of the cluster where it is our own."""
        team = self._team
        self._begin()
        if team is not None:
            self._end()


def _strip_of(holder: Any, key: int, scale: Any, k: int) -> Any:
    _, strips = holder.sent(key).result()
    return scaled_strip(strips[k], scale)


def _nothing(one: Any, other: Any) -> None:
    return None
