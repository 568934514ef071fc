"""`load`, `names` and `available`: one door to every data set."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets.catalog import DIGITS, STORED
from conicnmf.datasets.factors import low_rank, paatero, synthetic_dictionary, three_factors
from conicnmf.datasets.local import find, read_file
from conicnmf.datasets.openml import DOWNLOADS, download
from conicnmf.datasets.pictures import bars, swimmer
from conicnmf.datasets.stored import StoredSet
from conicnmf.errors import InputError
from conicnmf.registry import Registry

_GENERATED: dict[str, tuple[Callable[..., Dataset], str]] = {
    "bars": (bars, "9 × 2000"),
    "paatero": (paatero, "60 × 40"),
    "swimmer": (swimmer, "1024 × 256"),
    "synthetic_dictionary": (synthetic_dictionary, "200 × 1600"),
    "low_rank": (low_rank, "100 × 80"),
    "three_factors": (three_factors, "10 × 1000"),
}


def _fault(thing: Any) -> str:
    return "" if callable(thing) else "it is no function that returns a Dataset"


DATASETS: Registry[Callable[..., Dataset]] = Registry("data set", "conicnmf.datasets", _fault)
"""Functions that return a `Dataset`, brought by other packages."""


class Available(NamedTuple):
    """A data set's name, the shape of its V, and where `load` would take it from.

    Examples
    --------
    >>> from conicnmf.datasets import available
    >>> available()[0]
    Available(name='bars', shape='9 × 2000', where='generated')
    """

    name: str
    shape: str
    where: str


def names() -> list[str]:
    """Every name that `load` knows.

    Examples
    --------
    >>> from conicnmf.datasets import names
    >>> {"bars", "digits", "usps"} <= set(names())
    True
    """
    own = [*_GENERATED, DIGITS.name, *STORED]
    return own + [name for name in DATASETS.names() if name not in own]


def available() -> list[Available]:
    """Every data set with its shape and its origin; nothing is read or downloaded.

    `where` is "generated", "bundled" (with scikit-learn), the path of a file on this machine, the
    site that `load` would download from, "missing", or the module of another package, whose
    shape is not known before it is loaded.

    Examples
    --------
    >>> from conicnmf.datasets import available
    >>> [row.where for row in available() if row.name in ("swimmer", "digits")]
    ['generated', 'bundled']
    """
    rows = [Available(name, size, "generated") for name, (_, size) in _GENERATED.items()]
    rows.append(Available(DIGITS.name, DIGITS.size, "bundled"))
    for name, stored in STORED.items():
        path = find(stored)
        remote = DOWNLOADS[name].source if name in DOWNLOADS else "missing"
        rows.append(Available(name, stored.size, str(path) if path else remote))
    listed = {row.name for row in rows}
    brought = ((name, DATASETS.find(name)) for name in names() if name not in listed)
    return rows + [Available(name, "", function.__module__) for name, function in brought]


def load(name: str, **options: Any) -> Dataset:
    """Load or generate a data set by its name.

    Stored sets are looked for as `.npz` files in the folder that the environment variable
    ``CONICNMF_DATA`` names, in ``../shared/data`` as seen from the project and from the current
    folder, and in the user's cache (``~/.cache/conicnmf``); a few can be downloaded, and are then
    kept in the cache.

    Parameters
    ----------
    name : str
        One of `names()`.
    **options
        For a generated set, the parameters of its function. For every other set, ``n_samples`` and
        ``seed``: keep the columns ``numpy.random.default_rng(seed).choice(n, n_samples,
        replace=False)``. "natural_images" cuts ``n_samples`` patches of ``patch`` × ``patch``
        pixels, split into non-negative ON and OFF channels with ``on_off=True``.

    Examples
    --------
    >>> from conicnmf.datasets import load
    >>> load("digits")
    Dataset('digits', 64 × 1797, float64)
    >>> load("digits", n_samples=100, seed=1).extra["index"].shape
    (100,)
    >>> load("low_rank", m=30, n=20, rank=3)
    Dataset('low_rank', 30 × 20, float64)
    """
    if name in _GENERATED:
        function = _GENERATED[name][0]
    elif name == DIGITS.name:
        function = _load_digits
    elif name in STORED:
        _check_options(name, options, partial(STORED[name].read, {}))
        return _load_stored(STORED[name], options)
    elif name in DATASETS:
        function = DATASETS.find(name)
    else:
        raise InputError(_unknown(name))
    _check_options(name, options, function)
    return function(**options)


def _load_digits(n_samples: int | None = None, seed: int = 0) -> Dataset:
    from sklearn.datasets import load_digits

    digits = load_digits()
    arrays = {"x": digits.images, "y": digits.target}
    return DIGITS.read(arrays, n_samples=n_samples, seed=seed)


def _load_stored(stored: StoredSet, options: dict[str, Any]) -> Dataset:
    path = find(stored)
    if path is not None:
        return read_file(stored, path, options)
    return stored.read(download(stored), **options)


def _check_options(name: str, options: dict[str, Any], function: Callable[..., Dataset]) -> None:
    known = list(inspect.signature(function).parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        raise InputError(
            f"load({name!r}) takes the options {', '.join(known) or 'none'}; "
            f"got {', '.join(unknown)}"
        )


def _unknown(name: str) -> str:
    close = get_close_matches(str(name).lower(), names(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    return f"no data set is called {name!r}: {hint}The names are {', '.join(names())}"
