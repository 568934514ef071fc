"""Arrays in an open .npz, each read on request and checked before it is returned."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.lib import format as npy
from numpy.typing import NDArray

RECORD = "record.json"
"""The member with everything that is no array."""


@dataclass(frozen=True, eq=False)
class Arrays(Mapping[str, NDArray[Any]]):
    """The arrays of an .npz by name; never a pickle.

    Examples
    --------
    >>> import numpy as np
    >>> stream = io.BytesIO()
    >>> np.savez(stream, X=np.eye(2))
    >>> with zipfile.ZipFile(stream) as file:
    ...     list(Arrays(file)), Arrays(file)["X"].shape
    (['X'], (2, 2))
    """

    file: zipfile.ZipFile

    def __iter__(self) -> Iterator[str]:
        members = self.file.namelist()
        return iter([name.removesuffix(".npy") for name in members if name.endswith(".npy")])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return read_array(self.file, name, self._checksums.get(name))

    @property
    def _checksums(self) -> dict[str, str]:
        """What the file says of its arrays, nothing where NumPy wrote it."""
        if RECORD not in self.file.namelist():
            return {}
        return dict(json.loads(self.file.read(RECORD))["arrays"])


def read_array(file: zipfile.ZipFile, name: str, checksum: str | None) -> NDArray[Any]:
    """Return an array of an open .npz, compared with its checksum where there is one."""
    content = file.read(f"{name}.npy")  # to its end, where zip files have a checksum of their own
    if checksum is not None and hashlib.blake2b(content, digest_size=16).hexdigest() != checksum:
        raise ValueError(f"array {name!r} does not have the checksum it was written with")
    X: NDArray[Any] = npy.read_array(io.BytesIO(content), allow_pickle=False)
    return X
