"""Options of the fuzzer, what was skipped, where larger data sets are, and draws in any order."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
if _DATA.is_dir():  # before conicnmf is imported, and for the processes that tests start
    os.environ.setdefault("CONICNMF_DATA", str(_DATA))

# A shell ignores Ctrl-C for what it starts in the background, and processes pass that on.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    """Compile all kernels before the whole suite runs, or each of its processes would do so."""
    config = session.config
    whole = config.args_source is config.ArgsSource.TESTPATHS and not config.option.collectonly
    if whole and not hasattr(config, "workerinput"):
        from conicnmf import warm_up

        warm_up()


_DRAWN = {}
"""The state of each test file's generator after its import."""


@pytest.fixture(autouse=True)
def _same_draws_in_any_order(request):
    """Let a test draw the same numbers from its file's `RNG` whatever ran before it."""
    module = getattr(request.node, "module", None)
    rng = getattr(module, "RNG", None)
    if rng is not None:
        state = _DRAWN.setdefault(module.__name__, rng.bit_generator.state)
        rng.bit_generator.state = state


def pytest_addoption(parser):
    group = parser.getgroup("fuzz", "random problems, run with -m fuzz")
    group.addoption("--fuzz-cases", type=int, default=1000, help="how many cases to try")
    group.addoption("--fuzz-seed", type=int, default=0, help="the seed they are drawn from")
    group.addoption("--fuzz-first", type=int, default=0, help="the first case of a shard")


def pytest_terminal_summary(terminalreporter):
    """Say what was skipped and what the fuzzer found, whichever worker ran it."""
    _write_skips(terminalreporter)
    _tell_fuzz(terminalreporter)


def _write_skips(terminalreporter):
    """Write why tests were skipped to the file that CONICNMF_SKIPS names, one reason a line."""
    path = os.environ.get("CONICNMF_SKIPS")
    if path:
        skipped = terminalreporter.stats.get("skipped", [])
        lines = [f"{report.longrepr[2]} ({report.nodeid})\n" for report in skipped]
        Path(path).write_text("".join(lines), encoding="utf-8")


def _tell_fuzz(terminalreporter):
    """Say how many cases were tried and what was found."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    shards = [value for r in reports for name, value in r.user_properties if name == "fuzz"]
    if not shards:
        return
    from tests.fuzz.shards import lines, summary

    failures = {name: found for shard in shards for name, found in shard["failures"].items()}
    ordered = dict(sorted(failures.items(), key=lambda item: int(item[0].split(":")[1])))
    terminalreporter.section("fuzz")
    for line in lines(ordered):
        terminalreporter.write_line(line)
    terminalreporter.write_line(summary(sum(shard["tried"] for shard in shards), failures))
