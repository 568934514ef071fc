"""The real files, where this machine has them: sizes, ranges, label counts, known facts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from conicnmf.datasets import available
from conicnmf.datasets.catalog import STORED
from conicnmf.errors import InputError

UNSIZED = ("mnist", "movielens")  # large; of another size every few years


@pytest.mark.parametrize("name", [name for name in STORED if name not in UNSIZED])
def test_real_sets_have_the_announced_shape_and_fit_for_nmf(real, name):
    data = real(name)
    shape = next(row.shape for row in available() if row.name == name)
    assert shape == f"{data.V.shape[0]} × {data.V.shape[1]}"
    assert data.V.dtype == np.float64
    values = data.V.data if sp.issparse(data.V) else data.V
    assert np.isfinite(values).all()
    assert (values.min() < 0) == (name == "natural_images")
    if data.image_shape is not None and name != "natural_images":
        assert 0.9 < data.V.max() <= 1
    assert data.description.endswith(".")


def counts(labels):
    return np.unique(labels, return_counts=True)[1].tolist()


def test_usps_has_the_classic_halves(real):
    data = real("usps")
    assert counts(data.target) == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    assert counts(data.extra["target_test"]) == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    assert data.target[:10].tolist() == [6, 5, 4, 7, 3, 6, 3, 1, 0, 1]
    assert data.extra["V_test"].shape == (256, 2007)


def test_the_thousand_digits_of_the_experiments_are_the_documented_columns(real):
    data = real("usps", n_samples=1000, seed=1)
    columns = np.random.default_rng(1).choice(7291, 1000, replace=False)
    assert np.array_equal(data.V, real("usps").V[:, columns])


def test_mnist_has_the_classic_halves_and_upright_ones(real):
    data = real("mnist", n_samples=6000)
    assert data.V.shape == (784, 6000)
    with pytest.raises(InputError, match="from 1 to 60000"):
        real("mnist", n_samples=60001)
    assert counts(data.extra["target_test"]) == [
        980,
        1135,
        1032,
        1010,
        982,
        892,
        958,
        1028,
        974,
        1009,
    ]
    ones = data.V[:, data.target == 1].mean(axis=1).reshape(28, 28)
    assert np.count_nonzero(ones.sum(axis=1) > 1) > np.count_nonzero(ones.sum(axis=0) > 1)


def test_faces_have_the_official_counts_and_dark_eyes(real):
    data = real("cbcl_faces")
    assert data.V.shape[1] == 2429
    assert data.extra["V_test"].shape == (361, 472)
    assert data.extra["V_nonface"].shape == (361, 4548)
    mean = data.V.mean(axis=1).reshape(19, 19)
    assert mean[5:8].mean() < mean[10:13].mean()  # eyes darker than cheeks and nose


def test_olivetti_and_yale_have_their_subjects_and_annotations(real):
    olivetti, yale = real("olivetti"), real("yale")
    assert counts(olivetti.target) == [10] * 40
    assert olivetti.extra["glasses"].sum() == 119
    assert counts(olivetti.extra["facial_hair"]) == [310, 20, 70]
    assert counts(yale.target) == [11] * 15
    assert yale.extra["glasses"].sum() == 36
    assert yale.extra["facial_hair"].sum() == 44
    assert len(yale.extra["condition_names"]) == 11


def test_texts_have_their_documents_and_topics(real):
    reuters, tdt2 = real("reuters21578"), real("tdt2")
    assert sorted(counts(reuters.target))[::-1][:5] == [3713, 2055, 321, 298, 245]
    assert reuters.extra["train"].sum() == 5946
    assert sorted(counts(tdt2.target))[::-1][:5] == [1844, 1828, 1222, 811, 441]
    assert tdt2.V.nnz == 1224135
    small = real("reuters_395")
    assert small.V.sum() == 84010
    assert (len(small.feature_names), len(small.sample_names)) == small.V.shape
    news = real("newsgroups_w100")
    assert counts(news.target) == [4605, 3519, 2657, 5461]
    assert set(news.V.data) == {1.0}


def test_genes_notes_and_spectra_carry_their_names(real):
    genes = real("all_aml")
    assert counts(genes.target) == [19, 8, 11]
    assert (len(genes.feature_names), len(genes.sample_names)) == (5000, 38)
    piano = real("piano", n_samples=100)
    assert piano.extra["freq_hz"].shape == (513,)
    assert np.array_equal(
        piano.extra["time_s"], real("piano").extra["time_s"][piano.extra["index"]]
    )
    scene = real("jasper_ridge")
    H = scene.truth["H"]
    assert np.allclose(H.sum(axis=0), 1, atol=1e-5)
    assert scene.extra["abundance_names"].tolist() == ["tree", "water", "soil", "road"]
    # The abundances belong to these pixels: with the best spectra they leave 14.7 % unexplained.
    W = np.linalg.lstsq(H.T, scene.V.T, rcond=None)[0].T
    residual = np.linalg.norm(scene.V - W @ H) / np.linalg.norm(scene.V)
    assert residual == pytest.approx(0.147, abs=0.002)
