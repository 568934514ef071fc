"""The digits that scikit-learn brings, read without loading scikit-learn, which takes half a second."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from conicnmf.datasets.stored import Arrays

_TABLE = Path("datasets", "data", "digits.csv.gz")
"""Where scikit-learn keeps one image in each row, 64 pixels and the digit."""


def bundled_digits() -> Arrays:
    """Return the images "x" and the digits "y".

    Examples
    --------
    >>> {name: array.shape for name, array in bundled_digits().items()}
    {'x': (1797, 8, 8), 'y': (1797,)}
    """
    package = find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        if (path := Path(folder, _TABLE)).is_file():
            rows = np.loadtxt(path, delimiter=",")
            return {"x": rows[:, :-1].reshape(-1, 8, 8), "y": rows[:, -1].astype(np.int64)}
    return _from_scikit_learn()  # which says where the file is now, or what is missing


def _from_scikit_learn() -> Arrays:
    from sklearn.datasets import load_digits

    digits = load_digits()
    return {"x": digits.images, "y": digits.target}
