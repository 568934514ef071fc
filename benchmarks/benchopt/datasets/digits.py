"""Handwritten digits of 8 × 8 pixels."""

from benchopt import BaseDataset
from sklearn.datasets import load_digits


class Dataset(BaseDataset):
    """The digits that come with scikit-learn, a column each."""

    name = "Digits"
    requirements = ["scikit-learn"]  # noqa: RUF012  benchopt reads it as a literal
    parameters = {"n_samples": [500]}  # noqa: RUF012

    def get_data(self):
        """Return V, pixels × samples."""
        return {"V": load_digits().data[: self.n_samples].T / 16.0}
