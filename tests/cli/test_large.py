"""The command line on data that are read in strips, here or by a cluster."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from conicnmf.cli import app

RNG = np.random.default_rng(0)
V = RNG.random((8, 3)) @ RNG.random((3, 40)) + 0.05 * RNG.random((8, 40))


def told(*arguments):
    done = CliRunner().invoke(app, ["fit", *map(str, arguments), "--rank", "3", "--quiet"])
    return done.exit_code, done.output


@pytest.fixture
def stored(tmp_path):
    import zarr

    array = zarr.create_array(tmp_path / "V.zarr", shape=V.shape, dtype=V.dtype, chunks=(8, 10))
    array[:] = V
    np.save(tmp_path / "V.npy", V)
    return tmp_path


@pytest.mark.parametrize("more", [(), ("--cluster", "local")])
def test_strips_are_fitted_and_certified(stored, more):
    code, output = told(
        stored / "V.zarr", "--solver", "HALS", "--json", "--output", stored / "o", *more
    )
    assert code == 0, output
    found = json.loads(output[output.index("{") :])
    assert found["certified"]
    assert found["factors"] == {"W": [8, 3], "H": [3, 40]}


def test_a_limit_reads_an_array_in_strips(stored):
    code, output = told(stored / "V.npy", "--memory-limit", "10KB", "--no-certificate")
    assert code == 0, output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("V.zarr", "--samples-are-rows"), "needs DATA in memory"),
        (("no.zarr",), "there is no file or folder"),
        (("V.npy", "--memory-limit", "much"), "2GB"),
        (("V.npy", "--cluster", "nowhere"), "address of a Dask scheduler"),
    ],
)
def test_what_is_wrong_is_said(stored, arguments, said):
    code, output = told(stored / arguments[0], *arguments[1:])
    assert code == 2
    assert said in " ".join(output.split())
