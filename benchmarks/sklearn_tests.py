"""scikit-learn's own tests of its NMF, from the installed package, run on ours.

``python -m benchmarks.sklearn_tests`` reads the test file where scikit-learn is installed, swaps the
line that imports the estimators, runs it in a temporary folder and reports. Nothing is copied into
this project.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

THEIRS = "from sklearn.decomposition import NMF, MiniBatchNMF, non_negative_factorization"
OURS = "from conicnmf.estimators import NMF, MiniBatchNMF, non_negative_factorization"

EXCEPTIONS: dict[str, str] = {
    "test_minibatch_nmf_partial_fit": (
        "internals: it hands one array H to two models and compares H with itself, since both write "
        "into what they are given; the batches that it feeds to them differ. Ours copy H"
    ),
}
"""Tests that must fail, and why."""
INTERNAL = (
    "test_initialize_nn_output",
    "test_initialize_close",
    "test_initialize_variants",
    "test_beta_divergence",
    "test_special_sparse_dot",
    "test_nmf_underflow",
)
"""Tests of scikit-learn's own internal functions, which touch nothing of ours whatever they say."""


class _Outcomes:
    """What pytest reports of each test."""

    def __init__(self) -> None:
        self.by_name: dict[str, str] = {}
        self.errors: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the outcome of the call, or of a set-up that failed."""
        if report.when == "call" or report.outcome == "failed":
            name = report.nodeid.split("::", 1)[-1]
            self.by_name[name] = report.outcome
            if report.outcome == "failed":
                self.errors[name] = str(report.longrepr.reprcrash.message).splitlines()[0]


def swapped() -> str:
    """Return scikit-learn's tests with our estimators."""
    found = find_spec("sklearn.decomposition.tests.test_nmf")
    if found is None or found.origin is None:
        raise SystemExit("scikit-learn is installed without its tests")
    text = Path(found.origin).read_text(encoding="utf-8")
    if THEIRS not in text:
        raise SystemExit("scikit-learn's tests import their estimators in another way than 1.9's")
    return text.replace(THEIRS, OURS)


def run(chosen: str = "") -> _Outcomes:
    """Run the tests whose names hold some text, and return what came of them."""
    seen = _Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_swapped.py"
        path.write_text(swapped(), encoding="utf-8")
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", "/dev/null"]
        options += ["--rootdir", folder, "-W", "ignore", *(["-k", chosen] if chosen else [])]
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main([*options, str(path)], plugins=[seen])
    return seen


def report(seen: _Outcomes) -> dict[str, Any]:
    """Return how many passed, and what did not, each with the reason where one is known."""
    own = {k: v for k, v in seen.by_name.items() if k.split("[")[0] not in INTERNAL}
    failed = [name for name, outcome in own.items() if outcome != "passed"]
    known = {name: why for name in failed if (why := reason(name))}
    return {
        "tests": len(own),
        "passed": len(own) - len(failed),
        "internal": len(seen.by_name) - len(own),
        "known": known,
        "unknown": {name: seen.errors.get(name, "") for name in failed if name not in known},
    }


def reason(name: str, listed: Mapping[str, str] = EXCEPTIONS) -> str:
    """Return why a test is not expected to pass, nothing where it is."""
    return listed.get(name) or listed.get(name.split("[")[0], "")


def main(arguments: Sequence[str]) -> int:
    """Run, print the report, and return 1 where a test failed that should not."""
    told = report(run(next((a for a in arguments if not a.startswith("--")), "")))
    if "--json" in arguments:
        print(json.dumps(told))
    else:
        said = f"{told['passed']} of {told['tests']} tests pass"
        print(f"{said}; {told['internal']} touch internal functions of scikit-learn alone")
        for name, why in (told["known"] | told["unknown"]).items():
            print(f"  {name}: {why}")
    return 1 if told["unknown"] else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
