"""Data that are read in strips of columns give the answer of data in memory."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(3)
V = RNG.random((12, 4)) @ RNG.random((4, 57)) + 0.1 * RNG.random((12, 57))
START = RNG.random((12, 4)) + 0.1, RNG.random((4, 57)) + 0.1
FEW = "20KB"
NONNEG = cn.NonNegative()

MODELS = {
    "plain": ({}, None),
    "band on W": ({"W": [NONNEG, cn.Sparseness(min=0.6)]}, "HALS"),
    "tangent planes on W": ({"W": [NONNEG, cn.Sparseness(min=0.6)]}, "TangentPlane"),
    "fixed entries of W": ({"W": [NONNEG, cn.Fixed(RNG.random((12, 4)) < 0.3, 0.5)]}, None),
    "total variation on W": ({"W": [NONNEG, cn.TotalVariation(0.1)]}, None),
    "simplex of each sample": ({"H": [NONNEG, cn.Simplex(each="sample")]}, None),
    "L1 and unit norm": ({"W": [NONNEG, cn.UnitNorm()], "H": [NONNEG, cn.L1(0.1)]}, "HALS"),
    "signed": ({"W": [], "H": []}, "ANLS"),
    "counts": ({"loss": "kl"}, "Multiplicative"),
}


@pytest.mark.parametrize("model", MODELS)
def test_strips_give_the_answer_of_one_array(model):
    stated, solver = MODELS[model]
    whole = cn.factorize(V, 4, **stated).solve(solver, init=START, stop=12)
    strips = cn.factorize(V, 4, memory_limit=FEW, **stated).solve(solver, init=START, stop=12)
    assert strips.objective == pytest.approx(whole.objective, rel=1e-10)
    np.testing.assert_allclose(strips.W, whole.W, atol=1e-8)
    np.testing.assert_allclose(strips.H, whole.H, atol=1e-8)
    np.testing.assert_allclose(strips.history.objective, whole.history.objective, rtol=1e-9)
    assert strips.relative_error == pytest.approx(whole.relative_error, rel=1e-10)


def test_a_users_constraint_on_w_holds():
    sums = cn.Convex(lambda B: [cp.sum(B, axis=0) <= 3.0])
    result = cn.factorize(V, 3, W=[NONNEG, sums], memory_limit=FEW).solve(stop=3)
    assert result.W.sum(axis=0).max() <= 3 + 1e-6


def stored(folder, kind, data=V):
    """Write data to a kind of file, and return where."""
    if kind == "folder":
        (folder / "parts").mkdir()
        for k, part in enumerate(np.array_split(data, 3, axis=1)):
            np.save(folder / "parts" / f"{k}.npy", part)
        return folder / "parts"
    if kind == "zarr":
        import zarr

        made = zarr.create_array(folder / "V.zarr", shape=V.shape, dtype=V.dtype, chunks=(12, 10))
        made[:] = data
        return folder / "V.zarr"
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({f"f{i}": row for i, row in enumerate(data)})
        pq.write_table(table, folder / "V.parquet", row_group_size=10)
        return folder / "V.parquet"
    np.save(folder / "V.npy", data)
    return folder / "V.npy"


@pytest.mark.parametrize("kind", ["mapped", "npy", "folder", "zarr", "parquet", "float32"])
def test_every_store_is_read(kind, tmp_path):
    data = V.astype(np.float32) if kind == "float32" else V
    path = stored(tmp_path, kind, data)
    given = np.load(path, mmap_mode="r") if kind in ("mapped", "float32") else path
    result = cn.factorize(given, 4, memory_limit=FEW).solve("HALS", init=START, stop=5)
    whole = cn.factorize(data, 4).solve("HALS", init=START, stop=5)
    assert result.problem.V.crew.reader.count > 2
    assert result.H.dtype == data.dtype
    np.testing.assert_allclose(result.H, whole.H, atol=1e-10 if data.dtype == float else 1e-4)


def test_h_that_does_not_fit_is_on_disk_and_goes_with_the_result(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = cn.factorize(V, 4, memory_limit="2KB").solve("HALS", init=START, stop=5)
    whole = cn.factorize(V, 4).solve("HALS", init=START, stop=5)
    assert isinstance(result.H, np.memmap)
    np.testing.assert_allclose(result.H, whole.H, atol=1e-10)
    assert len(list(tmp_path.iterdir())) == 1
    del result, whole
    assert not list(tmp_path.iterdir())


def test_a_solve_goes_on_from_its_checkpoint(tmp_path):
    problem = cn.factorize(V, 4, memory_limit=FEW)
    first = problem.solve("ANLS", stop=5, checkpoint=tmp_path / "c")
    on = problem.solve("ANLS", stop=10, checkpoint=tmp_path / "c")
    assert on.n_iter == 10
    assert on.history.objective[5] == pytest.approx(first.objective, rel=1e-12)
    assert on.objective < first.objective


def test_a_result_can_be_measured_again_and_saved(tmp_path):
    problem = cn.factorize(V, 3, memory_limit=FEW)
    result = problem.solve()
    error = np.sum((V - result.W @ result.H) ** 2)
    assert problem.objective(result.factors) == pytest.approx(error, rel=1e-10)
    assert result.relative_error == pytest.approx(error / np.sum(V**2), rel=1e-10)
    loaded = cn.load(result.save(tmp_path / "r"))
    np.testing.assert_array_equal(loaded.H, result.H)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"loss": cn.Frobenius(cap=1.0)}, "does not work on data in strips"),
        ({"offset": "feature"}, "can only be factorized as V ≈ W H"),
        ({"memory_limit": "much"}, 'try "2GB"'),
    ],
)
def test_what_strips_cannot_do_is_said(given, said):
    with pytest.raises(cn.InputError, match=said):
        cn.factorize(V, 4, **({"memory_limit": FEW} | given))


def test_bad_data_are_refused(tmp_path):
    with pytest.raises(cn.InputError, match="must be finite"):
        cn.factorize(np.where(V > 2, np.nan, V), 4, memory_limit=FEW)
    with pytest.raises(cn.InputError, match="does not exist"):
        cn.factorize(tmp_path / "no.npy", 4)
    with pytest.raises(cn.InputError, match="needs all of V"):
        cn.factorize(V, 4, memory_limit=FEW).solve(init="NNDSVD")


@pytest.mark.parametrize("kind", ["npy", "folder", "zarr", "parquet"])
@pytest.mark.parametrize("damage", ["cut off", "zeros"])
def test_damaged_files_are_refused_in_words(kind, damage, tmp_path):
    path = stored(tmp_path, kind)
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    for file in files:
        content = file.read_bytes()
        file.write_bytes(
            content[: len(content) // 3] if damage == "cut off" else bytes(len(content))
        )
    with pytest.raises(cn.InputError, match=r"V cannot be read from .*; check how it was written"):
        cn.factorize(path, 4, memory_limit=FEW)


def test_only_real_numbers_are_taken():
    with pytest.raises(cn.InputError, match="must hold real numbers, got dtype complex128"):
        cn.factorize(V + 1j, 4, memory_limit=FEW)
