"""Ratios against peers: `python -m benchmarks [ids…] [--quick]`."""

import os

# Read when a library starts its threads, so before anything is imported.
for _variable in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

GROUPS = {
    "Machine limits": {"floor": "An iteration and its matrix products"},
    "Sparse factorizations": {
        "step": "One step of a sparse factor",
        "tgp": "Tangent planes without a cone solver",
        "nmfsc": "Prescribed sparseness",
        "sparse": "Sparse components in equal time",
    },
    "Plain factorizations and other losses": {
        "nmf": "Plain NMF",
        "kl": "Kullback–Leibler divergence",
        "beta": "Other β-divergences",
        "robust": "Data with outliers",
        "klsparse": "Sparse components of counts",
    },
    "Missing entries, constraints and other models": {
        "masks": "Missing entries",
        "unmix": "Spectral unmixing",
        "terms": "Structured factors",
        "custom": "Your own constraint",
        "anyconvex": "Your own constraint with masks or counts",
        "blocks": "Models of several variables",
        "rivals": "Relatives of CVXPY",
    },
    "What the default finds": {
        "default": "The default solver",
        "basins": "One solve compared with fifty",
    },
    "Building blocks": {
        "proj": "Projection on sparse vectors",
        "nnls": "Non-negative least squares",
        "l0": "Coding with few atoms",
        "scfc": "An iteration of an autoencoder",
        "sparselda": "Sparse discriminants",
    },
    "First call, size and memory": {
        "first": "The first answer in a new process",
        "compile": "Compiling all kernels",
        "grow": "Growth with the size of the data",
        "memory": "Memory",
    },
    "Data larger than memory, and streams": {
        "outofcore": "Files larger than memory",
        "dask": "Data on a cluster",
        "streams": "Mini-batches",
    },
}
"""Every benchmark and its name, under the heading it has on the page."""

NAMES = {name: title for group in GROUPS.values() for name, title in group.items()}
"""The name of every benchmark; each is a module of this package with a function `run(setup)`."""

IDS = tuple(NAMES)
