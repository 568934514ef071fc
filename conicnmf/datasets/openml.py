"""Data sets that can be downloaded; they are kept in the user's cache."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
import urllib.request
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from conicnmf.datasets.local import DATA, cache_folder, how_to_get
from conicnmf.datasets.stored import StoredSet
from conicnmf.errors import InputError

Stored: TypeAlias = dict[str, NDArray[Any]]

# Digits 0 to 9 in the training halves: they show that a download has the classic order.
_USPS_TRAIN = (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)
_MNIST_TRAIN = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)


@dataclass(frozen=True)
class Download:
    """Where a set can be had, and the function that brings its arrays in the stored layout."""

    source: str
    fetch: Callable[[], Stored]


def download(stored: StoredSet) -> Stored:
    """Download a set and keep it in the cache; an error says how to provide it by hand."""
    if stored.name not in DOWNLOADS:
        raise InputError(how_to_get(stored))
    entry = DOWNLOADS[stored.name]
    try:
        arrays = entry.fetch()
    except (OSError, ValueError, KeyError, HTTPException, zipfile.BadZipFile) as error:
        raise InputError(
            f"{stored.name} is not on this machine and the download from {entry.source} failed "
            f"({error}).\n{how_to_get(stored)}"
        ) from error
    try:
        DATA.write(cache_folder() / stored.file, {"name": stored.name}, arrays)
    except InputError as error:
        warnings.warn(
            f"{stored.name} was downloaded but could not be saved in {cache_folder()} ({error}); "
            "it will be downloaded again next time unless XDG_CACHE_HOME names a writable folder",
            RuntimeWarning,
            stacklevel=4,  # the user's call of `load`
        )
    return arrays


def _from_openml(data_id: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    from sklearn.datasets import fetch_openml

    X, y = fetch_openml(data_id=data_id, as_frame=False, return_X_y=True, cache=False)
    return np.asarray(X), np.asarray(y).astype(np.int64)


def _halves(x: NDArray[Any], y: NDArray[np.int64], train_counts: tuple[int, ...]) -> Stored:
    """Split into the classic training and test halves, of which the training half comes first."""
    size = sum(train_counts)
    if not np.array_equal(np.bincount(y[:size], minlength=10), train_counts):
        raise ValueError(f"the first {size} samples are not the classic training half")
    labels = y.astype(np.uint8)
    return {
        "x_train": x[:size],
        "y_train": labels[:size],
        "x_test": x[size:],
        "y_test": labels[size:],
    }


def _usps() -> Stored:
    x, y = _from_openml(41082)
    # Stored there with pixels from -1 to 1 and with the labels 1 to 10 for the digits 0 to 9.
    x = (x - x.min()) / (x.max() - x.min())
    return _halves(x.reshape(-1, 16, 16).astype(np.float32), y - 1, _USPS_TRAIN)


def _mnist() -> Stored:
    x, y = _from_openml(554)
    return _halves(x.reshape(-1, 28, 28).astype(np.uint8), y, _MNIST_TRAIN)


def _olivetti() -> Stored:
    from sklearn.datasets import fetch_olivetti_faces

    # A folder of its own because the fetcher leaves a pickle behind; it also prints.
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stdout(io.StringIO()):
        faces = fetch_olivetti_faces(data_home=home)
    # The fetcher divides by the brightest pixel, which has the gray value 242.
    x = np.rint(np.asarray(faces.images) * 242).astype(np.uint8)
    return {"x": x, "subject": (np.asarray(faces.target) + 1).astype(np.uint8)}


_MOVIELENS = "https://files.grouplens.org/datasets/movielens/ml-latest-small.zip"


def _movielens() -> Stored:
    with urllib.request.urlopen(_MOVIELENS, timeout=60) as answer:
        return read_movielens(answer.read())


def read_movielens(content: bytes) -> Stored:
    """Return the ratings in a zipped folder of ratings.csv and movies.csv, rated movies only."""
    with zipfile.ZipFile(io.BytesIO(content)) as folder:
        tables = {}
        for path in folder.namelist():
            name = path.rpartition("/")[2]
            if name in ("ratings.csv", "movies.csv"):
                text = io.TextIOWrapper(folder.open(path), encoding="utf-8", newline="")
                tables[name] = list(csv.DictReader(text))
    rows = tables["ratings.csv"]
    names = {int(row["movieId"]): row["title"] for row in tables["movies.csv"]}
    movies, item = np.unique([int(row["movieId"]) for row in rows], return_inverse=True)
    _, user = np.unique([int(row["userId"]) for row in rows], return_inverse=True)
    return {
        "item": item.astype(np.int32),
        "user": user.astype(np.int32),
        "rating": np.array([float(row["rating"]) for row in rows], dtype=np.float32),
        "titles": np.array([names[int(movie)] for movie in movies]),
    }


DOWNLOADS: dict[str, Download] = {
    "usps": Download("OpenML", _usps),
    "mnist": Download("OpenML", _mnist),
    "olivetti": Download("scikit-learn's download site", _olivetti),
    "movielens": Download("files.grouplens.org", _movielens),
}
