"""Ratings: a sparse matrix of which only the stored entries are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from conicnmf.datasets._dataset import Dataset
from conicnmf.datasets.stored import Arrays, StoredSet, choose
from conicnmf.errors import InputError


@dataclass(frozen=True)
class RatingSet(StoredSet):
    """Ratings as triples; features are what is rated, samples are who rates."""

    def layout(self) -> dict[str, str]:
        """Arrays that the file must have, and the shape of each."""
        triples = dict.fromkeys(("item", "user", "rating"), "(ratings,)")
        return triples | {"titles": "(items,)"}

    def read(self, arrays: Arrays, *, n_samples: int | None = None, seed: int = 0) -> Dataset:
        """Build the data set, or the ratings of `n_samples` random users."""
        item, user = (arrays[key].astype(np.intp) for key in ("item", "user"))
        titles = arrays["titles"]
        if not item.shape == user.shape == arrays["rating"].shape:
            raise InputError(
                f"item, user and rating of {self.name!r} must have the same length, got {item.shape}, "
                f"{user.shape} and {arrays['rating'].shape}"
            )
        shape = (len(titles), int(user.max(initial=-1)) + 1)
        V = sp.csr_array((arrays["rating"].astype(np.float64), (item, user)), shape=shape)
        columns, extra = choose(shape[1], n_samples, seed)
        return Dataset(
            name=self.name,
            V=sp.csr_array(V[:, columns]),
            feature_names=titles,
            extra=extra,
            description=self.about,
        )
