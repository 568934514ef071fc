"""A path is one solve a value, in order, each begun where the last one ended."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import ProjectiveNMF
from conicnmf.report import plot_path
from conicnmf.solve.methods import Sweep
from conicnmf.study import path

V = cn.datasets.low_rank(20, 15, 3, noise=0.05, seed=0).V


def at_least(s):
    return cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=s)])


def test_warm_solves_begin_where_the_last_one_ended():
    found = path(at_least, [0.3, 0.6, 0.8], cn.HALS(), stop=8)
    first = at_least(0.3).solve(cn.HALS(), stop=8)
    second = at_least(0.6).solve(cn.HALS(), stop=8, init=(first.W, first.H))
    third = at_least(0.8).solve(cn.HALS(), stop=8, init=(second.W, second.H))
    wanted = [first.objective, second.objective, third.objective]
    np.testing.assert_array_equal(found.table["objective"], wanted)
    np.testing.assert_array_equal(found.results[-1].W, third.W)


def test_weights_from_large_to_small_find_a_dictionary_that_the_small_one_alone_does_not():
    data = cn.datasets.synthetic_dictionary(20, 30, 300, 0.3, (2, 3), seed=1)
    start = cn.Given(W=np.abs(np.random.default_rng(1).standard_normal((20, 30))))

    def coded(weight):
        W, H = [cn.NonNegative(), cn.UnitNorm()], [cn.NonNegative(), cn.L1(weight)]
        return cn.factorize(data.V, 30, W=W, H=H)

    at_once = coded(0.01).solve(cn.HALS(), init=start, stop=120)
    steps = path(coded, np.geomspace(0.4, 0.01, 6), cn.HALS(), init=start, stop=20).results
    found = [cn.measures.dictionary_similarity(data.truth["W"], r.W) for r in (at_once, steps[-1])]
    assert steps[-1].objective < 0.98 * at_once.objective
    assert found[0] < 0.9 < 0.95 < found[1]


def test_cold_solves_begin_at_the_start_of_the_seed():
    found = path(at_least, [0.3, 0.8], cn.HALS(), seed=3, warm=False, stop=8)
    for value, result in zip(found.values, found.results, strict=True):
        alone = at_least(value).solve(cn.HALS(), seed=3, stop=8)
        assert result.objective == alone.objective


def test_every_model_keeps_its_bound_and_the_table_tells_the_sparseness():
    values = [0.3, 0.5, 0.7, 0.9]
    found = path(at_least, values, cn.HALS())
    for value, result, mean in zip(values, found.results, found.table["sparseness_W"], strict=True):
        sparse = cn.sparseness(result.W, axis=0)
        assert sparse.min() > value - 1e-6
        assert mean == pytest.approx(sparse.mean())
    assert found.table["relative_error"].iloc[-1] > found.table["relative_error"].iloc[0]


def test_a_warm_path_takes_fewer_iterations_than_a_cold_one():
    values = np.linspace(0.3, 0.8, 11)
    warm = path(at_least, values, cn.HALS()).table["iterations"].sum()
    cold = path(at_least, values, cn.HALS(), warm=False).table["iterations"].sum()
    assert warm < cold


@dataclass(frozen=True)
class BreaksAtAHighPrice(cn.HALS):
    """Leaves the range of numbers where the penalty on H is above one."""

    def sweep(self, problem, factors, memo):
        if problem.blocks[1].penalties[0].weight > 1:
            return Sweep({name: np.nan * X for name, X in factors.items()}, memo)
        return super().sweep(problem, factors, memo)


def test_a_failure_is_a_row_and_the_next_goes_on_from_before_it():
    def priced(weight):
        return cn.factorize(V, 3, H=[cn.NonNegative(), cn.L1(weight)])

    found = path(priced, [0.1, 2.0, 0.2], BreaksAtAHighPrice(), stop=5)
    assert found.table["status"].tolist() == ["MAX_ITER", "NOT_FINITE", "MAX_ITER"]
    before = found.results[0]
    after = priced(0.2).solve(cn.HALS(), init=(before.W, before.H), stop=5)
    assert found.results[2].objective == after.objective
    hollow = [line for line in plot_path(found).axes[0].get_lines() if line.get_mfc() == "none"]
    assert hollow[0].get_xdata().tolist() == [2.0]


def test_no_values_are_refused():
    with pytest.raises(cn.InputError, match="one number or more, got"):
        path(at_least, [])


def test_the_picture_shows_the_error_and_names_the_parameter():
    found = path(at_least, [0.3, 0.6], cn.HALS(), stop=5)
    top, bottom = plot_path(found, "sparseness").axes
    np.testing.assert_allclose(
        top.get_lines()[0].get_xydata(), found.table[["value", "relative_error"]]
    )
    assert bottom.get_xlabel() == "sparseness"


def test_problems_with_one_factor_have_paths_too():
    def at_least_projected(s):
        return ProjectiveNMF(V, 2, constraints=[cn.Sparseness(min=s)])

    found = path(at_least_projected, [0.3, 0.6], stop=20)
    assert found.table["violation"].max() < 1e-6
    assert "sparseness_H" not in found.table
    warm = at_least_projected(0.6).solve(init=found.results[0].factors, stop=20)
    assert found.results[1].objective == warm.objective
    (line,) = [line for line in plot_path(found).axes[1].get_lines() if line.get_label()[0] != "_"]
    assert line.get_label() == "columns of W"


_KILLED = """
import os, signal, sys
import numpy as np, conicnmf as cn
from conicnmf.solve import checkpoint
from conicnmf.study import path

checkpoint.EVERY = 0.0  # after every iteration
V = cn.datasets.low_rank(20, 15, 3, noise=0.05, seed=0).V

def at_least(s):
    return cn.factorize(V, 3, H=[cn.NonNegative(), cn.L1(s)])

def kill(iteration, factors):
    if os.path.exists(sys.argv[1] + "/value-0/result.npz") and iteration.iteration == 5:
        os.kill(os.getpid(), signal.SIGKILL)

path(at_least, [0.3, 0.6, 0.8], cn.Multiplicative(), stop=8, store=sys.argv[1], callback=kill)
"""


def test_a_killed_path_goes_on_and_ends_where_an_unbroken_one_does(tmp_path):
    done = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], check=False)
    assert done.returncode == -9
    assert (tmp_path / "value-1" / "running.npz").exists()

    def cheap(s):
        return cn.factorize(V, 3, H=[cn.NonNegative(), cn.L1(s)])

    seen = []
    how = {"stop": 8, "store": tmp_path, "callback": lambda it, _: seen.append(it.iteration)}
    again = path(cheap, [0.3, 0.6, 0.8], cn.Multiplicative(), **how)
    assert seen[0] == 5  # of the second value
    whole = path(cheap, [0.3, 0.6, 0.8], cn.Multiplicative(), stop=8)
    for one, other in zip(again.results, whole.results, strict=True):
        np.testing.assert_array_equal(one.W, other.W)
        assert one.objective == other.objective
        assert one.certificate().checks
    seen.clear()
    path(cheap, [0.3, 0.6, 0.8], cn.Multiplicative(), **how)
    assert not seen
    path(cheap, [0.3, 0.7, 0.8], cn.Multiplicative(), **how)
    assert len(seen) == 16  # from the value that is another one on


@pytest.mark.parametrize("name", ["result.npz", "running.npz"])
def test_a_damaged_file_of_a_path_is_made_again(tmp_path, name):
    first = path(at_least, [0.3, 0.6], cn.HALS(), stop=4, store=tmp_path)
    (tmp_path / "value-1" / name).write_bytes(b"PK damaged")
    if name == "running.npz":
        (tmp_path / "value-1" / "result.npz").unlink()
    again = path(at_least, [0.3, 0.6], cn.HALS(), stop=4, store=tmp_path)
    np.testing.assert_array_equal(again.table["objective"], first.table["objective"])
    assert not (tmp_path / "value-1" / "running.npz").exists()


def test_a_disk_that_fills_up_costs_no_solve_of_a_path(tmp_path, monkeypatch):
    replaced = os.replace

    def full(source, place):
        if "value-0" not in str(place):
            raise OSError(28, "No space left on device")
        replaced(source, place)

    monkeypatch.setattr(os, "replace", full)
    V = np.random.default_rng(0).random((6, 5))
    found = path(
        lambda w: cn.factorize(V, 2, H=[cn.L1(w)]), [0.1, 0.2, 0.3], stop=2, store=tmp_path
    )
    said = [any("The result was not stored" in r for r in one.remarks) for one in found.results]
    assert said == [False, True, True]


def test_a_store_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(cn.InputError, match="needs a folder that can be written to"):
        path(lambda w: 1 / 0, [0.1], store=tmp_path / "file")
