"""Options from a file (TOML) and from --set, for any command, before or after its name."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conicnmf.errors import InputError

LEVELS = ("info", "warning", "error")


@dataclass(frozen=True)
class General:
    """What accompanies a command: its options from elsewhere, and how much is said."""

    config: str | None = None
    changes: tuple[str, ...] = ()
    level: str = "warning"

    def options(self, command: str) -> dict[str, Any]:
        """Return the options of a command, those of --set last."""
        found = {} if self.config is None else _of_file(Path(self.config), command)
        return found | dict(map(read_change, self.changes))


def taken_out(words: Sequence[str]) -> tuple[General, list[str]]:
    """Return the general options among the words of a command line, and the other words.

    Examples
    --------
    >>> general, rest = taken_out(["fit", "--set", "rank=3", "digits", "--log-level=info"])
    >>> general.options("fit"), general.level, rest
    ({'rank': 3}, 'info', ['fit', 'digits'])
    """
    found: dict[str, list[str]] = {"--config": [], "--set": [], "--log-level": []}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        key, equals, value = word.partition("=")
        if word == "--":
            return _general(found), [*rest, word, *queue]
        if key not in found:
            rest.append(word)
        elif equals:
            found[key].append(value)
        elif queue:
            found[key].append(queue.pop(0))
        else:
            raise InputError(f"{key} needs a value; try {_EXAMPLES[key]}")
    return _general(found), rest


_EXAMPLES = {"--config": "--config job.toml", "--set": "--set rank=8", "--log-level": "info"}


def _general(found: Mapping[str, list[str]]) -> General:
    level = (found["--log-level"] or ["warning"])[-1].lower()
    if level not in LEVELS:
        raise InputError(f"--log-level must be one of {', '.join(LEVELS)}, got {level!r}; try info")
    config = found["--config"][-1] if found["--config"] else None
    return General(config, tuple(found["--set"]), level)


def read_change(text: str) -> tuple[str, Any]:
    """Return the name and the value of a change; values are read as TOML, else they are text.

    Examples
    --------
    >>> read_change("sparse-w=0.7"), read_change("solver=HALS"), read_change("json=true")
    (('sparse_w', 0.7), ('solver', 'HALS'), ('json', True))
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set takes name=value, got {text!r}; try --set rank=8")
    try:
        read: Any = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError:
        read = value
    return _name(key), read


def check_known(options: Mapping[str, Any], known: Sequence[str], command: str) -> None:
    """Raise where options are none of a command's.

    Examples
    --------
    >>> check_known({"rank": 3}, ["rank"], "fit")
    """
    for name in options:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise InputError(f"{command} has no option {name!r}; its options are {listed}")


def _of_file(path: Path, command: str) -> dict[str, Any]:
    """Return the options of a file: those at its top, and in the table of the command."""
    read: Callable[[str], dict[str, Any]] = tomllib.loads
    try:
        content = read(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is not a TOML file: {error}; write lines such as rank = 8"
        ) from error
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    plain = {_name(key): value for key, value in content.items() if key not in tables}
    own = {_name(key): value for key, value in tables.get(command, {}).items()}
    return plain | own


def _name(key: str) -> str:
    return key.strip().removeprefix("--").replace("-", "_")
