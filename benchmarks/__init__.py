"""Ratios against peers: `python -m benchmarks [ids…] [--quick]`."""

import os

# Read when a library starts its threads, so before anything is imported.
for _variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

GROUPS = {
    "Machine limits": ("floor",),
    "Sparse factorizations": ("step", "tgp", "nmfsc", "sparse"),
    "Plain factorizations and other losses": ("nmf", "kl", "beta", "robust", "klsparse"),
    "Missing entries, constraints and other models": (
        "masks",
        "unmix",
        "terms",
        "custom",
        "anyconvex",
        "blocks",
        "rivals",
    ),
    "What the default finds": ("default", "basins"),
    "Building blocks": ("proj", "nnls", "l0", "scfc", "sparselda"),
    "First call, size and memory": ("first", "compile", "grow", "memory"),
    "Data larger than memory, and streams": ("outofcore", "dask", "streams"),
}
"""Every benchmark under the heading it has on the page."""

IDS = tuple(name for group in GROUPS.values() for name in group)
"""Every benchmark, each a module of this package with a function `run(setup)`."""
