"""The workers of a cluster: who holds which strips, who answers, and who is gone."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker

from conicnmf.errors import InputError
from conicnmf.strips.cluster.holder import Holder
from conicnmf.strips.cluster.reader import DaskReader
from conicnmf.strips.crew import LostStripsError

_LOOK = 0.5
"""Seconds after which a worker that has not answered is looked for."""
_PATIENCE, _GRACE = "10 minutes", "10 seconds"
LOST = object()
"""The answer of a worker that is gone or stuck."""


@dataclass(frozen=True, eq=False)
class Post:
    """Some strips, and the actor that holds them at a worker."""

    ks: tuple[int, ...]
    address: str
    future: Any
    actor: Any = None


class Team:
    """The workers of the current client, or of a local cluster that goes when it is closed.

    `conicnmf.patience` in Dask's configuration is how long a worker may take over one call before
    its strips are given to others, `conicnmf.grace` how long to wait for a new worker in place of
    one that is gone.
    """

    def __init__(self, reader: DaskReader) -> None:
        import dask
        from dask.utils import parse_timedelta

        self.reader = reader
        self.client, self._cluster = _client()
        get = dask.config.get
        self.patience = parse_timedelta(get("conicnmf.patience", default=_PATIENCE))
        self.grace = parse_timedelta(get("conicnmf.grace", default=_GRACE))
        self._stuck: set[str] = set()
        self._size = len(self._workers())

    @property
    def is_own(self) -> bool:
        """Whether the cluster goes with the team."""
        return self._cluster is not None

    def hired(self, ks: Sequence[int], posts: Sequence[Post]) -> list[Post]:
        """Let workers load strips, those first who hold few; return the posts that are ready."""
        with self.client.as_current():
            asked = [
                Post(tuple(share), address, self._actor(share, address))
                for address, share in shares(ks, self._loads(posts)).items()
            ]
            return [ready for post in asked if (ready := self._ready(post)) is not None]

    def _actor(self, ks: Sequence[int], address: str) -> Any:
        # A block may be computed elsewhere when its worker goes, and is moved then.
        blocks = self.client.compute(
            [self.reader.blocks[k] for k in ks], workers=[address], allow_other_workers=True
        )
        return self.client.submit(
            Holder, tuple(ks), *blocks, actor=True, workers=[address], pure=False
        )

    def _ready(self, post: Post) -> Post | None:
        """Return the post as soon as its strips are loaded, nothing if its worker goes before."""
        begun = time.monotonic()
        while True:
            try:
                return Post(post.ks, post.address, post.future, post.future.result(timeout=_LOOK))
            except TimeoutError:
                if self._is_gone(post, begun):
                    return None
            except (KilledWorker, CancelledError):
                return None
            except Exception:
                if post.address in self._workers_now():
                    raise  # data that cannot be loaded raise here as they do there
                return None

    def asked(self, posts: Sequence[Post], method: str, *args: Any) -> list[Any]:
        """Call a method of all actors at once; return their answers, `LOST` where there is none."""
        begun = time.monotonic()
        with self.client.as_current():
            calls = [(post, self._called(post, method, args)) for post in posts]
            return [
                LOST if call is LOST else self._answer(post, call, begun) for post, call in calls
            ]

    @staticmethod
    def _called(post: Post, method: str, args: tuple[Any, ...]) -> Any:
        try:
            return getattr(post.actor, method)(*args)
        except RuntimeError:  # the client knows already that the worker is gone
            return LOST

    def _answer(self, post: Post, call: Any, begun: float) -> Any:
        while True:
            try:
                well, found = call.result(timeout=_LOOK)
            except TimeoutError:
                if self._is_gone(post, begun):
                    return LOST
                continue
            except Exception:  # whatever work raises comes as an answer, so this is the cluster
                return LOST
            if not well:
                raise found
            return found

    def _is_gone(self, post: Post, begun: float) -> bool:
        if post.future.status not in ("pending", "finished"):
            return True
        if time.monotonic() - begun > self.patience:
            self._stuck.add(post.address)
        return post.address not in self._workers_now()

    def _workers_now(self) -> list[str]:
        try:
            found = sorted(self.client.nthreads()) if self.client.status == "running" else []
        except Exception:  # a scheduler that does not answer has no workers
            return []
        return [address for address in found if address not in self._stuck]

    def _workers(self, wanted: int = 1, wait: float = 0.0) -> list[str]:
        """Return the workers, as soon as there are so many or the time is over."""
        until = time.monotonic() + wait
        while len(found := self._workers_now()) < wanted and time.monotonic() < until:
            time.sleep(min(_LOOK, wait) / 5)
        return found

    def _loads(self, posts: Sequence[Post]) -> dict[str, int]:
        """Return how many strips each worker holds; wait for workers that are being replaced."""
        fixed = self.is_own or self.client.status != "running"
        found = self._workers(self._size, 0.0 if fixed else self.grace)
        if not found and not fixed:
            found = self._workers(1, self.patience)
        if not found:
            raise LostStripsError(
                f"all {self._size} workers of the Dask cluster are gone or have not answered for "
                f"{self.patience:g} seconds; repair the cluster and solve again; with checkpoint= it "
                "continues from there"
            )
        self._size = len(found)
        loads = dict.fromkeys(found, 0)
        for post in posts:
            loads[post.address] = loads.get(post.address, 0) + len(post.ks)
        return {address: loads[address] for address in found}

    def close(self) -> None:
        """Close the cluster where it is our own."""
        if self._cluster is not None:
            self.client.close()
            self._cluster.close()


def shares(ks: Sequence[int], loads: dict[str, int]) -> dict[str, list[int]]:
    """Return which strips go to which worker: neighbors together, and all with about as many.

    Examples
    --------
    >>> shares([0, 1, 2, 3, 4], {"a": 0, "b": 0})
    {'a': [0, 1, 2], 'b': [3, 4]}
    >>> shares([3, 4], {"a": 3, "b": 1, "c": 1})
    {'b': [3], 'c': [4]}
    """
    counts = dict(loads)
    for _ in ks:
        counts[min(counts, key=lambda address: counts[address])] += 1
    found, at = {}, 0
    for address, before in loads.items():
        more = counts[address] - before
        if more:
            found[address] = list(ks[at : at + more])
            at += more
    return found


def _client() -> tuple[Any, Any]:
    """Return the current client, or a new one with its local cluster."""
    try:
        client = Client.current()
    except ValueError:
        # Workers in this process: scripts need no main guard, and nothing is copied.
        cluster = LocalCluster(processes=False, dashboard_address="localhost:0")
        return Client(cluster, set_as_default=False, direct_to_workers=True), cluster
    if client.asynchronous:
        raise InputError(
            "the current Dask client must not be asynchronous, got one that is; use "
            "Client(address) outside of an event loop"
        )
    return client, None
