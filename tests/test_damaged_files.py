"""Files with changed bytes are refused with a remedy, or read as they were: never anything else."""

from __future__ import annotations

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.datasets.local import DATA

V = np.random.default_rng(0).random((5, 4))
VARIANTS = 90


def problem():
    return cn.factorize(V, 2)


def damages(content, rng):
    """Yield many ways in which a file comes back other than it was written."""
    size = len(content)
    yield b""
    yield b"\x00" * size
    yield rng.bytes(size)
    yield content + rng.bytes(30)
    yield rng.bytes(7) + content
    for k in range(VARIANTS - 5):
        begin = int(rng.integers(size))
        end = min(size, begin + int(rng.integers(1, 40)))
        bit = bytes([content[begin] ^ (1 << int(rng.integers(8)))])
        yield (
            content[:begin] + bit + content[begin + 1 :],
            content[:begin] + rng.bytes(1) + content[begin + 1 :],
            content[:begin],
            content[:begin] + content[end:],
            content[:begin] + bytes(end - begin) + content[end:],
            content[:begin] + content[begin:end] + content[begin:],
        )[k % 6]


def told(result):
    return (
        {name: (X.dtype.str, X.shape, X.tobytes()) for name, X in result.factors.items()},
        repr(result),
        result.digest,
        [repr(line) for line in result.history.iterations],
    )


class SavedResult:
    """`Result.save` and `load`; the text beside it is for people."""

    ending = ".npz"

    def __init__(self, folder):
        problem().solve("HALS", stop=3).save(folder / "result")
        self.folder, self.file = folder, folder / f"result{self.ending}"

    def read(self):
        return told(cn.load(self.folder / "result"))


class TextOfResult(SavedResult):
    """The text of a result, which nothing is read from."""

    ending = ".json"


class Checkpoint:
    """The checkpoint of a solve."""

    def __init__(self, folder):
        self.file = folder / "run.npz"
        self.read()

    def read(self):
        result = problem().solve("HALS", stop=3, checkpoint=self.file)
        return result.W.tobytes(), result.objective, result.n_iter


class DataOfNumPy:
    """A stored data set as a user has made it."""

    def __init__(self, folder):
        self.file = folder / "yale_32x32.npz"
        x = np.random.default_rng(1).integers(0, 255, (3, 32, 32)).astype(np.uint8)
        self.write({"x": x, "subject": np.arange(3)})

    def write(self, arrays):
        np.savez_compressed(self.file, **arrays)

    def read(self):
        data = cn.datasets.load("yale")
        return data.V.tobytes(), data.V.shape, data.target.tobytes()


class DataInCache(DataOfNumPy):
    """A stored data set as a download leaves it."""

    def write(self, arrays):
        DATA.write(self.file, {"name": "yale"}, arrays)


KINDS = [SavedResult, TextOfResult, Checkpoint, DataOfNumPy, DataInCache]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_change_of_bytes_gives_another_answer_or_another_error(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("CONICNMF_DATA", str(tmp_path))
    made = kind(tmp_path)
    wanted, content = made.read(), made.file.read_bytes()
    refusals = []
    for changed in damages(content, np.random.default_rng(7)):
        made.file.write_bytes(changed)
        try:
            assert made.read() == wanted
        except cn.InputError as error:
            refusals.append(str(error))
    assert all(made.file.name in refusal for refusal in refusals)
    assert (len(refusals) > VARIANTS / 2) == (kind is not TextOfResult)
    made.file.write_bytes(content)
    assert made.read() == wanted


def compared(folder):
    return cn.compare(problem(), ["HALS"], [0, 1], stop=2, store=folder)


def numbers(comparison):
    return comparison.table.drop(columns="seconds").to_dict("list")


@pytest.mark.parametrize("name", ["runs/*.npz", "comparison.json"])
def test_a_damaged_store_never_blocks_a_comparison(name, tmp_path):
    wanted = numbers(compared(tmp_path))
    file = sorted(tmp_path.glob(name))[0]
    content = file.read_bytes()
    for changed in damages(content, np.random.default_rng(8)):
        file.write_bytes(changed)
        harmless = is_whole(tmp_path, wanted)
        again = compared(tmp_path)
        assert numbers(again) == wanted
        assert bool(again.remarks) != harmless
        assert not compared(tmp_path).remarks


def is_whole(folder, wanted):
    """Whether a stored comparison is loaded without a remark; what is loaded must be right."""
    try:
        loaded = cn.Comparison.load(folder)
    except cn.InputError as error:
        return "runs that are not damaged are kept" not in str(error)
    assert numbers(loaded) == wanted
    return not loaded.remarks


def test_runs_that_changed_places_are_noticed_and_made_again(tmp_path):
    before = compared(tmp_path)
    first, second = sorted((tmp_path / "runs").glob("*.npz"))
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    loaded = cn.Comparison.load(tmp_path)
    assert not loaded.results
    assert "its run is HALS on problem, seed 1, not HALS on problem, seed 0" in loaded.remarks[0]
    again = compared(tmp_path)
    assert len(again.remarks) == 2
    assert all("is repeated" in remark for remark in again.remarks)
    for task, result in before.results.items():
        np.testing.assert_array_equal(again.results[task].W, result.W)


def test_a_run_of_another_problem_is_noticed_even_without_the_list_of_runs(tmp_path):
    compared(tmp_path / "a")
    other = cn.compare(cn.factorize(V + 1, 2), ["HALS"], [0, 1], stop=2, store=tmp_path / "b")
    for file in (tmp_path / "a" / "runs").iterdir():
        (tmp_path / "b" / "runs" / file.name).write_bytes(file.read_bytes())
    (tmp_path / "b" / "comparison.json").unlink()
    again = cn.compare(cn.factorize(V + 1, 2), ["HALS"], [0, 1], stop=2, store=tmp_path / "b")
    assert numbers(again) == numbers(other)
    assert all("its data V is another one" in remark for remark in again.remarks)


def test_a_full_disk_does_not_cost_the_runs(tmp_path, monkeypatch):
    wanted = numbers(compared(tmp_path / "whole"))

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    found = compared(tmp_path / "full")
    assert found.table["reason"].str.contains("not stored: .*No space left").all()
    assert numbers(found)["objective"] == wanted["objective"]
    assert len(found.results) == 2
