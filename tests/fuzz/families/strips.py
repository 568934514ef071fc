"""Data that are read in strips of columns: the same answer as in memory, from every kind of file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import conicnmf as cn

from ..draw.methods import Method
from ..draw.numbers import chance, pick
from ..judge.checked import run_checks
from ..judge.findings import Finding
from ..judge.results import judge
from . import problems
from .problem_case import ProblemCase

STORES = {
    "array": 3,
    "mapped": 2,
    "npy": 3,
    "folder": 2,
    "zarr": 1,
    "parquet": 1,
    "dask": 1,
}
WRONG = {"cut off": 1, "other bytes": 1, "NaN": 1, "complex": 1, "a vector": 1, "no file": 1}
SOLVERS = {"None": 4, "HALS": 2, "ANLS": 2, "Multiplicative": 2, "TangentPlane": 1}
LIMITS = {"'2KB'": 1, "20000": 1, "'1 MB'": 1}
STOP = 4


@dataclass(frozen=True, eq=False)
class StripsCase:
    """A problem whose data stand in a file, and how much memory there is."""

    id: str
    store: str
    inner: ProblemCase
    solver: str
    limit: str
    wrong: str
    start: dict[str, np.ndarray]

    @property
    def text(self):
        wrong = f", {self.wrong}" if self.wrong else ""
        stated = self.inner.text.split("  ", 1)[1]
        return f"{self.id}  {self.store}{wrong}, {self.limit}, {self.solver}, of {stated}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_checks(self, warned=("length one", "melts away"))

    @property
    def refused(self):
        return bool(self.wrong)

    def inputs(self):
        return [*self.inner.inputs(), *self.start.values()]

    def check(self):
        """Solve in strips, and yield what is wrong with the result."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem = self._problem(self._source(Path(folder)), eval(self.limit))
                found = problem.solve(self._solver, init=self.start, stop=STOP, throw=False)
                X = {name: np.array(own) for name, own in found.factors.items()}
            except (cn.IncompatibleError, cn.InfeasibleError):
                return
            except cn.InputError as error:
                if self.wrong or "strips" not in str(error):
                    raise
                return  # what strips do not take
            yield from judge(self.inner, found, X)
            yield from self._agrees(found, X)

    @property
    def _solver(self):
        return None if self.solver == "None" else self.solver

    def _problem(self, source, limit):
        stated = self.inner.stated_terms()
        return cn.factorize(source, self.inner.shape.rank, memory_limit=limit, **stated)

    def _agrees(self, found, X):
        """How wide the strips are does not matter to methods that go column by column."""
        if not found.solver.startswith(("HALS", "ANLS", "Multiplicative")):
            return
        problem = self._problem(self._numbers(), 10**6)
        other = problem.solve(self._solver, init=self.start, stop=STOP, throw=False)
        relative, rounding = (1e-3, 1e-6) if self.inner.single else (1e-6, 1e-12)
        allowed = relative * abs(found.objective) + rounding * self.inner.size(X)
        if not abs(found.objective - other.objective) <= allowed:
            one, two = (f"{own.objective:.9g} {own.status.name}" for own in (found, other))
            yield Finding("doors", f"{one}, in one strip {two}")

    def _source(self, folder):
        V = _spoiled(self.wrong, self._numbers())
        if self.store == "array":
            return V
        path = _written(folder, self.store, V)
        if self.wrong in ("cut off", "other bytes"):
            _damage(path, self.wrong)
        if self.wrong == "no file":
            return folder / "other.npy"
        if self.store == "dask":
            import dask.array as da

            return da.from_array(V, chunks=(len(V), 3))
        return np.load(path, mmap_mode="r") if self.store == "mapped" else path

    def _numbers(self):
        data = self.inner.data["V"]
        return data.dense.astype(np.float32) if data.single else data.dense


def _spoiled(wrong, V):
    if wrong == "NaN":
        return np.where(np.arange(V.size).reshape(V.shape) == V.size // 2, np.nan, V)
    return V + 1j if wrong == "complex" else V.ravel() if wrong == "a vector" else V


def _written(folder, store, V):
    """Write a matrix, and return where."""
    if store == "folder":
        for k, part in enumerate(np.array_split(V, min(3, V.shape[-1]), axis=-1)):
            np.save(folder / f"{k}.npy", part)
        return folder
    if store == "zarr":
        import zarr

        made = zarr.create_array(folder / "V.zarr", shape=V.shape, dtype=V.dtype)
        made[:] = V
        return folder / "V.zarr"
    if store == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({f"f{i}": row for i, row in enumerate(V)})
        pq.write_table(table, folder / "V.parquet", row_group_size=3)
        return folder / "V.parquet"
    np.save(folder / "V.npy", V)
    return folder / "V.npy"


def _damage(path, wrong):
    """Change a file, or one of a folder."""
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    content = files[0].read_bytes()
    spoiled = content[: len(content) // 3] if wrong == "cut off" else bytes(len(content))
    files[0].write_bytes(spoiled)


def draw(rng, name, shift=0):
    """Draw a problem of two factors, and where its data stand."""
    while True:
        inner = problems.draw(rng, name)
        loss = inner.losses["V"] if inner.shape.is_two else None
        if loss is None or inner.refused or not inner.feasible or loss.term is None:
            continue
        if loss.text.startswith(("Frobenius", "KullbackLeibler")) or chance(rng, 0.1):
            break
    inner = replace(inner, method=Method("None", stop=str(STOP)), doors=("terms",))
    store = pick(rng, STORES)
    wrong = pick(rng, WRONG) if chance(rng, 0.12) else ""
    if wrong in ("complex", "a vector") and store in ("parquet", "folder", "dask"):
        wrong = "NaN"
    if wrong in ("cut off", "other bytes", "no file") and store in ("array", "dask", "mapped"):
        store = "npy"
    unit = {own: np.abs(X).max() or 1.0 for own, X in inner.point.items()}
    start = {own: unit[own] * (rng.random(X.shape) + 0.1) for own, X in inner.point.items()}
    solver, limit = pick(rng, SOLVERS), pick(rng, LIMITS)
    return StripsCase(name, store, inner, solver, limit, wrong, start)
