"""The folder that commands write to."""

from __future__ import annotations

from pathlib import Path

from conicnmf.cli._app import screen
from conicnmf.errors import InputError, require


def output_folder(name: str) -> Path:
    """Return the folder of --output, made before any work is done."""
    require_pictures()
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output must be a folder, got the file {folder}; name another")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--output must be a folder, got {name} ({error}); name another"
        ) from error
    return folder


def require_pictures() -> None:
    """Refuse to write a report where its pictures cannot be drawn, before any work is done."""
    require("matplotlib", "plot", "the pictures of reports need")


def file_names(files: list[Path]) -> list[str]:
    """Return paths as text.

    Examples
    --------
    >>> file_names([Path("runs") / "table.csv"])
    ['runs/table.csv']
    """
    return [str(file) for file in files]


def tell_files(files: list[Path]) -> None:
    """Print what was written, or how to have something written."""
    if files:
        screen().print("Written: " + ", ".join(file_names(files)), soft_wrap=True, markup=False)
    else:
        screen().print("Nothing was written; add --output FOLDER to keep factors and a report.")
