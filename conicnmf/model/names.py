"""Names of features and samples: words, genes, bands. They accompany the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from conicnmf.errors import InputError
from conicnmf.settings import is_mapping, listed, shown


@dataclass(frozen=True)
class Names:
    """The names of the rows and of the columns of variables; those without names are left out.

    `data` has those of features and samples by the name of the data.

    Examples
    --------
    >>> Names({"W": ("red", "blue")}).rows["W"]
    ('red', 'blue')
    """

    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    data: Mapping[str, tuple[tuple[str, ...] | None, tuple[str, ...] | None]] = field(
        default_factory=dict
    )

    def of_data(self, name: str | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        """Return the names of features and of samples of some data, or of the only ones."""
        if name is None and len(self.data) == 1:
            return next(iter(self.data.values()))
        return self.data.get(name or "", (None, None))

    def __bool__(self) -> bool:
        return bool(self.rows or self.columns or self.data)


def as_names(given: Any, name: str, count: int) -> tuple[str, ...] | None:
    """Return as many names as there are, each as text; nothing where none are given.

    Examples
    --------
    >>> as_names(["a", 7], "feature_names", 2)
    ('a', '7')
    """
    if given is None:
        return None
    own = None if isinstance(given, (str, bytes, Mapping)) else listed(given)
    if own is None:
        raise InputError(f"{name} must be a list of names, got {shown(given)}; try ['a', 'b']")
    try:
        found = tuple(map(str, own))
        "".join(found).encode()
    except Exception as error:  # whatever an object may raise instead of its text
        raise InputError(
            f"{name} must be a list of names, got {shown(given)} ({error}); try ['a', 'b']"
        ) from error
    if len(found) != count:
        raise InputError(f"{name} must have {count} names, got {len(found)}; give each its own")
    if len(set(found)) != count:
        twice = next(one for one in found if found.count(one) > 1)
        raise InputError(f"{name} must differ, got {twice!r} more than once; number them")
    return found


class End(NamedTuple):
    """Rows (0) or columns (1) of a variable that are the features (0) or samples (1) of some data."""

    data: str
    of: int
    variable: str
    axis: int


class _Labeled(Protocol):
    @property
    def data_shapes(self) -> Mapping[str, tuple[int | None, int | None]]: ...

    @property
    def ends(self) -> Iterable[End]: ...


AnyProblem = TypeVar("AnyProblem", bound=_Labeled)
_WORDS = ("feature_names", "sample_names")


def with_labels(problem: AnyProblem, features: Any, samples: Any = None) -> AnyProblem:
    """Return the problem with names of features and samples, which it keeps with its statement.

    Names are a list, or a mapping from the names of data to lists.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> with_labels(cn.factorize(np.ones((2, 1)), 1), ["a", "b"]).names.rows["W"]
    ('a', 'b')
    """
    shapes = problem.data_shapes
    for what, given in zip(_WORDS, (features, samples), strict=True):
        strangers = [key for key in given if key not in shapes] if is_mapping(given) else []
        if strangers:
            raise InputError(
                f"{what} names the data {strangers[0]!r}; the data are {', '.join(shapes)}"
            )
    data = {
        name: (_of(features, name, 0, shape[0]), _of(samples, name, 1, shape[1]))
        for name, shape in shapes.items()
    }
    known = {name: pair for name, pair in data.items() if pair != (None, None)}
    rows: dict[str, tuple[str, ...]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    for end, found in _at_ends(problem, known):
        other = (rows, columns)[end.axis].setdefault(end.variable, found)
        if other != found:
            raise _disagree(end, other, found)
    if known:
        object.__setattr__(problem, "names", Names(rows, columns, known))
    return problem


def _of(given: Any, name: str, axis: int, count: int | None) -> tuple[str, ...] | None:
    own = given.get(name) if is_mapping(given) else given
    return None if count is None else as_names(own, _WORDS[axis], count)


def _at_ends(problem: _Labeled, known: Mapping[str, Any]) -> Iterator[tuple[End, tuple[str, ...]]]:
    for end in problem.ends:
        found = known.get(end.data, (None, None))[end.of]
        if found is not None:
            yield end, found


def _disagree(end: End, one: tuple[str, ...], other: tuple[str, ...]) -> InputError:
    what, place = ("features", "samples")[end.of], ("rows", "columns")[end.axis]
    pairs = ((a, b) for a, b in zip(one, other, strict=True) if a != b)
    a, b = next(pairs)
    return InputError(
        f"{end.variable} is shared, and its {place} have other names in {end.data}: {a!r} and {b!r} "
        f"are at the same place; bring the {what} into one order, or pass .to_numpy()"
    )


def labels_of(V: Any) -> tuple[Sequence[Any] | None, Sequence[Any] | None]:
    """Return the labels of a data frame's rows and columns; those that only count are none.

    Examples
    --------
    >>> import pandas as pd
    >>> labels_of(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    (None, ['a', 'b'])
    """
    if not hasattr(V, "iloc") or not hasattr(V, "columns"):
        return None, None
    return _labels(V.index), _labels(V.columns)


def _labels(index: Any) -> list[Any] | None:
    # Names that stand for several rows say nothing of one of them.
    counted = index.dtype.kind in "iu" and list(index) == list(range(len(index)))
    return None if counted or not index.is_unique else list(index)
