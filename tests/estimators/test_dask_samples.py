"""Estimators fit and code arrays and frames of Dask."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import Client

import conicnmf as cn
from conicnmf.estimators import NMF, Factorizer, SparseNMF
from tests.strips.conftest import local_cluster

RNG = np.random.default_rng(1)
X = RNG.random((43, 3)) @ RNG.random((3, 7)) + 0.05 * RNG.random((43, 7))
LAZY = da.from_array(X, chunks=(10, 4))


@pytest.fixture(scope="module", autouse=True)
def client():
    with local_cluster(2) as cluster, Client(cluster) as own:
        yield own


def test_a_fit_is_as_good_as_that_of_the_same_samples_in_memory():
    model = SparseNMF(3, sparseness=0.4, random_state=0, tol=1e-7).fit(LAZY)
    left = np.linalg.norm(X - model.transform(X) @ model.components_)
    assert model.reconstruction_err_ == pytest.approx(left, rel=1e-3)
    assert model.n_features_in_ == 7
    whole = SparseNMF(3, sparseness=0.4, random_state=0, tol=1e-7).fit(X)
    assert model.reconstruction_err_ <= 1.05 * whole.reconstruction_err_
    assert bool(model.certificate(LAZY))


def test_codes_are_made_chunk_by_chunk():
    model = Factorizer(3).fit(X)
    codes = model.transform(LAZY)
    assert isinstance(codes, da.Array)
    assert codes.chunks == (LAZY.chunks[0], (3,))
    np.testing.assert_allclose(codes.compute(), model.transform(X), atol=1e-12)
    both = SparseNMF(3, random_state=0).fit_transform(LAZY)
    assert isinstance(both, da.Array)


def test_missing_entries_are_left_out():
    holes = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    model = Factorizer(3, max_iter=200).fit(da.from_array(holes, chunks=(10, 7)))
    whole = Factorizer(3, max_iter=200).fit(holes)
    assert model.reconstruction_err_ == pytest.approx(whole.reconstruction_err_, rel=0.1)


def test_frames_have_names():
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefg")), npartitions=3)
    model = Factorizer(3).fit(frame)
    assert list(model.feature_names_in_) == list("abcdefg")
    assert model.result_.names.rows["W"] == tuple("abcdefg")
    assert model.transform(frame).compute().shape == (43, 3)


def test_what_does_not_fit_is_said():
    model = Factorizer(3).fit(X)
    with pytest.raises(cn.InputError, match="must have 7 features"):
        model.transform(LAZY[:, :5])
    with pytest.raises(cn.InputError, match=r"\.compute\(\)"):
        NMF(3).fit(LAZY)
