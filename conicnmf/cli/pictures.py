"""A folder of pictures as a matrix: one column a picture, in shades of gray."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from conicnmf.errors import InputError, require
from conicnmf.types import Array

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")


def read_pictures(
    folder: Path, shape: tuple[int, int] | None = None
) -> tuple[Array, tuple[int, int], list[str]]:
    """Return pixels × pictures from 0 (black) to 1, the (rows, columns) of each, and their names.

    Pictures are taken in the order of their names, and scaled to `shape` if it is given.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in ENDINGS)
    if not files:
        raise InputError(
            f"a folder must hold pictures {', '.join(ENDINGS)}, got none in {folder}; check the path"
        )
    pictures = [_gray(path, shape) for path in files]
    size = pictures[0].shape
    for path, picture in zip(files, pictures, strict=True):
        if picture.shape != size:
            raise InputError(
                f"pictures must have the same size, got {_text(size)} in {files[0].name} and "
                f"{_text(picture.shape)} in {path.name}; add --image-shape {_text(size)} to scale them"
            )
    V = np.stack([picture.ravel() for picture in pictures], axis=1)
    return V, (size[0], size[1]), [path.name for path in files]


def _gray(path: Path, shape: tuple[int, int] | None) -> Array:
    Image = require("PIL.Image", "cli", "folders of pictures need")
    try:
        with Image.open(path) as picture:
            deep = picture.mode.startswith("I")  # 16 bits
            gray = picture.convert("F") if deep else picture.convert("L").convert("F")
    except OSError as error:
        raise InputError(f"{path} could not be read as a picture; remove it ({error})") from error
    if shape is not None:
        gray = gray.resize((shape[1], shape[0]), Image.Resampling.BILINEAR)
    return np.asarray(gray, dtype=float) / (65535.0 if deep else 255.0)


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
