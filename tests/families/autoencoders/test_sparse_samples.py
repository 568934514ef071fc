"""Sparse samples give the filters and codes of the same samples in a dense array."""

import numpy as np
import pytest
import scipy.sparse as sp

from conicnmf.errors import InputError
from conicnmf.estimators import NMFSC, PSD, SCFC, SESM, SCFCClassifier
from conicnmf.families.autoencoders import (
    FastCodes,
    PredictiveCodes,
    SymmetricMachine,
    standardize,
    windows,
)

V = sp.random_array((20, 70), density=0.3, rng=np.random.default_rng(0), format="csr")
Y = np.repeat([0, 1], 35)


@pytest.mark.parametrize(
    "problem",
    [
        lambda V: FastCodes(V, 5),
        lambda V: FastCodes(V, 5, y=Y),
        lambda V: SymmetricMachine(V, 5),
        lambda V: PredictiveCodes(V, 5),
    ],
)
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
def test_a_problem_of_sparse_samples_is_that_of_dense_ones(problem, form):
    sparse, dense = (problem(X).solve(stop=6) for X in (form(V), V.toarray()))
    assert sparse.objective == pytest.approx(dense.objective, rel=1e-9)
    assert sparse.relative_error == pytest.approx(dense.relative_error, rel=1e-9)
    for name, X in dense.factors.items():
        np.testing.assert_allclose(sparse.factors[name], X, atol=1e-8)


@pytest.mark.parametrize(
    "model",
    [
        SCFC(4, max_iter=8, ramp=4),
        SCFC(4, max_iter=8, ramp=4, image_shape=(4, 5)),
        SCFCClassifier(4, max_iter=8, ramp=4),
        NMFSC(4, max_iter=8),
        SESM(4, max_iter=2),
        PSD(4, max_iter=2),
    ],
    ids=repr,
)
def test_an_estimator_learns_and_encodes_sparse_samples(model):
    X = V.T.tocsr()
    dense = model.fit(X.toarray(), Y).transform(X.toarray())
    np.testing.assert_allclose(model.transform(X), dense, atol=1e-10)
    np.testing.assert_allclose(model.fit(X, Y).transform(X), dense, atol=1e-8)


def test_a_sparse_solve_goes_on_from_its_checkpoint(tmp_path):
    place = tmp_path / "state.npz"
    whole = FastCodes(V, 5).solve(stop=10)
    FastCodes(V, 5).solve(stop=4, checkpoint=place)
    rest = FastCodes(V, 5).solve(stop=10, checkpoint=place)
    np.testing.assert_allclose(rest.W, whole.W, atol=1e-10)


def test_windows_see_the_same_samples():
    np.testing.assert_array_equal(windows(V, 6, (4, 5)), windows(V.toarray(), 6, (4, 5)))


def test_means_of_sparse_samples_are_not_taken_away_in_silence():
    with pytest.raises(InputError, match="fills in its zeros"):
        standardize(V)
    with pytest.raises(InputError, match="fills in its zeros"):
        SCFC(4, standardize=True).fit(V.T)
