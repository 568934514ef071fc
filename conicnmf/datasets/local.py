"""Where stored data sets are looked for on this machine, and how a file is opened."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from conicnmf.archive import Arrays, Format
from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets.stored import StoredSet
from conicnmf.errors import InputError

VARIABLE = "CONICNMF_DATA"


DATA = Format("data set", "delete it, and it is downloaded again")


def cache_folder() -> Path:
    """Return the folder that downloads are kept in."""
    root = os.environ.get("XDG_CACHE_HOME")
    if root:
        return Path(root) / "conicnmf"
    try:
        return Path.home() / ".cache" / "conicnmf"
    except RuntimeError:  # this user has no home
        return Path(tempfile.gettempdir()) / "conicnmf"


def folders() -> list[Path]:
    """Return the folders to look in, first things first."""
    found: list[Path] = []
    given = os.environ.get(VARIABLE)
    if given:
        folder = Path(given).expanduser()
        if not folder.is_dir():
            raise InputError(
                f"{VARIABLE} must name an existing folder, got {given!r}; correct or unset it"
            )
        found.append(folder)
    return [*found, cache_folder()]


def find(stored: StoredSet) -> Path | None:
    """Return the file of a stored set, or None if no folder has it."""
    paths = (folder / stored.file for folder in folders())
    return next((path for path in paths if path.is_file()), None)


def read_file(stored: StoredSet, path: Path, options: dict[str, Any]) -> Dataset:
    """Read a stored set from its file; pickled objects are never loaded."""
    try:
        with zipfile.ZipFile(path) as file:
            arrays = Arrays(file)
            missing = [key for key in stored.layout() if key not in arrays]
            if missing:
                raise InputError(
                    f"{path} must hold the arrays {_words(stored)}; missing: {', '.join(missing)}"
                )
            return stored.read(arrays, **options)
    except InputError:
        raise
    except Exception as error:  # from changed bytes a decoder may raise anything
        raise InputError(
            f"{path} could not be read as {stored.name!r} ({type(error).__name__}: {error}); it must "
            f"be an .npz file without pickled objects that holds {_words(stored)}. If it is damaged, "
            "delete it or take another copy"
        ) from error


def how_to_get(stored: StoredSet) -> str:
    """Say which file, with which arrays, in which folder would provide a stored set."""
    places = " or ".join(str(folder) for folder in folders())
    return (
        f"{stored.name} needs the file {stored.file} in {places}, or in the folder that the "
        f"environment variable {VARIABLE} names. Make it with "
        f"numpy.savez_compressed from the arrays {_words(stored)}.\nThe data: {stored.about}"
    )


def _words(stored: StoredSet) -> str:
    return ", ".join(f"{key} {shape}" for key, shape in stored.layout().items())
