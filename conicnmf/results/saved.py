"""Results on disk: one file with all of it, and its text next to it for people and other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from operator import index
from pathlib import Path
from typing import Any, TypeVar

from conicnmf.archive import Format, Record, number, text
from conicnmf.errors import InputError
from conicnmf.model.names import Names
from conicnmf.results.history import History
from conicnmf.results.result import Result
from conicnmf.results.status import Promises, Status
from conicnmf.settings import Place, checks_arguments
from conicnmf.types import Factors

T = TypeVar("T")

RESULT = Format("result", "take another copy of it, or solve again")
"""The kind of file."""
_PLAIN = ("objective", "relative_error", "seed", "solver", "versions", "components", "violation")


def write_result(result: Result, path: Path, **more: Any) -> str:
    """Write one file with the result and more values, and return its text."""
    values = {name: getattr(result, name) for name in _PLAIN}
    values |= {
        "relative_errors": result.relative_errors,
        "status": result.status.name,
        "method": result.method,
        "problem": result.problem_text,
        "promises": asdict(result.promises),
        "digest": result.digest,
        "remarks": list(result.remarks),
        "history": result.history.to_list(),
        "unit": result.history.unit,
        "names": {side: dict(getattr(result.names, side)) for side in ("rows", "columns", "data")},
    }
    arrays = {f"factor_{name}": X for name, X in result.factors.items()}
    arrays |= {f"direction_{name}": X for name, X in (result.direction or {}).items()}
    return RESULT.write(path, values | more, arrays)


def read_result(path: Path) -> tuple[Result, dict[str, Any]]:
    """Return a result that `write_result` wrote, and all values of its file."""
    record = RESULT.read(path)
    with RESULT.explained(path):
        return _result(record), record.values


def _result(record: Record) -> Result:
    values = record.values
    seed = values["seed"]
    return Result(
        factors=_group(record, "factor_"),
        objective=number(values["objective"]),
        relative_error=number(values["relative_error"]),
        violation=_each(number, values["violation"]),
        status=Status[values["status"]],
        history=History.from_list(values["history"], number(values["unit"])),
        seed=None if seed is None else index(seed),
        solver=text(values["solver"]),
        problem_text=text(values["problem"]),
        versions=_each(text, values["versions"]),
        promises=Promises(**values["promises"]),
        direction=_group(record, "direction_") or None,
        relative_errors=_each(number, values["relative_errors"]),
        components=_each(text, values["components"]),
        identity=_each(text, values["digest"]),
        remarks=tuple(map(text, values["remarks"])),
        names=_names(values.get("names", {})),
        method=text(values.get("method", "")),
    )


def _names(values: Mapping[str, Any]) -> Names:
    """Return names; files of earlier versions have none."""

    def side(which: str) -> dict[str, tuple[str, ...]]:
        return {key: tuple(map(text, own)) for key, own in values.get(which, {}).items()}

    pairs = {
        key: tuple(None if own is None else tuple(map(text, own)) for own in (rows, columns))
        for key, (rows, columns) in values.get("data", {}).items()
    }
    return Names(side("rows"), side("columns"), pairs)  # type: ignore[arg-type]


def _group(record: Record, prefix: str) -> Factors:
    found = {name: X for name, X in record.arrays.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): X for name, X in found.items()}


def _each(kind: Callable[[Any], T], values: Mapping[str, Any]) -> dict[str, T]:
    return {name: kind(value) for name, value in values.items()}


def save(result: Result, path: str | Path) -> Path:
    """Write a result and its text, and return the path without ending."""
    stem = _stem(path)
    written = write_result(result, stem.with_name(stem.name + ".npz"))
    RESULT.copy_text(stem.with_name(stem.name + ".json"), written)
    return stem


@checks_arguments
def load(path: Place) -> Result:
    """Read a result that `Result.save` wrote; a damaged file is rejected.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn, tempfile
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = cn.load(result.save(folder + "/ones"))
    >>> bool((again.W == result.W).all())
    True
    """
    stem = _stem(path)
    return read_result(stem.with_name(stem.name + ".npz"))[0]


def _stem(path: str | Path) -> Path:
    path = Path(path)
    if not path.name:
        raise InputError(f"a result needs the name of a file, got path={str(path)!r}; try 'result'")
    return path.with_suffix("") if path.suffix in (".npz", ".json") else path
