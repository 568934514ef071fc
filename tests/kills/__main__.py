"""Kill a work again and again, each time in a process of its own, and compare what comes of it.

The moment is the number of a call of any function, Python's or C's, drawn from a seed: the same seed
kills at the same calls, in the middle of a write too, whatever the machine's speed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np

from .works import ALL


def in_a_process(work, folder, at=None):
    """Run a work in a fork, killed at call number `at`; return (signal, answer, calls made)."""
    told = Path(folder) / "told.json"
    told.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        _child(work, Path(folder) / "work", told, at)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status), None, 0
    answer = json.loads(told.read_text()) if told.exists() else {"error": "nothing was told"}
    return 0, answer.get("answer", answer), answer.get("calls", 0)


def _child(work, folder, told, at):
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        if event in ("call", "c_call"):
            calls += 1
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.setprofile(count)
        answer = ALL[work](folder)
        sys.setprofile(None)
        told.write_text(json.dumps({"answer": answer, "calls": calls}))
    except BaseException as error:
        sys.setprofile(None)
        told.write_text(json.dumps({"error": f"{type(error).__name__}: {error}"}))
    finally:
        os._exit(0)


def kill_and_go_on(work, seed, count):
    """Return (kills made, what was wrong with the answers after them)."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        ALL[work](folder)  # what is compiled and imported once is no part of the calls
    with tempfile.TemporaryDirectory() as folder:
        _, wanted, calls = in_a_process(work, folder)
    if not calls:
        return 0, [f"the work itself failed: {wanted}"]
    kills, wrong = 0, []
    while kills < count:
        moments = [int(rng.integers(1, calls)) for _ in range(int(rng.integers(1, 3)))]
        with tempfile.TemporaryDirectory() as folder:
            # A second kill comes earlier than planned where little was left to do, or not at all.
            kills += sum(in_a_process(work, folder, at)[0] == signal.SIGKILL for at in moments)
            _, answer, _ = in_a_process(work, folder)
        if not _same(answer, wanted):
            wrong.append(f"{work} killed at calls {moments} of {calls}: {answer}, not {wanted}")
    return kills, wrong


def _same(answer, wanted):
    """Whether two answers are equal; numbers under "about" nearly."""
    if "about" in answer and "about" in wanted:
        return np.allclose(answer["about"], wanted["about"], rtol=0.05)
    return answer == wanted


if __name__ == "__main__":
    made, found = kill_and_go_on(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({"kills": made, "wrong": found}))
