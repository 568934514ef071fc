"""`Format`: how a file is written whole and read back, or refused.

A file is an .npz of plain arrays, which NumPy opens too, and in it a text, ``record.json``, with
everything else. The text says what the file is, in which version, and the checksum of each array and of
the text itself, so no change of any byte goes unseen. Nothing is pickled. A file is written aside under
a name of its own and moved into place when it is whole: a crash leaves the old one, and two processes
never write into the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from conicnmf.archive.arrays import RECORD, read_array
from conicnmf.archive.values import plain
from conicnmf.errors import InputError

VERSION = 1
"""The layout that is written; readers refuse a higher one."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that equal contents give equal files."""


class UnwritableError(InputError):
    """A file cannot be written, as on a full disk.

    Examples
    --------
    >>> issubclass(UnwritableError, InputError)
    True
    """


@dataclass(frozen=True, eq=False)
class Record:
    """What a file holds: plain values by name, and arrays by name."""

    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A kind of file: what it is called, and what to do about one that cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> notes = Format("note", "write it again")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "note.npz"
    ...     written = notes.write(path, {"loss": float("inf")}, {"X": np.eye(2)})
    ...     record = notes.read(path)
    >>> '"loss": "inf"' in written, record.values["loss"], record.arrays["X"].shape
    (True, 'inf', (2, 2))
    """

    name: str
    remedy: str

    def write(
        self,
        path: Path,
        values: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]] | None = None,
        compress: bool = True,
    ) -> str:
        """Replace the file by one with these contents, and return its text."""
        method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        checksums: dict[str, str] = {}
        with self._writing(path) as stream, zipfile.ZipFile(stream, "w", method) as file:
            for name, X in (arrays or {}).items():
                with file.open(_member(f"{name}.npy", method), "w", force_zip64=True) as member:
                    tee = _Tee(member)
                    npy.write_array(tee, np.asarray(X), allow_pickle=False)
                checksums[name] = tee.hash.hexdigest()
            text = self._sealed(values, checksums)
            file.writestr(_member(RECORD, method), text)
        return text

    def reserve(self, path: Path) -> None:
        """Refuse a place that cannot be written to, and leave what is there."""
        with self._writing(path, replaces=False):
            if path.is_dir():
                raise IsADirectoryError("it is a folder")

    def write_text(self, path: Path, values: Mapping[str, Any]) -> None:
        """Replace the file by a text with these values."""
        self.copy_text(path, self._sealed(values, {}))

    def copy_text(self, path: Path, text: str) -> None:
        """Replace the file by a text that `write` returned."""
        with self._writing(path) as stream:
            stream.write(text.encode())

    def read(self, path: Path) -> Record:
        """Return the contents of a file that `write` wrote, or refuse it with the reason."""
        with self.explained(path), zipfile.ZipFile(path) as file:
            values = self._unsealed(file.read(RECORD), path)
            checksums = values.pop("arrays")
            arrays = {name: read_array(file, name, known) for name, known in checksums.items()}
            return Record(values, arrays)

    def read_text(self, path: Path) -> dict[str, Any]:
        """Return the values of a file that `write_text` wrote, or refuse it with the reason."""
        with self.explained(path):
            values = self._unsealed(path.read_bytes(), path)
            del values["arrays"]
            return values

    @contextmanager
    def explained(self, path: Path) -> Iterator[None]:
        """Turn whatever is raised while a file is read into one message with the remedy."""
        try:
            yield
        except InputError:
            raise
        except FileNotFoundError as error:
            raise InputError(
                f"a {self.name} is read from a file, and {path} is missing; check the path"
            ) from error
        except Exception as error:  # from changed bytes a decoder may raise anything
            raise InputError(
                f"a {self.name} must be intact, got {path}, which is damaged or "
                f"something else ({type(error).__name__}: {error}); {self.remedy}"
            ) from error

    @contextmanager
    def _writing(self, path: Path, replaces: bool = True) -> Iterator[BinaryIO]:
        """Open another file next to the path, which replaces it when it is complete."""
        aside = path.parent / f".{path.name}.{uuid.uuid4().hex}.new"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("xb") as stream:
                yield stream
            if replaces:
                os.replace(aside, path)
        except OSError as error:
            raise UnwritableError(
                f"a {self.name} needs a folder that can be written to, got {path} ({error}); make "
                "room there or name another"
            ) from error
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)

    def _sealed(self, values: Mapping[str, Any], checksums: Mapping[str, str]) -> str:
        header = {"format": f"conicnmf {self.name}", "version": VERSION}
        body = plain({**header, **values, "arrays": checksums})
        return json.dumps({**body, "checksum": _checksum(body)}, indent=1, allow_nan=False)

    def _unsealed(self, text: bytes, path: Path) -> dict[str, Any]:
        """Return the values of a text, once its kind, version and checksum are right."""
        body: dict[str, Any] = json.loads(text, parse_constant=_refuse)
        kind, version = body.pop("format"), body.pop("version")
        if kind != f"conicnmf {self.name}":
            raise InputError(f"{path} must be a {self.name}, got a file of the kind {kind!r}")
        if type(version) is not int or version > VERSION:
            raise InputError(
                f"{path} must have version {VERSION} of its format or an earlier one, got {version}; "
                "read it with the version of conicnmf that wrote it, or a newer one"
            )
        found = body.pop("checksum")
        if found != _checksum({"format": kind, "version": version, **body}):
            raise ValueError("its text does not have the checksum it was written with")
        return body


def _checksum(body: dict[str, Any]) -> str:
    written = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(written.encode(), digest_size=16).hexdigest()


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _member(name: str, method: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EARLIEST)
    info.compress_type = method
    return info


@dataclass(eq=False)
class _Tee:
    """A stream that keeps the checksum of what goes through it."""

    stream: Any
    hash: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    def write(self, content: bytes) -> None:
        """Pass on some bytes."""
        self.hash.update(content)
        self.stream.write(content)
