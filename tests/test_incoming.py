"""What comes from other packages is looked at before compiled code walks through it."""

from __future__ import annotations

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.families import one_factor

FORMATS = ("csr", "csc", "bsr", "coo", "lil", "dok", "dia")


def sound(kind, matrix=False, shape=(6, 6)):
    S = sp.random_array(shape, density=0.4, rng=np.random.default_rng(0))
    S = sp.coo_array(S + S.T) if shape[0] == shape[1] else S
    made = (sp.coo_matrix(S) if matrix else S).asformat(kind)
    return made.tobsr((2, 3)) if kind == "bsr" else made


def put(name, place, value):
    def spoil(S):
        getattr(S, name)[place] = value

    return spoil


def replaced(name, change):
    def spoil(S):
        setattr(S, name, change(getattr(S, name)))

    return spoil


def coordinate(axis, value):
    def spoil(S):
        S.coords[axis][1] = value

    return spoil


def long_row(S):
    S.data[0] = [*S.data[0], *[1.0] * 1000]


def far_row(S):
    S.rows[0], S.data[0] = [9999], [1.0]


def out_of_place(key):
    def spoil(S):
        S._dict[key] = 1.0

    return spoil


COMPRESSED = {
    "index too large": put("indices", 0, 10**6),
    "index negative": put("indices", 1, -1),
    "pointer falls": put("indptr", 2, 10**5),
    "pointer negative": put("indptr", 1, -3),
    "pointer begins late": put("indptr", 0, 1),
    "pointer too short": replaced("indptr", lambda p: p[:-1]),
    "pointer ends late": put("indptr", -1, 10**6),
    "values too few": replaced("data", lambda d: d[:-2]),
    "indices too few": replaced("indices", lambda i: i[:-2]),
    "indices of floats": replaced("indices", lambda i: i + 0.5),
}
SPOILS = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED | {"blocks that do not fit": replaced("data", lambda d: d[:, :1, :2])},
    "coo": {
        "row too large": coordinate(0, 10**6),
        "row negative": coordinate(0, -1),
        "column too large": coordinate(1, 6),
        "values too few": replaced("data", lambda d: d[:-2]),
    },
    "lil": {"values too many": long_row, "column too large": far_row},
    "dok": {
        "row too large": out_of_place((10**6, 0)),
        "column negative": out_of_place((0, -1)),
        "no pair": out_of_place((0,)),
    },
    "dia": {
        "offsets too few": replaced("offsets", lambda o: o[:-1]),
        "offset twice": put("offsets", 1, 0),
        "values of one dimension": replaced("data", lambda d: d[0]),
    },
}
CASES = [(kind, name) for kind, spoils in SPOILS.items() for name in spoils]


@pytest.mark.parametrize("matrix", [False, True], ids=["array", "matrix"])
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_sparse_matrix_that_does_not_hold_together_is_refused(kind, name, matrix):
    S = sound(kind, matrix)
    SPOILS[kind][name](S)
    with pytest.raises(cn.InputError, match=f"V must be a valid {kind} matrix, got .*; build it"):
        cn.factorize(S, 2)


@pytest.mark.parametrize("matrix", [False, True], ids=["array", "matrix"])
@pytest.mark.parametrize("kind", FORMATS)
def test_sound_ones_of_every_format_are_the_same_problem_and_stay_as_they_are(kind, matrix):
    S, plain = sound(kind, matrix), sound("csr")
    before = S.copy().toarray()
    assert cn.factorize(S, 2).digest == cn.factorize(plain, 2).digest
    assert S.format == kind
    np.testing.assert_array_equal(S.toarray(), before)


def test_entries_beyond_the_last_pointer_do_not_count():
    S = sp.csr_array(np.eye(3))
    S.data, S.indices = np.append(S.data, np.nan), np.append(S.indices, 99)
    np.testing.assert_array_equal(cn.factorize(S, 1).V.toarray(), np.eye(3))
    assert len(S.data) == 4


def test_flags_that_promise_too_much_are_not_believed():
    S = sp.csr_array((np.ones(3), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    S.has_canonical_format = True
    assert cn.factorize(S, 1).V.nnz == 2
    assert S.nnz == 3


def far(S=None):
    S = sound("csr") if S is None else S
    S.indices[0] = 10**7
    return S


DOORS = {
    "weights": lambda: cn.factorize(np.eye(6), 2, loss=cn.WeightedFrobenius(far())),
    "A": lambda: one_factor.QuadraticProjection(far(), 2),
    "factor": lambda: one_factor.QuadraticProjection(one_factor.LowRank(far()), 2),
    "V": lambda: cn.sparse_code(far(), np.eye(6)),
    "X": lambda: cn.estimators.SparseNMF(2).fit(far()),
    "a constant": lambda: cn.Problem(
        cp.Minimize(
            cp.sum_squares(
                spoiled_constant() - cp.Variable((6, 2), nonneg=True) @ cp.Variable((2, 6))
            )
        )
    ),
}


def spoiled_constant():
    constant = cp.Constant(sp.csc_array(np.eye(6)))
    constant.value.indices[0] = 10**7
    return constant


@pytest.mark.parametrize("name", DOORS)
def test_every_door_looks(name):
    with pytest.raises(cn.InputError, match=f"{name} must be a valid cs[rc] matrix"):
        DOORS[name]()


def test_fitted_estimators_look_too():
    fitted = cn.estimators.SparseNMF(2).fit(np.eye(6))
    with pytest.raises(cn.InputError, match="X must be a valid csr matrix"):
        fitted.transform(far())


dask = pytest.importorskip("dask.array")
LAZY = {
    "V": lambda X: cn.Approx(X, "W @ H"),
    "weights": lambda X: cn.factorize(np.ones((6, 6)), 2, loss=cn.WeightedFrobenius(X)),
    "A": lambda X: one_factor.QuadraticProjection(X, 2),
    "X": lambda X: cn.estimators.NMF(2).fit(X),
}


@pytest.mark.parametrize("name", LAZY)
def test_arrays_that_are_not_computed_are_not_loaded_in_silence(name):
    X = dask.ones((6, 6), chunks=3)
    with pytest.raises(
        cn.InputError,
        match=rf"{name} must be in memory, got a dask Array of shape .*call \.compute\(\)",
    ):
        LAZY[name](X)
    LAZY[name](X.compute())


def test_importing_the_package_does_not_import_dask():
    code = "import sys, conicnmf, conicnmf.estimators; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
