"""Data that not every machine has."""

from __future__ import annotations

import pytest

from conicnmf.datasets import local
from conicnmf.datasets.catalog import STORED

NEEDS = {
    "heiler-table3": "usps",
    "heiler-labels": "usps",
    "heiler-quantization": "cbcl_faces",
    "heiler-cbcl": "cbcl_faces",
}


@pytest.fixture
def require():
    """Skip where the data of an experiment are not on this machine."""

    def check(experiment: str) -> None:
        stored = STORED.get(NEEDS.get(experiment, ""))
        if stored is not None and local.find(stored) is None:
            pytest.skip(f"{stored.file} is not on this machine; set {local.VARIABLE}")

    return check
