"""Random factors of a known rank, multiplied, with noise."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Half of the entries of W are zero."""

    name = "Simulated"
    requirements = ["numpy"]  # noqa: RUF012  benchopt reads it as a literal
    parameters = {  # noqa: RUF012
        "n_features": [200],
        "n_samples": [100],
        "rank": [10],
        "noise": [0.01],
    }
    test_config = {"n_features": 20, "n_samples": 15, "rank": 2}  # noqa: RUF012

    def get_data(self):
        """Return V, features × samples."""
        rng = np.random.default_rng(self.get_seed())
        W = rng.random((self.n_features, self.rank))
        W[rng.random(W.shape) < 0.5] = 0.0
        V = W @ rng.random((self.rank, self.n_samples))
        return {"V": V + self.noise * V.mean() * rng.random(V.shape)}
