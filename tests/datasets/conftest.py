"""Fixtures of the data tests: the real files where a machine has them, and a machine without."""

from __future__ import annotations

from pathlib import Path

import pytest

from conicnmf.datasets import Dataset, load, local
from conicnmf.datasets.catalog import STORED


@pytest.fixture
def real():
    """`load` for stored sets; skips where the file is not on this machine."""

    def get(name: str, **options: object) -> Dataset:
        if local.find(STORED[name]) is None:
            pytest.skip(f"{STORED[name].file} is not on this machine; set {local.VARIABLE}")
        return load(name, **options)

    return get


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any data; returns the folder that plays the home of everything."""
    here = tmp_path / "work" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(local.VARIABLE, raising=False)
    return tmp_path


@pytest.fixture
def folder(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder that CONICNMF_DATA names."""
    path = elsewhere / "data"
    path.mkdir()
    monkeypatch.setenv(local.VARIABLE, str(path))
    return path
