"""Run single cases again by their id, `python -m tests.fuzz 7:42`; `known` writes the list anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .shards import rerun, run_range


def write_known(seed=7, count=400):
    """Write the failures of the ordinary run as the list of known ones."""
    failures, _ = run_range(seed, 0, count)
    text = json.dumps(failures, indent=1, ensure_ascii=False)
    (Path(__file__).parent / "known.json").write_text(text + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        if name == "known":
            write_known()
        else:
            rerun(name)
