"""Write the stored numbers anew: python -m tests.baseline [solves] [experiments]."""

from __future__ import annotations

import sys

from . import experiments, families, solves, store


def main(wanted):
    if "solves" in wanted:
        found = {name: solves.numbers(run()) for name, run in solves.solves().items()}
        store.write("solves", found | families.codes())
    if "experiments" in wanted:
        store.write("experiments", {name: experiments.table(name) for name in experiments.names()})


if __name__ == "__main__":
    main(sys.argv[1:] or ["solves", "experiments"])
