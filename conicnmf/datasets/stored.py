"""How the arrays of a stored file become a `Dataset`: images, texts, matrices, scenes, patches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from conicnmf.datasets._checks import check_count, generator
from conicnmf.datasets._dataset import Dataset
from conicnmf.errors import InputError
from conicnmf.incoming import check_sparse
from conicnmf.types import Array

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Columns: TypeAlias = slice | NDArray[np.intp]


@dataclass(frozen=True)
class StoredSet(ABC):
    """A named file of plain arrays: `size` is the shape of V in words, `about` its description."""

    name: str
    file: str
    size: str
    about: str

    @abstractmethod
    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""

    @abstractmethod
    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or `n_samples` random samples of it."""


def choose(total: int, n_samples: int | None, seed: int) -> tuple[Columns, dict[str, Any]]:
    """Return the columns to keep, and the "index" entry that records them."""
    if n_samples is None:
        return slice(None), {}
    check_count("n_samples", n_samples, most=total)
    index = generator(seed).choice(total, n_samples, replace=False)
    return index, {"index": index}


def _labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as wide integers, so that arithmetic on them cannot wrap round."""
    return values.astype(np.int64) if values.dtype.kind in "ui" else values


@dataclass(frozen=True)
class ImageSet(StoredSet):
    """Gray images stored as (samples, rows, columns); `white` becomes 1."""

    pixels: tuple[int, int]
    white: float = 255.0
    images: str = "x"
    labels: str | None = None
    more_images: Mapping[str, str] = field(default_factory=dict)
    more_labels: Mapping[str, str] = field(default_factory=dict)
    annotations: tuple[str, ...] = ()  # one value per sample, where the file has them
    legends: tuple[str, ...] = ()  # what the values of the annotations mean

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        rows, columns = self.pixels
        images = f"(samples, {rows}, {columns}), values 0 to {self.white:g}"
        shapes = dict.fromkeys((self.images, *self.more_images.values()), images)
        labels = [self.labels] if self.labels else []
        return shapes | dict.fromkeys((*labels, *self.more_labels.values()), "(samples,)")

    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or `n_samples` random samples of it."""
        images = arrays[self.images]
        columns, extra = choose(len(images), n_samples, seed)
        for name, key in self.more_images.items():
            extra[name] = self._flatten(arrays[key])
        for name, key in self.more_labels.items():
            extra[name] = _labels(arrays[key])
        extra |= {key: _labels(arrays[key])[columns] for key in self.annotations if key in arrays}
        extra |= {key: arrays[key] for key in self.legends if key in arrays}
        return Dataset(
            name=self.name,
            V=self._flatten(images[columns]),
            target=_labels(arrays[self.labels])[columns] if self.labels else None,
            image_shape=self.pixels,
            extra=extra,
            description=self.about,
        )

    def _flatten(self, images: NDArray[Any]) -> Array:
        if images.shape[1:] != self.pixels:
            raise InputError(
                f"images of {self.name!r} must have shape (samples, {self.pixels[0]}, "
                f"{self.pixels[1]}), got {images.shape}"
            )
        V = np.ascontiguousarray(images.reshape(len(images), -1).T, dtype=np.float64)
        V /= self.white
        return V


@dataclass(frozen=True)
class TextSet(StoredSet):
    """Term counts of documents, stored as the arrays of a documents × terms CSR matrix."""

    holds: tuple[str, ...] = ()  # of label, label_names, vocabulary, titles, train_idx

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        csr = {"data": "(entries,)", "indices": "(entries,)", "indptr": "(documents + 1,)"}
        shapes = {
            "label": "(documents,)",
            "label_names": "(classes,)",
            "vocabulary": "(terms,)",
            "titles": "(documents,)",
            "train_idx": "(training documents,)",
        }
        return csr | {"shape": "(2,)"} | {key: shapes[key] for key in self.holds}

    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or `n_samples` random samples of it."""
        documents, terms = (int(length) for length in arrays["shape"])
        counts = arrays["data"].astype(np.float64)
        parts = (counts, arrays["indices"], arrays["indptr"])
        table = sp.csr_array(parts, shape=(documents, terms))
        check_sparse(table, self.name)
        columns, extra = choose(documents, n_samples, seed)
        if "label_names" in self.holds:
            extra["label_names"] = arrays["label_names"]
        if "train_idx" in self.holds:
            train = np.zeros(documents, dtype=bool)
            train[arrays["train_idx"]] = True
            extra["train"] = train[columns]
        return Dataset(
            name=self.name,
            V=sp.csr_array(table[columns].T),
            target=_labels(arrays["label"])[columns] if "label" in self.holds else None,
            feature_names=arrays["vocabulary"] if "vocabulary" in self.holds else None,
            sample_names=arrays["titles"][columns] if "titles" in self.holds else None,
            extra=extra,
            description=self.about,
        )


@dataclass(frozen=True)
class MatrixSet(StoredSet):
    """A matrix that is stored as features × samples already."""

    values: str
    labels: str | None = None
    features: str | None = None
    samples: str | None = None
    per_sample: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        shapes = {self.values: "(features, samples)"}
        shapes |= {key: "(features,)" for key in (self.features,) if key}
        shapes |= {key: "(samples,)" for key in (self.labels, self.samples) if key}
        shapes |= dict.fromkeys(self.per_sample, "(samples,)")
        return shapes | dict.fromkeys(self.others, "(any length,)")

    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or `n_samples` random samples of it."""
        values = arrays[self.values]
        columns, extra = choose(values.shape[1], n_samples, seed)
        extra |= {key: arrays[key][columns] for key in self.per_sample}
        extra |= {key: arrays[key] for key in self.others}
        return Dataset(
            name=self.name,
            V=np.ascontiguousarray(values[:, columns], dtype=np.float64),
            target=_labels(arrays[self.labels])[columns] if self.labels else None,
            feature_names=arrays[self.features] if self.features else None,
            sample_names=arrays[self.samples][columns] if self.samples else None,
            extra=extra,
            description=self.about,
        )
