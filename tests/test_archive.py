"""Files come back as they were written, or are refused with the reason."""

from __future__ import annotations

import json
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.archive import Format, number, text
from conicnmf.archive import format as formats

NOTE = Format("note", "write it again")


def refuse(word):
    raise AssertionError(f"{word} is not JSON")


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 0.1, -0.0, 5e-324, np.float32(0.1), 3])
def test_numbers_come_back_exactly_and_the_text_is_json(tmp_path, value):
    written = NOTE.write(tmp_path / "n.npz", {"x": value})
    json.loads(written, parse_constant=refuse)
    again = number(NOTE.read(tmp_path / "n.npz").values["x"])
    assert np.array_equal(again, value, equal_nan=True)
    assert np.signbit(again) == np.signbit(value)


def test_words_that_look_like_numbers_stay_words(tmp_path):
    NOTE.write_text(tmp_path / "n.json", {"solver": "nan"})
    assert text(NOTE.read_text(tmp_path / "n.json")["solver"]) == "nan"


@pytest.mark.parametrize(
    "X", [np.eye(3, dtype=np.float32), np.asfortranarray(np.ones((2, 3))), np.array(["ä", ""])]
)
def test_arrays_come_back_bit_for_bit(tmp_path, X):
    NOTE.write(tmp_path / "n.npz", {}, {"deep/X": X})
    again = NOTE.read(tmp_path / "n.npz").arrays["deep/X"]
    assert (again.dtype, again.shape, again.tobytes()) == (X.dtype, X.shape, X.tobytes())


def test_nothing_is_pickled(tmp_path):
    with pytest.raises(ValueError, match="pickle"):
        NOTE.write(tmp_path / "n.npz", {}, {"X": np.array([{}])})
    assert not list(tmp_path.iterdir())


def test_equal_contents_give_equal_files(tmp_path):
    for name in "ab":
        NOTE.write(tmp_path / name, {"x": 1}, {"X": np.eye(2)})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "VERSION", 99)
    NOTE.write(tmp_path / "n.npz", {})
    monkeypatch.undo()
    with pytest.raises(cn.InputError, match=r"version 1 .* got 99; read it with the version"):
        NOTE.read(tmp_path / "n.npz")


def test_another_kind_of_file_is_refused(tmp_path):
    NOTE.write(tmp_path / "n.npz", {})
    with pytest.raises(cn.InputError, match=r"must be a result, got .* .conicnmf note"):
        cn.load(tmp_path / "n.npz")
    np.savez(tmp_path / "plain.npz", X=np.eye(2))
    with pytest.raises(cn.InputError, match=r"a note must be intact, got .*; write it again"):
        NOTE.read(tmp_path / "plain.npz")
    with pytest.raises(cn.InputError, match="is missing; check the path"):
        NOTE.read(tmp_path / "nowhere.npz")
    with pytest.raises(cn.InputError, match="write it again"):
        NOTE.read(tmp_path)


def test_an_array_of_another_file_is_noticed(tmp_path):
    for name, value in (("a", 1.0), ("b", 2.0)):
        NOTE.write(tmp_path / f"{name}.npz", {}, {"X": np.full(3, value)})
    with (
        zipfile.ZipFile(tmp_path / "a.npz") as a,
        zipfile.ZipFile(tmp_path / "b.npz") as b,
        zipfile.ZipFile(tmp_path / "c.npz", "w") as c,
    ):
        c.writestr("X.npy", b.read("X.npy"))
        c.writestr("record.json", a.read("record.json"))
    with pytest.raises(cn.InputError, match="array 'X' does not have the checksum"):
        NOTE.read(tmp_path / "c.npz")


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(cn.InputError, match=r"a folder that can be written to, got .*name another"):
        NOTE.write(tmp_path / "file" / "n.npz", {})


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    NOTE.write(tmp_path / "n.npz", {"x": 1})
    with pytest.raises(TypeError):
        NOTE.write(tmp_path / "n.npz", {"x": object()})
    assert NOTE.read(tmp_path / "n.npz").values["x"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["n.npz"]


def test_many_writers_of_one_file_leave_a_whole_one(tmp_path):
    def write(k):
        NOTE.write(tmp_path / "n.npz", {"k": k}, {"X": np.full((50, 50), float(k))})
        record = NOTE.read(tmp_path / "n.npz")
        return bool((record.arrays["X"] == record.values["k"]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(40)))
    assert [file.name for file in tmp_path.iterdir()] == ["n.npz"]
