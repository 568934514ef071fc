"""Run single cases again by their id: python -m tests.fuzz 7:42 7:43."""

from __future__ import annotations

import sys

from .shards import rerun

if __name__ == "__main__":
    for name in sys.argv[1:]:
        rerun(name)
