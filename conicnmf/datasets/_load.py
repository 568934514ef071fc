"""`load`, `names` and `available`: the way to every data set."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets.bundled import bundled_digits
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
    return "" if callable(thing) else "it is not a function that returns a Dataset"


DATASETS: Registry[Callable[..., Dataset]] = Registry("data set", "conicnmf.datasets", _fault)
"""The functions that generate or load each data set, ours and other packages'."""


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
    """Every name that `load` knows: ours first, then those that other packages bring.

    Examples
    --------
    >>> from conicnmf.datasets import names
    >>> {"bars", "digits", "usps"} <= set(names())
    True
    """
    return DATASETS.names()


def available() -> list[Available]:
    """Every data set with its shape and its origin; nothing is read or downloaded.

    `where` is "generated", "bundled" (with scikit-learn), the path of a file on this machine, the
    site that `load` would download from, "missing", or the package that brings it. That package may
    state the shape as the function's `size`; it is "–" otherwise.

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
    for name in names()[len(rows) :]:
        function = DATASETS.find(name)
        size = str(getattr(function, "size", "–"))
        rows.append(Available(name, size, f"the package {_package(function)}"))
    return rows


def load(name: str, **options: Any) -> Dataset:
    """Load or generate a data set by its name.

    Stored sets are `.npz` files in the folder that the environment variable ``CONICNMF_DATA``
    names, or in the user's cache (``~/.cache/conicnmf``). A few can be downloaded and are then kept
    in the cache. Other packages can add sets through the entry-point group
    ``conicnmf.datasets``.

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
    function = DATASETS.find(name)
    _check_options(name, options, function)
    dataset = function(**options)
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"the function behind {name!r} must return a conicnmf.datasets.Dataset, got "
            f"{type(dataset).__name__}; report this to its package, "
            f"{_package(function)}"
        )
    return dataset


def _load_digits(n_samples: int | None = None, seed: int = 0) -> Dataset:
    return DIGITS.read(bundled_digits(), n_samples=n_samples, seed=seed)


@dataclass(frozen=True)
class _FromFile:
    """The function that loads a stored set: from a file on this machine, or downloaded."""

    stored: StoredSet

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(partial(self.stored.read, {}))

    def __call__(self, **options: Any) -> Dataset:
        path = find(self.stored)
        if path is not None:
            return read_file(self.stored, path, options)
        return self.stored.read(download(self.stored), **options)


def _check_options(name: str, options: dict[str, Any], function: Callable[..., Dataset]) -> None:
    parameters = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return  # it takes whatever it is given, and answers for it
    known = list(parameters)
    unknown = [option for option in options if option not in known]
    if unknown:
        raise InputError(
            f"load({name!r}) takes the options {', '.join(known) or 'none'}; "
            f"got {', '.join(unknown)}; leave it out"
        )


def _package(function: Any) -> str:
    """Return the package that a data set of somebody else comes from."""
    return str(getattr(function, "__module__", type(function).__module__)).partition(".")[0]


for _name, (_function, _) in _GENERATED.items():
    DATASETS.add(_name, _function)
DATASETS.add(DIGITS.name, _load_digits)
for _name, _stored in STORED.items():
    DATASETS.add(_name, _FromFile(_stored))
