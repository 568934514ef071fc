"""Ratios against peers: `python -m benchmarks [ids…] [--quick]`."""

import os

# Read when a library starts its threads, so before anything is imported.
for _variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

IDS = (
    "step",
    "tgp",
    "nmfsc",
    "sparse",
    "nmf",
    "kl",
    "beta",
    "robust",
    "klsparse",
    "proj",
    "nnls",
    "l0",
    "scfc",
    "grow",
    "custom",
    "masks",
    "unmix",
    "terms",
    "anyconvex",
    "blocks",
    "rivals",
    "first",
    "default",
    "basins",
    "compile",
    "memory",
)
"""Every benchmark, each a module of this package with a function `run(setup)`."""
