"""Random problems: 400 in every run, any number with `pytest -m fuzz --fuzz-cases 10000`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .shards import lines, run_range

SEED = 7
CASES = 400
SHARD = 20
KNOWN = json.loads((Path(__file__).parent / "known.json").read_text())
"""Failures that wait for their repair: id, kind of finding, what it said."""


def pytest_generate_tests(metafunc):
    if "many" in metafunc.fixturenames:
        first, count = (metafunc.config.getoption(f"--fuzz-{n}") for n in ("first", "cases"))
        shards = [(k, min(50, first + count - k)) for k in range(first, first + count, 50)]
        metafunc.parametrize("many", shards, ids=[f"{k}+{n}" for k, n in shards])


@pytest.mark.parametrize("first", range(0, CASES, SHARD))
def test_only_known_failures(first):
    found, _ = run_range(SEED, first, SHARD)
    ids = [f"{SEED}:{k}" for k in range(first, first + SHARD)]
    new = {i: _without(found.get(i, {}), KNOWN.get(i, {})) for i in ids}
    mended = {i: _without(KNOWN.get(i, {}), found.get(i, {})) for i in ids}
    text = lines(new) + [f"{line} – mended: take it off the list" for line in lines(mended)]
    if text:
        pytest.fail("\n".join(text), pytrace=False)


def _without(some, others):
    return {kind: reason for kind, reason in some.items() if kind not in others}


@pytest.mark.fuzz
def test_many(many, record_property, request):
    first, count = many
    failures, ends = run_range(request.config.getoption("--fuzz-seed"), first, count)
    record_property("fuzz", {"tried": count, "failures": failures, "ends": ends})
    if failures:
        pytest.fail("\n".join(lines(failures)), pytrace=False)
