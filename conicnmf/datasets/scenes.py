"""Stored pictures whose samples are not whole pictures: spectra of pixels, and patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from conicnmf.datasets._checks import check_count, generator
from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets.stored import Arrays, StoredSet, choose
from conicnmf.errors import InputError
from conicnmf.settings import Count, checked


@dataclass(frozen=True)
class SpectralScene(StoredSet):
    """A hyperspectral cube: features are bands, samples are pixels, H is the abundance map."""

    full: float  # the count that means full reflectance

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        return {
            "cube": "(bands, rows, columns)",
            "abundance": "(materials, rows, columns)",
            "abundance_names": "(materials,)",
            "bands": "(bands,)",
        }

    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or `n_samples` random pixels of it."""
        cube, abundance = arrays["cube"], arrays["abundance"]
        if cube.ndim != 3 or cube.shape[1:] != abundance.shape[1:]:
            raise InputError(
                f"cube and abundance of {self.name!r} must show the same rows × columns, "
                f"got {cube.shape} and {abundance.shape}"
            )
        bands, rows, columns = cube.shape
        pixels, extra = choose(rows * columns, n_samples, seed)
        V = np.ascontiguousarray(cube.reshape(bands, -1)[:, pixels], dtype=np.float64)
        V /= self.full
        H = abundance.reshape(len(abundance), -1)[:, pixels].astype(np.float64)
        names = {"abundance_names": arrays["abundance_names"]}
        return Dataset(
            name=self.name,
            V=V,
            feature_names=arrays["bands"].astype(np.int64),
            truth={"H": H},
            extra=extra | names | {"scene_shape": (rows, columns)},
            description=self.about,
        )


@dataclass(frozen=True)
class PatchSet(StoredSet):
    """Square patches cut at random places from a few large, signed pictures."""

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        return {"images": "(pictures, rows, columns), signed"}

    def read(
        self,
        arrays: Arrays,
        *,
        n_samples: int | None = None,
        seed: int = 0,
        patch: int = 14,
        on_off: bool = False,
    ) -> Dataset:
        """Cut `n_samples` patches (30000 by default) of `patch` × `patch` pixels.

        With `on_off` the positive parts stand above the negative ones, which makes the data
        non-negative with twice the rows; seen as an image, ON is then the upper half.
        """
        images = arrays["images"]
        n_pictures, rows, columns = images.shape
        check_count("patch", patch, most=min(rows, columns))
        count = checked(Count | None, n_samples, "the data set", "n_samples") or 30000
        rng = generator(seed)
        picture = rng.integers(n_pictures, size=count)
        top = rng.integers(rows - patch + 1, size=count)
        left = rng.integers(columns - patch + 1, size=count)
        windows = sliding_window_view(images, (patch, patch), axis=(1, 2))
        V = windows[picture, top, left].reshape(count, -1).T.astype(np.float64, order="C")
        if on_off:
            V = np.concatenate([np.maximum(V, 0.0), np.maximum(-V, 0.0)])
        return Dataset(
            name=self.name,
            V=V,
            image_shape=(2 * patch, patch) if on_off else (patch, patch),
            extra={"picture": picture, "top": top, "left": left},
            description=self.about,
        )
