"""Kill workers of a Dask cluster at random moments of a solve, and compare what comes of it.

`python -m tests.kills.workers 7 50` kills fifty workers, at moments drawn from seed 7. A moment is a
question to the workers, and a few milliseconds after it was asked: while strips are loaded, work is
done, answers are under way, or what another kill took is made again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import contextmanager

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import conicnmf as cn
from conicnmf.strips.cluster.team import Team
from conicnmf.strips.crew import LostStripsError

RNG = np.random.default_rng(11)
V = RNG.random((30, 600))
START = RNG.random((30, 4)) + 0.1, RNG.random((4, 600)) + 0.1
STRIPS = da.from_array(V, chunks=(30, 50))
WORKERS, LONG = 3, 5.0


def solve(data):
    """Solve a problem; return its numbers."""
    stated = {"W": ["nonnegative", cn.Sparseness(min=0.4)], "H": ["nonnegative", cn.L1(0.1)]}
    try:
        problem = cn.factorize(data, 4, **stated)
        result = problem.solve("HALS", init=START, stop=25, throw=False)
    except (cn.SolveError, LostStripsError) as error:  # before there is any iterate
        return {"status": "ERROR", "W": 0.0, "H": 0.0, "remarks": str(error)}
    return {
        "status": result.status.name,
        "W": result.W.tolist(),
        "H": np.asarray(result.H).tolist(),
        "remarks": " ".join(result.remarks),
    }


class Killer:
    """Counts questions, and kills a worker soon after those with given numbers."""

    def __init__(self, moments, rng):
        self.moments, self.rng = set(moments), rng
        self.asked, self.kills, self._own, self._under_way = 0, 0, Team.asked, []

    def __enter__(self):
        def asked(team, *args):
            self.asked += 1
            if self.asked in self.moments:
                wait = float(self.rng.exponential(0.005))
                self._under_way.append(threading.Timer(wait, self.kill, [team]))
                self._under_way[-1].start()
            return self._own(team, *args)

        Team.asked = asked
        return self

    def kill(self, team):
        """Kill a worker that is there."""
        try:
            pids = sorted(info["pid"] for info in team.client.run(_pid).values())
        except (OSError, ValueError):  # a worker went while it was asked
            return
        if pids:
            os.kill(pids[int(self.rng.integers(len(pids)))], signal.SIGKILL)
            self.kills += 1

    def __exit__(self, *_):
        Team.asked = self._own
        for timer in self._under_way:
            timer.join(LONG)


def _pid():
    return {"pid": os.getpid()}


@contextmanager
def cluster(direct=False):
    """Start three workers that are started again when they are killed, unless that kills them too.

    They are asked by way of the scheduler, or directly.
    """
    settings = {"distributed.scheduler.allowed-failures": 10**6, "conicnmf.patience": "20s"}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address="localhost:0",
            silence_logs=50,
        ) as own,
        Client(own, direct_to_workers=direct) as client,
    ):
        client.wait_for_workers(WORKERS)
        yield client


def apart(answer, wanted):
    """Return the largest difference between factors."""
    return max(float(np.abs(np.subtract(answer[X], wanted[X])).max()) for X in ("W", "H"))


def judged(answer, wanted, moments):
    """Return (whether the answer is an honest failure, what is wrong with it)."""
    if answer["status"] == "ERROR" and "workers of the Dask cluster" in answer["remarks"]:
        return True, []
    far = apart(answer, wanted)
    if answer["status"] == wanted["status"] and far <= 1e-12:
        return False, []
    return False, [f"killed at questions {moments}: {answer['status']}, {far:.1e} away"]


def kill_workers(seed, count):
    """Return how many kills were made, honest failures, and what was wrong with the answers."""
    rng = np.random.default_rng(seed)
    kills, honest, wrong = 0, 0, []
    with cluster(), Killer([], rng) as watch:
        wanted = solve(STRIPS)
    if wanted["status"] != "MAX_ITER":
        raise RuntimeError(f"without a kill it ends with {wanted['status']}: {wanted['remarks']}")
    if not apart(wanted, solve(V)) <= 1e-8:
        raise RuntimeError("without a kill workers do not give the answer of one process")
    while kills < count:
        with cluster(direct=bool(rng.integers(2))) as client:
            while kills < count and len(client.nthreads()) == WORKERS:
                moments = rng.integers(1, watch.asked, size=int(rng.integers(1, 4))).tolist()
                with Killer(moments, rng) as killer:
                    answer = solve(STRIPS)
                kills += killer.kills
                failed, found = judged(answer, wanted, moments)
                honest += failed
                wrong += found
                told = {"kills": kills, "honest failures": honest, "wrong": wrong}
                print(json.dumps(told), file=sys.stderr, flush=True)
    return told


if __name__ == "__main__":
    print(json.dumps(kill_workers(int(sys.argv[1]), int(sys.argv[2]))))
