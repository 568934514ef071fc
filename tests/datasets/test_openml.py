"""Downloads, with scikit-learn's fetchers replaced: what arrives, what is kept, what goes wrong."""

from __future__ import annotations

import io
import urllib.request
import zipfile
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets

from conicnmf.datasets import available, load, openml
from conicnmf.errors import InputError

USPS_TEST = (359, 264, 198, 166, 200, 160, 170, 147, 166, 177)


class Fetcher:
    """Stands in for a function of scikit-learn: answers, and counts its calls."""

    def __init__(self, answer):
        self.answer = answer
        self.calls = []

    def __call__(self, **options):
        self.calls.append(options)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def labels(*counts):
    """Digits in a shuffled order, the given number of each, one group after the other."""
    rng = np.random.default_rng(0)
    groups = [rng.permutation(np.repeat(np.arange(10), count)) for count in counts]
    return np.concatenate(groups)


@pytest.fixture
def usps(elsewhere, monkeypatch):
    digits = labels(openml._USPS_TRAIN, USPS_TEST)
    X = np.random.default_rng(1).integers(-1000, 1001, (9298, 256)) / 1000
    X[0, :2] = -1, 1
    fetcher = Fetcher((X, np.array([str(digit + 1) for digit in digits], dtype=object)))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetcher)
    return fetcher, X, digits


def test_usps_is_fetched_by_its_number_and_brought_to_the_classic_form(usps):
    fetcher, X, digits = usps
    data = load("usps")
    assert fetcher.calls[0]["data_id"] == 41082
    assert np.allclose(data.V, (X[:7291].T + 1) / 2, rtol=0, atol=1e-7)
    assert np.allclose(data.extra["V_test"], (X[7291:].T + 1) / 2, rtol=0, atol=1e-7)
    assert np.array_equal(data.target, digits[:7291])
    assert np.array_equal(data.extra["target_test"], digits[7291:])


def test_a_download_is_kept_and_not_repeated(usps, elsewhere):
    fetcher, _, _ = usps
    first = load("usps", n_samples=20, seed=1)
    kept = elsewhere / "cache" / "conicnmf" / "usps.npz"
    assert [path.name for path in kept.parent.iterdir()] == ["usps.npz"]
    assert str(kept) in {row.where for row in available()}
    again = load("usps", n_samples=20, seed=1)
    assert len(fetcher.calls) == 1
    assert np.array_equal(first.V, again.V)
    assert np.array_equal(first.target, again.target)


def test_a_download_in_another_order_is_refused(usps):
    fetcher, X, digits = usps
    fetcher.answer = (X, np.array([str(digit + 1) for digit in np.sort(digits)]))
    with pytest.raises(InputError, match="first 7291 samples are not the classic training half"):
        load("usps")


def test_a_cache_that_cannot_be_written_warns_and_still_returns_the_data(
    usps, elsewhere, monkeypatch
):
    (elsewhere / "blocked").write_text("a file where the cache folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "blocked"))
    with pytest.warns(RuntimeWarning, match="could not be saved in .*XDG_CACHE_HOME") as caught:
        data = load("usps", n_samples=5)
    assert data.V.shape == (256, 5)
    assert caught[0].filename == __file__


def test_a_write_that_fails_half_way_leaves_no_file(usps, elsewhere, monkeypatch):
    def fail(*args, **options):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.warns(RuntimeWarning, match="disk full"):
        load("usps", n_samples=5)
    assert list((elsewhere / "cache" / "conicnmf").iterdir()) == []


def test_mnist_is_fetched_by_its_number_with_the_training_half_first(elsewhere, monkeypatch):
    digits = labels(openml._MNIST_TRAIN, [1000] * 10)
    X = np.zeros((70000, 784), dtype=np.uint8)
    X[np.arange(70000), digits] = 255
    fetcher = Fetcher((X, digits.astype(str).astype(object)))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetcher)
    data = load("mnist", n_samples=50)
    assert fetcher.calls[0]["data_id"] == 554
    assert data.extra["V_test"].shape == (784, 10000)
    assert np.array_equal(data.V.argmax(axis=0), data.target)
    assert np.array_equal(data.extra["V_test"].argmax(axis=0), data.extra["target_test"])
    assert data.V.max() == 1
    assert np.array_equal(data.target, digits[data.extra["index"]])


def test_olivetti_recovers_the_gray_values_and_prints_nothing(elsewhere, monkeypatch, capsys):
    gray = np.random.default_rng(2).integers(0, 243, (400, 64, 64))
    gray[0, 0, :2] = 0, 242

    def fetch(**options):
        print("downloading Olivetti faces")
        assert str(elsewhere) not in options["data_home"]
        images = gray.astype(np.float32) / np.float32(242)
        return SimpleNamespace(images=images, target=np.arange(400) // 10)

    monkeypatch.setattr(sklearn.datasets, "fetch_olivetti_faces", fetch)
    data = load("olivetti")
    assert np.array_equal(data.V, gray.reshape(400, -1).T / 255.0)
    assert data.target.tolist() == [1 + i // 10 for i in range(400)]
    assert "glasses" not in data.extra
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("error", [URLError("no network"), ValueError("checksum"), TimeoutError()])
def test_a_failed_download_says_why_and_how_to_do_without(usps, error):
    usps[0].answer = error
    with pytest.raises(InputError, match="download from OpenML failed") as caught:
        load("usps")
    assert str(error) in str(caught.value)
    assert "usps needs the file usps.npz" in str(caught.value)
    assert "x_train (samples, 16, 16), values 0 to 1" in str(caught.value)
    assert caught.value.__cause__ is error


def ratings_file():
    """Return a zipped folder as GroupLens has it: two of three movies are rated, by two users."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as folder:
        folder.writestr(
            "small/movies.csv", 'movieId,title,genres\n7,Léon,A\n8,None,B\n30,"Z, 2",C\n'
        )
        folder.writestr(
            "small/ratings.csv", "userId,movieId,rating,timestamp\n5,30,2.5,1\n9,7,4,1\n9,30,1,1\n"
        )
        folder.writestr("small/README.txt", "terms")
    return content.getvalue()


def test_ratings_are_movies_by_users_with_rated_movies_only(elsewhere, monkeypatch):
    asked = []

    def answer(address, timeout):
        asked.append(address)
        return io.BytesIO(ratings_file())

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    data = load("movielens")
    assert data.feature_names.tolist() == ["Léon", "Z, 2"]
    assert data.V.toarray().tolist() == [[0, 4], [2.5, 1]]
    assert load("movielens", n_samples=1).V.shape == (2, 1)
    assert len(asked) == 1  # the second time it came from the cache
    assert asked[0].startswith("https://files.grouplens.org/")


def test_an_answer_that_is_no_archive_is_a_failed_download(elsewhere, monkeypatch):
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(b"sorry"))
    with pytest.raises(InputError, match=r"files\.grouplens\.org failed"):
        load("movielens")
