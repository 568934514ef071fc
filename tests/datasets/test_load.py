"""One function for every data set: names, options, where things come from, and what errors say."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import conicnmf
from conicnmf.datasets import DATASETS, Dataset, available, load, names
from conicnmf.datasets.catalog import STORED
from conicnmf.errors import InputError

LOCAL = [
    *("usps", "mnist", "cbcl_faces", "olivetti", "yale", "natural_images"),
    *("reuters21578", "reuters_395", "newsgroups_w100", "tdt2"),
    *("all_aml", "piano", "jasper_ridge", "movielens"),
]


def test_every_name_is_listed_once_and_in_the_same_order_by_available():
    assert len(set(names())) == len(names())
    assert [row.name for row in available()] == names()
    assert list(STORED) == LOCAL


def test_generated_and_bundled_sets_have_the_shape_that_available_announces():
    for name, shape, where in available():
        if where in ("generated", "bundled"):
            rows, columns = load(name).V.shape
            assert shape == f"{rows} × {columns}", name


def test_the_digits_of_scikit_learn_lie_between_0_and_1():
    data = load("digits")
    assert (data.V.min(), data.V.max()) == (0, 1)
    assert data.image_shape == (8, 8)
    assert np.bincount(data.target).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    part = load("digits", n_samples=30, seed=2)
    assert np.array_equal(part.V, data.V[:, part.extra["index"]])
    assert np.array_equal(part.target, data.target[part.extra["index"]])


def test_an_unknown_name_is_answered_with_close_names_and_all_names():
    with pytest.raises(InputError, match="'olivetty'; did you mean olivetti") as caught:
        load("olivetty")
    assert all(name in str(caught.value) for name in names())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bars", r"load\('bars'\) takes the options n_samples, density, seed; got color"),
        ("digits", "takes the options n_samples, seed; got color"),
        ("usps", "takes the options n_samples, seed; got color"),
        ("natural_images", "takes the options n_samples, seed, patch, on_off; got color"),
    ],
)
def test_an_unknown_option_is_answered_with_the_known_ones(name, message):
    with pytest.raises(InputError, match=message):
        load(name, color=1)


def test_a_missing_set_says_which_file_with_which_arrays_goes_into_which_folder(elsewhere):
    with pytest.raises(InputError) as caught:
        load("jasper_ridge")
    message = str(caught.value)
    assert str(elsewhere / "cache/conicnmf") in message
    assert "shared" not in message
    assert "jasper_ridge.npz" in message
    assert "CONICNMF_DATA" in message
    assert "cube (bands, rows, columns), abundance (materials, rows, columns)" in message


def test_available_says_what_is_missing_and_what_can_be_downloaded(elsewhere):
    where = {row.name: row.where for row in available()}
    assert where["usps"] == where["mnist"] == "OpenML"
    assert "download" in where["olivetti"]
    downloads = {"usps", "mnist", "olivetti", "movielens"}
    assert {name for name in LOCAL if where[name] == "missing"} == set(LOCAL) - downloads


@pytest.mark.parametrize("path", ["nowhere", "a file"])
def test_a_variable_that_names_no_folder_is_an_error(elsewhere, monkeypatch, path):
    (elsewhere / "a file").write_text("")
    monkeypatch.setenv("CONICNMF_DATA", str(elsewhere / path))
    for call in (available, lambda: load("yale")):
        with pytest.raises(InputError, match=f"CONICNMF_DATA must name an existing .*{path}"):
            call()


def test_generated_data_need_no_folder(elsewhere, monkeypatch):
    monkeypatch.setenv("CONICNMF_DATA", str(elsewhere / "nowhere"))
    assert load("bars", n_samples=5).V.shape == (9, 5)


def test_folders_are_searched_in_the_documented_order(elsewhere, monkeypatch):
    places = ["named", "cache/conicnmf"]
    for subject, place in enumerate(places):
        folder = elsewhere / place
        folder.mkdir(parents=True)
        x = np.zeros((1, 32, 32), dtype=np.uint8)
        np.savez(folder / "yale_32x32.npz", x=x, subject=np.array([subject]))
    monkeypatch.setenv("CONICNMF_DATA", str(elsewhere / "named"))
    for subject, place in enumerate(places):
        path = elsewhere / place / "yale_32x32.npz"
        assert load("yale").target[0] == subject
        assert str(path) in {row.where for row in available()}
        path.unlink()  # the next folder's turn
    with pytest.raises(InputError, match=r"yale needs the file yale_32x32\.npz"):
        load("yale")


def test_importing_the_package_reads_no_data_and_imports_no_scikit_learn():
    # The parent package is replaced by an empty one, so that only this layer's imports count.
    code = f"""
        import sys, types
        opened = []
        sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else 0)
        parent = types.ModuleType("conicnmf")
        parent.__path__ = {list(conicnmf.__path__)!r}
        sys.modules["conicnmf"] = parent
        import conicnmf.datasets as datasets
        datasets.available()
        assert not [path for path in opened if path.endswith(".npz")]
        ours = {{name.split(".")[1] for name in sys.modules if name.startswith("conicnmf.")}}
        assert ours == {{"archive", "datasets", "errors", "incoming", "registry", "settings", "types"}}
        assert "sklearn" not in sys.modules
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"V": np.ones(3)}, "V to be features × samples"),
        ({"target": np.zeros(3)}, r"target of 'tiny' must have shape \(4,\)"),
        ({"sample_names": np.zeros(6)}, r"sample_names of 'tiny' must have shape \(4,\)"),
        ({"feature_names": np.zeros(4)}, r"feature_names of 'tiny' must have shape \(6,\)"),
        ({"image_shape": (2, 2)}, r"have V's 6 pixels, got image_shape=\(2, 2\)"),
    ],
)
def test_a_dataset_whose_parts_do_not_fit_is_refused(fields, message):
    with pytest.raises(InputError, match=message):
        Dataset(**({"name": "tiny", "V": np.ones((6, 4))} | fields))


def test_another_package_adds_a_set_by_its_function(monkeypatch):
    known = dict(DATASETS._known)
    monkeypatch.setattr(DATASETS, "_known", known)

    def waves(n_samples: int = 3) -> Dataset:
        return Dataset("waves", np.ones((2, n_samples)))

    DATASETS.add("waves", waves)
    assert names()[-1] == "waves"
    assert available()[-1] == ("waves", "–", f"the package {__name__.partition('.')[0]}")
    assert load("waves", n_samples=5).V.shape == (2, 5)
    with pytest.raises(InputError, match=r"takes the options n_samples; got color"):
        load("waves", color=1)
    DATASETS.add("no set", lambda: 3)
    with pytest.raises(InputError, match=r"must return a conicnmf\.datasets\.Dataset, got int"):
        load("no set")


def test_a_name_is_a_text_in_any_case():
    assert load("Low-Rank", m=3, n=2, rank=1).V.shape == (3, 2)
    with pytest.raises(InputError, match="the name of a data set is a string, got 3"):
        load(3)
