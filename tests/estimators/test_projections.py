"""Estimators of one factor: the statement's own solve, its projections, and streams."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

import conicnmf as cn
from conicnmf.estimators import HebbianNMF, NonNegativeKernelFDA, NonNegativeLDA, ProjectiveNMF
from conicnmf.families import one_factor

PARTS = np.repeat(np.eye(3), 4, axis=1)


def from_parts(n, seed=0):
    """Samples with three parts that do not overlap, and a little noise."""
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)) @ PARTS + 0.02 * rng.random((n, 12))


def share_of_parts(components):
    """The cosines of the parts with the components they are matched to."""
    return cn.measures.matched_cosines(PARTS.T, components.T)


def test_projective_components_are_those_of_the_statement():
    X = from_parts(40)
    model = ProjectiveNMF(3, sparseness=0.4, random_state=2).fit(X)
    bounds, stop = [cn.Sparseness(min=0.4)], cn.MaxIter(2000) | cn.RelDecrease(1e-4, patience=10)
    result = cn.solve(one_factor.ProjectiveNMF(X.T, 3, constraints=bounds), seed=2, stop=stop)
    np.testing.assert_array_equal(model.components_, result.W.T)
    assert cn.sparseness(model.components_, axis=1).min() > 0.4 - 1e-6


def test_codes_are_projections_and_give_the_samples_back():
    X, new = from_parts(40), from_parts(7, seed=1)
    model = ProjectiveNMF(3).fit(X)
    codes = model.transform(new)
    np.testing.assert_allclose(codes, new @ model.components_.T)
    left = new - model.inverse_transform(codes)
    assert model.score(new) == pytest.approx(1 - np.sum(left**2) / np.sum(new**2))
    assert model.score(new) > 0.98
    assert share_of_parts(model.components_).min() > 0.98


def test_a_stream_of_batches_finds_the_parts():
    model = HebbianNMF(3)
    for seed in range(20):
        model.partial_fit(from_parts(50, seed))
    assert model.n_iter_ == 20
    assert share_of_parts(model.components_).min() > 0.97


def test_a_stream_goes_on_from_a_fit():
    model = HebbianNMF(3).fit(from_parts(60))
    before = model.components_.copy()
    model.partial_fit(from_parts(60, seed=1))
    cosines = cn.measures.matched_cosines(before.T, model.components_.T)
    assert cosines.min() > 0.95
    assert not np.array_equal(before, model.components_)


@pytest.mark.parametrize("model", [ProjectiveNMF(2), HebbianNMF(2)])
def test_negative_data_are_refused(model):
    with pytest.raises(ValueError, match="Negative values"):
        model.fit(-np.ones((4, 3)))


def test_negative_batches_are_refused():
    model = HebbianNMF(2).partial_fit(from_parts(10))
    with pytest.raises(ValueError, match="Negative values"):
        model.partial_fit(-from_parts(10))


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    spread = np.array([[1.0, 0.8], [0.0, 0.6]])
    return rng.standard_normal((80, 2)) @ spread + np.outer(y, [2.0, 0.7]), y


def fisher_ratio(z, y):
    groups = [z[y == k] for k in (0, 1)]
    within = np.mean([group.var() for group in groups])
    return (groups[0].mean() - groups[1].mean()) ** 2 / 4 / within


def test_the_discriminant_is_the_best_direction_of_the_quadrant(two_classes):
    X, y = two_classes
    model = NonNegativeLDA(ridge=0).fit(X, y)
    angles = np.linspace(0, np.pi / 2, 2001)
    best = max(fisher_ratio(X @ [np.cos(a), np.sin(a)], y) for a in angles)
    z = model.transform(X).ravel()
    assert fisher_ratio(z, y) == pytest.approx(best, rel=1e-5)
    assert -2 * model.result_.objective == pytest.approx(best, rel=1e-5)
    free = LinearDiscriminantAnalysis().fit(X, y)
    assert (free.coef_ < 0).any()  # without the constraint a weight would be negative


def test_a_sparse_discriminant_uses_few_features():
    data = cn.datasets.load("digits", n_samples=300)
    chosen = np.isin(data.target, [3, 8])
    X, y = data.V.T[chosen], data.target[chosen]
    model = NonNegativeLDA(sparseness=0.8).fit(X, y)
    assert cn.sparseness(model.components_, axis=1).item() > 0.8 - 1e-6
    auc = roc_auc_score(y == 8, model.transform(X).ravel())
    assert max(auc, 1 - auc) > 0.8


def test_kernel_projections_tell_circles_apart():
    X, y = make_circles(120, factor=0.3, noise=0.05, random_state=0)
    new, wanted = make_circles(60, factor=0.3, noise=0.05, random_state=1)
    model = NonNegativeKernelFDA(kernel_params={"gamma": 1.0}).fit(X, y)
    auc = roc_auc_score(wanted, model.transform(new).ravel())
    assert max(auc, 1 - auc) > 0.99
    assert model.dual_coef_.min() >= 0


def test_kernel_projections_are_weighted_sums_over_the_fitted_samples(two_classes):
    X, y = two_classes
    model = NonNegativeKernelFDA(kernel_params={"gamma": 0.3}).fit(X[:40], y[:40])
    wanted = rbf_kernel(X, X[:40], 0.3) @ model.dual_coef_
    shift = rbf_kernel(X, X[:40], 0.3).sum(axis=1) * model.dual_coef_.mean()
    np.testing.assert_allclose(model.transform(X).ravel(), wanted - shift)
    plain = NonNegativeKernelFDA(kernel="linear", center=False).fit(X[:40], y[:40])
    np.testing.assert_allclose(plain.transform(X).ravel(), X @ X[:40].T @ plain.dual_coef_)


def test_one_class_is_refused(two_classes):
    with pytest.raises(cn.InputError, match="at least two classes, got one class"):
        NonNegativeLDA().fit(two_classes[0], np.zeros(80, dtype=int))


def test_codes_of_the_fitted_samples_do_not_hang_on_the_array_they_are_in():
    X = 2.0**24 * np.random.default_rng(0).random((6, 4))
    model = NonNegativeKernelFDA(max_iter=8).fit(X, [1, 0, 1, 1, 0, 1])
    assert np.array_equal(model.transform(X.copy()), model.transform(X))


def test_kernel_projections_of_sparse_samples_are_those_of_dense_ones():
    X = np.random.default_rng(0).random((8, 4)) * (np.random.default_rng(1).random((8, 4)) < 0.5)
    y = [1, 0, 1, 1, 0, 1, 0, 0]
    dense = NonNegativeKernelFDA(max_iter=8).fit(X, y)
    sparse = NonNegativeKernelFDA(max_iter=8).fit(sp.csr_array(X), y)
    for seen in (X, X[:3]):
        assert np.allclose(sparse.transform(sp.csr_array(seen)), dense.transform(seen))
