"""Stored files become matrices the right way round; small made-up files, so it runs anywhere."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from conicnmf.datasets import load
from conicnmf.errors import InputError


@pytest.fixture
def yale(folder):
    rng = np.random.default_rng(0)
    arrays = {
        "x": rng.integers(0, 256, (12, 32, 32), dtype=np.uint8),
        "subject": np.arange(1, 13, dtype=np.uint8),
        "glasses": rng.integers(0, 2, 12, dtype=np.uint8),
        "condition_names": np.array(["normal", "sad"]),
    }
    np.savez(folder / "yale_32x32.npz", **arrays)
    return arrays


@pytest.fixture
def texts(folder):
    rng = np.random.default_rng(1)
    dense = rng.poisson(0.3, (20, 7)).astype(np.uint8)
    csr = sp.csr_array(dense)
    arrays = {
        "data": csr.data,
        "indices": csr.indices,
        "indptr": csr.indptr,
        "shape": np.array(csr.shape, dtype=np.int32),
        "label": np.arange(1, 21, dtype=np.uint8),
        "train_idx": np.arange(5, dtype=np.int32),
        "vocabulary": np.array(list("abcdefg")),
        "titles": np.array([f"news {i}" for i in range(20)]),
    }
    for file in ("reuters21578.npz", "reuters_395.npz"):
        np.savez(folder / file, **arrays)
    return dense


@pytest.fixture
def scene(folder):
    rng = np.random.default_rng(2)
    arrays = {
        "cube": rng.uniform(0, 5000, (6, 4, 5)).astype(np.float32),
        "abundance": rng.dirichlet(np.ones(3), (4, 5)).transpose(2, 0, 1).astype(np.float32),
        "abundance_names": np.array(["tree", "water", "soil"]),
        "bands": np.arange(4, 10, dtype=np.uint8),
    }
    np.savez(folder / "jasper_ridge.npz", **arrays)
    return arrays


@pytest.fixture
def pictures(folder):
    images = np.random.default_rng(3).standard_normal((3, 20, 24)).astype(np.float32)
    np.savez(folder / "olshausen_whitened.npz", images=images)
    return images


def test_a_column_is_an_image_row_by_row_with_white_at_one(yale):
    data = load("yale")
    for j, image in enumerate(yale["x"]):
        assert np.array_equal(data.V[:, j].reshape(data.image_shape), image / 255.0)
    assert data.V.flags.c_contiguous
    assert data.target.tolist() == list(range(1, 13))
    assert data.extra["condition_names"].tolist() == ["normal", "sad"]
    assert "facial_hair" not in data.extra  # the file has none


def test_a_subset_keeps_images_labels_and_annotations_together(yale):
    data = load("yale", n_samples=5, seed=1)
    index = np.random.default_rng(1).choice(12, 5, replace=False)
    assert np.array_equal(data.extra["index"], index)
    whole = load("yale")
    assert np.array_equal(data.V, whole.V[:, index])
    assert np.array_equal(data.target, whole.target[index])
    assert np.array_equal(data.extra["glasses"], whole.extra["glasses"][index])


def test_texts_are_terms_by_documents(texts):
    data = load("reuters21578")
    assert isinstance(data.V, sp.csr_array)
    assert data.V.dtype == np.float64
    assert np.array_equal(data.V.toarray(), texts.T)
    assert data.extra["train"].tolist() == [True] * 5 + [False] * 15
    assert repr(data) == (
        f"Dataset('reuters21578', 7 × 20, float64 csr, density {np.mean(texts > 0):.2%})"
    )


def test_a_subset_of_texts_keeps_documents_names_and_marks_together(texts):
    part = load("reuters21578", n_samples=6, seed=2)
    index = part.extra["index"]
    assert np.array_equal(part.V.toarray(), texts[index].T)
    assert np.array_equal(part.target, index + 1)
    assert np.array_equal(part.extra["train"], index < 5)
    named = load("reuters_395", n_samples=6, seed=2)
    assert named.sample_names.tolist() == [f"news {i}" for i in index]
    assert named.feature_names.tolist() == list("abcdefg")


def test_a_scene_has_bands_by_pixels_and_the_abundances_as_truth(scene):
    data = load("jasper_ridge")
    assert data.extra["scene_shape"] == (4, 5)
    assert np.allclose(data.V.reshape(6, 4, 5), scene["cube"] / 5000.0, rtol=1e-7)
    assert np.array_equal(data.truth["H"].reshape(3, 4, 5), scene["abundance"])
    assert data.feature_names.tolist() == [4, 5, 6, 7, 8, 9]
    part = load("jasper_ridge", n_samples=7)
    assert np.array_equal(part.V, data.V[:, part.extra["index"]])
    assert np.array_equal(part.truth["H"], data.truth["H"][:, part.extra["index"]])


def test_patches_are_cut_where_they_say(pictures):
    data = load("natural_images", n_samples=40, patch=6, seed=5)
    assert data.V.shape == (36, 40)
    assert data.image_shape == (6, 6)
    for column, k, top, left in zip(
        data.V.T, data.extra["picture"], data.extra["top"], data.extra["left"], strict=True
    ):
        assert np.array_equal(column.reshape(6, 6), pictures[k, top : top + 6, left : left + 6])
    again = load("natural_images", n_samples=40, patch=6, seed=5)
    assert np.array_equal(again.V, data.V)


def test_patches_reach_every_place_of_the_pictures(pictures):
    data = load("natural_images", n_samples=4000, patch=18)
    assert set(data.extra["top"]) == {0, 1, 2}
    assert set(data.extra["left"]) == set(range(7))
    assert set(data.extra["picture"]) == {0, 1, 2}


def test_on_and_off_channels_are_non_negative_and_differ_to_the_signed_patch(pictures):
    signed = load("natural_images", n_samples=40, patch=6)
    split = load("natural_images", n_samples=40, patch=6, on_off=True)
    assert signed.V.min() < 0 <= split.V.min()
    on, off = split.V[:36], split.V[36:]
    assert np.array_equal(on - off, signed.V)
    assert not np.any((on > 0) & (off > 0))
    upper = split.V[:, 0].reshape(split.image_shape)[:6]
    assert np.array_equal(upper, np.maximum(signed.V[:, 0].reshape(6, 6), 0))


def test_patches_larger_than_the_pictures_are_refused(pictures):
    with pytest.raises(InputError, match=r"patch to be .* from 1 to 20, got patch=21"):
        load("natural_images", patch=21)


@pytest.mark.parametrize("n_samples", [0, 13, 2.0, "all"])
def test_more_samples_than_there_are_is_refused(yale, n_samples):
    with pytest.raises(InputError, match=r"n_samples to be a whole number from 1 to 12"):
        load("yale", n_samples=n_samples)


def test_a_file_without_a_needed_array_is_refused_by_name(folder):
    np.savez(folder / "yale_32x32.npz", x=np.zeros((2, 32, 32), dtype=np.uint8))
    with pytest.raises(InputError, match=r"yale_32x32.npz must hold .*; missing: subject"):
        load("yale")


def test_images_of_another_size_are_refused(folder):
    x, subject = np.zeros((2, 64, 64), dtype=np.uint8), np.ones(2, dtype=np.uint8)
    np.savez(folder / "yale_32x32.npz", x=x, subject=subject)
    with pytest.raises(InputError, match=r"shape \(samples, 32, 32\), got \(2, 64, 64\)"):
        load("yale")


def test_labels_that_do_not_fit_the_images_are_refused(folder):
    x, subject = np.zeros((2, 32, 32), dtype=np.uint8), np.ones(3, dtype=np.uint8)
    np.savez(folder / "yale_32x32.npz", x=x, subject=subject)
    with pytest.raises(InputError, match=r"target of 'yale' must have shape \(2,\)"):
        load("yale")


class Trap:
    """Marks the process when it is unpickled."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


@pytest.mark.parametrize("whole_file", [True, False])
def test_pickled_objects_are_never_loaded(folder, whole_file):
    path = folder / "yale_32x32.npz"
    trap = np.array([Trap()], dtype=object)
    if whole_file:
        trap.dump(path)
    else:
        member = io.BytesIO()
        np.save(member, trap, allow_pickle=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", member.getvalue())
            archive.writestr("subject.npy", member.getvalue())
    with pytest.raises(InputError, match="without pickled objects"):
        load("yale")
    assert not Trap.sprung


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 broken"])
def test_a_broken_file_is_named_in_the_error(folder, content):
    (folder / "yale_32x32.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"yale_32x32\.npz could not be read as 'yale'"):
        load("yale")


def test_a_single_array_in_place_of_an_archive_is_refused(folder):
    with open(folder / "yale_32x32.npz", "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(InputError, match="could not be read as 'yale'"):
        load("yale")
