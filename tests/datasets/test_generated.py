"""Generated data are what their definitions say, checked from the outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from conicnmf.datasets import (
    bars,
    load,
    low_rank,
    paatero,
    swimmer,
    synthetic_dictionary,
    three_factors,
)
from conicnmf.datasets.local import folders
from conicnmf.errors import InputError

SEEDED = ["bars", "paatero", "synthetic_dictionary", "low_rank", "three_factors"]
EXACT = {
    "bars": {},
    "swimmer": {},
    "synthetic_dictionary": {"m": 30, "k": 50, "n": 60},
    "paatero": {"noise": 0},
    "low_rank": {"noise": 0},
}


@pytest.mark.parametrize("name", SEEDED)
def test_same_seed_same_data_other_seed_other_data(name):
    first, again, other = load(name, seed=3), load(name, seed=3), load(name, seed=4)
    assert np.array_equal(first.V, again.V)
    assert not np.array_equal(first.V, other.V)


@pytest.mark.parametrize("name", EXACT)
def test_truth_explains_the_data_without_noise(name):
    data = load(name, **EXACT[name])
    assert np.allclose(data.truth["W"] @ data.truth["H"], data.V, rtol=0, atol=1e-14)
    assert data.V.min() >= 0
    assert data.V.dtype == np.float64
    assert data.V.flags.c_contiguous


def test_bars_are_the_ten_blocks_of_full_lines():
    W = bars(n_samples=1).truth["W"]
    # Second route: of all sets of pixels, those that are full lines side by side, but not all nine.
    wanted = set()
    for lines in ([0], [1], [2], [0, 1], [1, 2]):
        image = np.zeros((3, 3), dtype=bool)
        image[lines] = True
        wanted |= {tuple(image.ravel()), tuple(image.T.ravel())}
    assert {tuple(column > 0) for column in W.T} == wanted
    assert np.allclose(np.linalg.norm(W, axis=0), 1)
    assert [int((column > 0).sum()) for column in W.T] == [3] * 6 + [6] * 4


def test_six_single_bars_alone_explain_the_bars_data():
    data = bars(n_samples=50, density=0.3)
    single = data.truth["W"][:, :6]
    assert max(nnls(single, column)[1] for column in data.V.T) < 1e-12


def test_bars_are_present_with_the_stated_probability():
    H = bars(n_samples=5000, density=0.2).truth["H"]
    present = np.mean(H > 0)
    assert abs(present - 0.2) < 4 * np.sqrt(0.2 * 0.8 / H.size)
    assert 0.49 < H[H > 0].mean() < 0.51
    assert H.max() <= 1


def test_swimmer_has_all_figures_once_and_rank_13():
    V = swimmer().V
    assert np.unique(V, axis=1).shape == (1024, 256)
    # Every limb's four positions sum to the same always-on pattern: 17 parts, 4 dependencies.
    assert np.linalg.matrix_rank(V) == 13
    assert set(V.sum(axis=0)) == {17 + 4 * 5}


def test_swimmer_is_its_own_mirror_image():
    # The torso stands on column 15, so columns 0 to 30 mirror on themselves.
    images = swimmer().V.T.reshape(256, 32, 32)[:, :, :31]
    mirrored = images[:, :, ::-1]
    assert {image.tobytes() for image in images} == {
        np.ascontiguousarray(image).tobytes() for image in mirrored
    }


def test_swimmer_with_the_published_grays_is_the_published_file():
    paths = [path / "swimmer.npz" for path in folders() if (path / "swimmer.npz").is_file()]
    if not paths:
        pytest.skip("swimmer.npz is not on this machine")
    with np.load(paths[0], allow_pickle=False) as arrays:
        published = arrays["x"].reshape(256, -1).T
    data = swimmer(background=1, figure=39)
    assert np.array_equal(data.V, published)
    assert np.array_equal(data.truth["W"] @ data.truth["H"], published)


def test_paatero_profiles_are_sparse_and_its_coefficients_are_not():
    data = paatero()
    W, H = data.truth["W"], data.truth["H"]
    root = np.sqrt(60)
    sparseness = (root - W.sum(axis=0) / np.linalg.norm(W, axis=0)) / (root - 1)
    assert np.all((sparseness > 0.6) & (sparseness < 0.7))
    assert H.min() > 0.01
    # Exponentials have a constant ratio from one time to the next.
    ratios = H[:, 1:] / H[:, :-1]
    assert np.allclose(ratios, ratios[:, :1])
    assert np.linalg.matrix_rank(paatero(noise=0).V) == 4


def test_paatero_noise_has_the_stated_deviation():
    data = paatero(m=300, n=300, noise=0.05)
    clean = data.truth["W"] @ data.truth["H"]
    bright = clean > 0.4  # too bright for the cut at zero to matter
    assert (data.V - clean)[bright].std() == pytest.approx(0.05, rel=0.05)
    assert data.V.min() == 0


@pytest.mark.parametrize("density", [0.1, 0.25, 0.5])
def test_synthetic_dictionary_has_the_stated_sparsity(density):
    data = synthetic_dictionary(density=density)
    W, H = data.truth["W"], data.truth["H"]
    assert (W.shape, H.shape) == ((200, 400), (400, 1600))
    assert np.allclose(np.linalg.norm(W, axis=0), 1)
    assert set((W > 0).sum(axis=0)) == {200 * density}
    assert set((H > 0).sum(axis=0)) == set(range(5, 11))
    assert H[H > 0].min() >= 0.02
    assert H.max() <= 1
    assert (H > 0).sum(axis=1).min() > 0  # every atom is used, or it could not be recovered


def test_low_rank_noise_is_relative_to_the_data():
    data = low_rank(200, 150, rank=4, noise=0.1)
    clean = data.truth["W"] @ data.truth["H"]
    ratio = np.linalg.norm(data.V - clean) / np.linalg.norm(clean)
    assert ratio == pytest.approx(0.1, rel=0.05)


@settings(max_examples=25, deadline=None)
@given(
    m=st.integers(1, 30),
    n=st.integers(1, 30),
    rank=st.integers(1, 6),
    density=st.floats(0.001, 1),
    noise=st.floats(0, 2),
    seed=st.integers(0, 10**6),
)
def test_low_rank_is_non_negative_and_no_component_is_empty(m, n, rank, density, noise, seed):
    data = low_rank(m, n, rank, noise=noise, density=density, seed=seed)
    assert data.V.shape == (m, n)
    assert np.isfinite(data.V).all()
    assert data.V.min() >= 0
    assert data.truth["W"].max(axis=0).min() > 0
    assert data.truth["H"].max(axis=1).min() > 0
    assert abs((data.truth["W"] > 0).sum(axis=0) - max(1, density * m)).max() <= 0.5


def test_three_factors_have_the_stated_moments():
    data = three_factors(n_samples=100_000, seed=1)
    W, H = data.truth["W"], data.truth["H"]
    assert H[0].var() == pytest.approx(290, rel=0.03)
    assert H[1].var() == pytest.approx(300, rel=0.03)
    assert abs(np.corrcoef(H[0], H[1])[0, 1]) < 0.015
    weights, left, *_ = np.linalg.lstsq(H[:2].T, H[2], rcond=None)
    assert weights == pytest.approx([-0.3, 0.925], abs=0.002)
    assert left[0] / H.shape[1] == pytest.approx(1, rel=0.03)
    noise = data.V - W @ H
    assert np.cov(noise) == pytest.approx(np.eye(10), abs=0.03)
    assert [int(row.argmax()) for row in W] == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert "Signed" in data.description


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bars(n_samples=0),
            "number >= 1, got n_samples=0; the default is 2000",
        ),
        (lambda: bars(n_samples=2.5), "n_samples to be a whole number"),
        (lambda: bars(n_samples=True), "n_samples to be a whole number"),
        (lambda: bars(density=1.5), r"density to be .* <= 1, got density=1.5"),
        (lambda: bars(density=0), "density to be a finite number > 0"),
        (lambda: bars(density="much"), "density to be a finite number"),
        (lambda: bars(seed=-1), "seed to be a whole number >= 0, got seed=-1"),
        (
            lambda: swimmer(background=2, figure=1),
            "got background=2, figure=1; swap them",
        ),
        (lambda: swimmer(background=-1), "background to be a finite number >= 0"),
        (lambda: paatero(noise=float("nan")), "noise to be a finite number"),
        (lambda: synthetic_dictionary(active=(5, 500)), r"active\[1\] to be .* to 400"),
        (lambda: synthetic_dictionary(active=(7, 5)), r"active\[0\] to be .* to 5"),
        (lambda: synthetic_dictionary(active=5), "active to be a tuple"),
        (lambda: low_rank(rank=0), "rank to be a whole number"),
    ],
)
def test_wrong_parameters_are_refused_with_the_rule_and_the_value(call, message):
    with pytest.raises(InputError, match=message):
        call()
