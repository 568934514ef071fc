"""The first answer in a new process with an empty kernel cache, in processor time.

Python's own bytecode is there, as it is after an installation.
"""

from __future__ import annotations

import compileall
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import conicnmf
from benchmarks.harness import Row, Setup, clock, fresh_process

_README = Path(__file__).parents[1] / "README.md"
_PLAIN = """import conicnmf as cn
cn.factorize(cn.datasets.load('digits', n_samples=500).V, 10).solve(seed=0)"""
_CLOCK = """import json, time
begin = time.process_time()
{}
print(json.dumps(time.process_time() - begin))"""


def run(setup: Setup) -> Iterator[Row]:
    compileall.compile_dir(Path(conicnmf.__file__).parent, quiet=1)
    repeats = 1 if setup.quick else 3
    lines = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), re.DOTALL)[0]
    for name, code, target in (
        ("README's lines, with imports", lines, 5.0),
        ("plain NMF of 500 digits, with imports", _PLAIN, 2.0),
    ):
        first, again = zip(*(_twice(code) for _ in range(repeats)), strict=True)
        seconds, note = min(first), f"with a full cache {clock(min(again))}"
        ok = seconds <= target
        yield Row(name, clock(seconds), target=f"≤ {target:g} s", ok=ok, note=note)
    pairs = [[_seconds(f"import {x}") for x in ("conicnmf", "cvxpy")] for _ in range(3)]
    ours, theirs = map(min, zip(*pairs, strict=True))
    limit = theirs + 0.3
    yield Row(
        "import", clock(ours), target=f"≤ {clock(limit)}", ok=ours <= limit, note="cvxpy + 0.3 s"
    )


def _seconds(code: str, **environment: str) -> float:
    return float(fresh_process(_CLOCK.format(code), **environment))


def _twice(code: str) -> tuple[float, float]:
    """Return the seconds with an empty cache, and with what it left behind."""
    with tempfile.TemporaryDirectory() as folder:
        first = _seconds(code, NUMBA_CACHE_DIR=folder)
        return first, _seconds(code, NUMBA_CACHE_DIR=folder)
