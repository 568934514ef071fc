"""See what a call leaves behind: warnings, printed text, changed inputs."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy.sparse as sp


@dataclass
class Seen:
    """What a watched call left behind."""

    warnings: list[warnings.WarningMessage] = field(default_factory=list)
    printed: str = ""


@contextmanager
def watched():
    """Record warnings and whatever is written to the two output streams, by C code too."""
    seen = Seen()
    with warnings.catch_warnings(record=True) as caught, _streams(seen):
        warnings.simplefilter("always")
        # Drawn statements may let a scale run away, and are told so.
        warnings.filterwarnings("ignore", "the scale of")
        yield seen
    # A file that the garbage collector closes is nobody's warning here.
    seen.warnings = [w for w in caught if not issubclass(w.category, ResourceWarning)]


@contextmanager
def _streams(seen):
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile("w+") as python:
        streams = sys.stdout, sys.stderr
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.stdout = sys.stderr = python
            yield
        finally:
            sys.stdout, sys.stderr = streams
            for number, copy in enumerate(kept, start=1):
                os.dup2(copy, number)
                os.close(copy)
            for stream in (python, file):
                stream.flush()
                stream.seek(0)
            seen.printed = python.read() + file.read().decode(errors="replace")


def fingerprint(X):
    """Return the bytes of an array, a sparse matrix or a data frame, the text of anything else."""
    if isinstance(X, pd.DataFrame):
        return fingerprint(X.to_numpy()), list(X.columns), list(X.index)
    if isinstance(X, np.ma.MaskedArray):
        return fingerprint(X.data), fingerprint(np.ma.getmaskarray(X))
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.dtype.str, X.shape, X.tobytes()
    if not sp.issparse(X):
        return repr(X)  # numbers, lists, objects
    if X.format == "dok":
        return sorted((int(i), int(j), complex(x)) for (i, j), x in X.items())
    names = ("data", "indices", "indptr", "row", "col", "offsets", "rows")
    arrays = [getattr(X, name) for name in names if hasattr(X, name)]
    return (
        X.format,
        X.shape,
        [repr(a.tolist()) if a.dtype == object else a.tobytes() for a in arrays],
    )


def fingerprints(inputs):
    """Return one fingerprint an input."""
    return [fingerprint(x) for x in inputs]
