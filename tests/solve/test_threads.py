"""The number of threads is a setting of a solve, and does not change its answer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.estimators import Factorizer, SparseNMF
from conicnmf.kernels import threads as module

RNG = np.random.default_rng(12)
V = RNG.poisson(3.0, (14, 40)).astype(float)
MASK = RNG.random(V.shape) < 0.7
SUMS = [cn.Simplex(each="sample")]

MODELS = {
    "sweeps": (cn.HALS(), {}),
    "columns": (cn.ANLS(), {}),
    "masks": (cn.ANLS(), {"loss": cn.WeightedFrobenius(MASK)}),
    "sums": (cn.ANLS(), {"H": SUMS}),
    "counts": (cn.CyclicNewton(), {"loss": "kl"}),
    "sparse counts": (cn.CyclicNewton(), {"loss": "kl", "data": sp.csr_array(V)}),
    "robust": (None, {"loss": "huber"}),
}


@pytest.fixture
def asked(monkeypatch):
    """Split any work, and note for how many threads a pool was made."""
    monkeypatch.setattr(module, "_WORTH_THREADS", 0.0)
    counts, pool = [], module.ThreadPoolExecutor

    def noted(count):
        counts.append(count)
        return pool(count)

    monkeypatch.setattr(module, "ThreadPoolExecutor", noted)
    return counts


@pytest.mark.parametrize("name", list(MODELS))
def test_threads_are_used_and_do_not_change_a_bit(name, asked):
    solver, model = MODELS[name]
    model = dict(model)
    problem = cn.factorize(model.pop("data", V), 3, **model)
    one = problem.solve(solver, stop=8, n_threads=1)
    assert not asked
    two = problem.solve(solver, stop=8, n_threads=2)
    assert set(asked) == {2}
    np.testing.assert_array_equal(one.W, two.W)
    np.testing.assert_array_equal(one.H, two.H)
    np.testing.assert_array_equal(one.history.objective, two.history.objective)


def test_estimators_take_them_for_fits_and_for_codes(asked):
    one, two = (Factorizer(3, H=SUMS, n_threads=n).fit(V.T) for n in (1, 2))
    assert set(asked) == {2}
    np.testing.assert_array_equal(one.components_, two.components_)
    asked.clear()
    np.testing.assert_array_equal(one.transform(V.T), two.transform(V.T))
    assert set(asked) == {2}


def test_what_is_asked_for_holds_for_one_solve_only(asked, monkeypatch):
    monkeypatch.setattr(module, "_default", lambda: 1)
    cn.factorize(V, 3).solve(stop=2, n_threads=3)
    asked.clear()
    cn.factorize(V, 3).solve(stop=2)
    assert not asked


def test_a_number_below_one_is_refused():
    with pytest.raises(cn.InputError, match="n_threads"):
        cn.factorize(V, 3).solve(n_threads=0)
    with pytest.raises(cn.InputError, match="threads"):
        cn.factorize(V, 3).solve(threads=2)
    with pytest.raises(ValueError, match="n_threads"):
        SparseNMF(2, n_threads=0).fit(V.T)
