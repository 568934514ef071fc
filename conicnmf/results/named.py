"""A result by the names of its features and samples: frames, the largest entries, single values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.settings import shown
from conicnmf.types import Array
from conicnmf.validate import as_array

if TYPE_CHECKING:
    import pandas as pd


def component_names(count: int) -> list[str]:
    """Return what components are called in tables.

    Examples
    --------
    >>> component_names(2)
    ['component 1', 'component 2']
    """
    return [f"component {k + 1}" for k in range(count)]


def frame_of(
    X: Array, rows: tuple[str, ...] | None, columns: tuple[str, ...] | None, side: str
) -> pd.DataFrame:
    """Return a variable as a data frame; its components are named on their side."""
    import pandas as pd

    own: list[Any] = [rows, columns]
    place = 1 if side == "columns" else 0
    if side and own[place] is None:
        own[place] = component_names(X.shape[place])
    index, names = (None if given is None else list(given) for given in own)
    return pd.DataFrame(X, index=index, columns=names)


def places_of(given: Any, names: tuple[str, ...] | None, what: str, length: int) -> Any:
    """Return places from names, or places as they are.

    Examples
    --------
    >>> places_of(["b", "a"], ("a", "b"), "rows", 2).tolist()
    [1, 0]
    """
    asked = as_array(given, what)
    if asked.dtype.kind not in "UOST" or (asked.dtype.kind == "O" and asked.size == 0):
        strangers = [str(x) for x in asked.ravel() if asked.dtype.kind in "iu" and x >= length]
        if names and strangers and strangers[0] in names:
            raise InputError(
                f"{what} as numbers are positions from 0 to {length - 1}, got {strangers[0]}; write "
                f"the name as a string, {strangers[0]!r}"
            )
        return given
    if names is None:
        raise InputError(
            f"the result has no names of its {what}, got {shown(asked.ravel()[0])}; give numbers, or "
            "solve with feature_names= and sample_names="
        )
    at = {name: place for place, name in enumerate(names)}
    strangers = [str(one) for one in asked.ravel() if str(one) not in at]
    if strangers:
        some = ", ".join(names[:4])
        raise InputError(
            f"{what} must be names of the data, got {shown(strangers[0])}; for example {some}"
        )
    found = [at[str(one)] for one in asked.ravel()]
    return np.array(found, dtype=np.intp).reshape(asked.shape)


@dataclass(frozen=True)
class Top:
    """The largest entries of each component, with their names and values.

    Examples
    --------
    >>> Top.of(np.array([[0.0, 2.0], [3.0, 1.0]]), ("cat", "dog"), 1)
    component 1  dog 3
    component 2  cat 2
    """

    entries: dict[str, list[tuple[str, float]]]

    @classmethod
    def of(
        cls,
        X: Array,
        names: tuple[str, ...] | None,
        count: int,
        columns: list[str] | None = None,
    ) -> Top:
        """Return the largest entries of each column, which is a component where it has no name."""
        own = names or tuple(map(str, range(len(X))))
        titles = columns if columns and X.shape[1] == len(columns) else component_names(X.shape[1])
        found = {}
        for name, x in zip(titles, X.T, strict=True):
            order = np.argsort(-np.abs(x), kind="stable")[:count]
            found[name] = [(own[i], float(x[i])) for i in order if x[i] != 0]
        return cls(found)

    def to_frame(self) -> pd.DataFrame:
        """Return the names as a data frame, a component a column."""
        import pandas as pd

        columns = {
            k: pd.Series([name for name, _ in entries]) for k, entries in self.entries.items()
        }
        frame = pd.DataFrame(columns)
        frame.index += 1
        return frame

    def __repr__(self) -> str:
        width = max(map(len, self.entries), default=0)
        lines = (
            f"{component:<{width}}  " + ", ".join(f"{name} {value:.3g}" for name, value in entries)
            for component, entries in self.entries.items()
        )
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(component)}</th>"
            + "".join(f"<td>{escape(name)} <small>{value:.3g}</small></td>" for name, value in own)
            + "</tr>"
            for component, own in self.entries.items()
        )
        return f"<table>{rows}</table>"
