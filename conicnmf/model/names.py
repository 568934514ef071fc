"""Names of features and samples: words, genes, bands. They accompany the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from conicnmf.errors import InputError
from conicnmf.settings import shown


@dataclass(frozen=True)
class Names:
    """The names of the rows and of the columns of variables; those without names are left out.

    Examples
    --------
    >>> Names({"W": ("red", "blue")}).rows["W"]
    ('red', 'blue')
    """

    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.rows or self.columns)


def as_names(given: Any, name: str, count: int) -> tuple[str, ...] | None:
    """Return as many names as there are, each as text; nothing where none are given.

    Examples
    --------
    >>> as_names(["a", 7], "feature_names", 2)
    ('a', '7')
    """
    if given is None:
        return None
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list of names, got {shown(given)}; try ['a', 'b']")
    try:
        found = tuple(map(str, given))
        "".join(found).encode()
    except (TypeError, UnicodeEncodeError) as error:
        raise InputError(
            f"{name} must be a list of texts, got {shown(given)} ({error}); try ['a', 'b']"
        ) from error
    if len(found) != count:
        raise InputError(
            f"{name} must have {count} names, one each, got {len(found)}; leave none out"
        )
    if len(set(found)) != count:
        twice = next(one for one in found if found.count(one) > 1)
        raise InputError(f"{name} must differ, got {twice!r} more than once; number them")
    return found


class _HasShapes(Protocol):
    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...


AnyProblem = TypeVar("AnyProblem", bound=_HasShapes)


def with_names(problem: AnyProblem, names: Names) -> AnyProblem:
    """Return the problem with names, which it keeps with its statement.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> with_names(cn.factorize(np.ones((2, 2)), 1), Names({"W": ("a", "b")})).names.rows["W"]
    ('a', 'b')
    """
    if names:
        object.__setattr__(problem, "names", names)
    return problem


def with_labels(problem: AnyProblem, features: Any, samples: Any = None) -> AnyProblem:
    """Return the problem with names of the rows of W and of the columns of H, if it has an H.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> with_labels(cn.factorize(np.ones((2, 1)), 1), ["a", "b"]).names.rows["W"]
    ('a', 'b')
    """
    shapes = problem.shapes
    rows = as_names(features, "feature_names", shapes["W"][0])
    columns = as_names(samples, "sample_names", shapes["H"][1]) if "H" in shapes else None
    return with_names(
        problem, Names({"W": rows} if rows else {}, {"H": columns} if columns else {})
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
