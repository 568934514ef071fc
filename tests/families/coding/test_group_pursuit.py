"""Group pursuit against a plain loop over samples, and against all groups tried."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

import conicnmf as cn
from conicnmf.families import coding


def drawn(seed, samples=25, noise=0.02):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(6), [1, 2, 3, 3, 4, 5]))
    W = rng.random((20, 18)) * rng.uniform(0.3, 3, 18)
    active = np.zeros((18, samples), dtype=bool)
    for j in range(samples):
        active[np.isin(groups, rng.choice(6, 2, replace=False)), j] = True
    V = W @ np.where(active, rng.uniform(0.5, 1, active.shape), 0)
    return V + noise * rng.random(V.shape), W, groups, active


def fitted(W, v, atoms):
    h = np.zeros(W.shape[1])
    if np.any(atoms):
        h[atoms] = nnls(W[:, atoms], v)[0]
    return h


def one_by_one(V, W, groups, most, rel_error):
    """Return the codes by a loop over samples, rounds and groups."""
    H = np.zeros((W.shape[1], V.shape[1]))
    for j, v in enumerate(V.T):
        used = np.zeros(W.shape[1], dtype=bool)
        for _ in range(most):
            rest = v - W @ H[:, j]
            if rest @ rest <= rel_error * (v @ v):
                break
            others = [g for g in np.unique(groups) if not used[groups == g].any()]
            left = [nnls(W[:, groups == g], rest)[1] for g in others]
            used |= groups == others[int(np.argmin(left))]
            H[:, j] = fitted(W, v, used)
    return H


@pytest.mark.parametrize("rel_error", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(3))
def test_codes_are_those_of_a_plain_loop(seed, rel_error):
    V, W, groups, _ = drawn(seed)
    found = cn.sparse_code(V, W, coding.GroupOMP(groups, 3, rel_error))
    np.testing.assert_allclose(found, one_by_one(V, W, groups, 3, rel_error), atol=1e-8)


def test_a_single_group_is_the_best_of_all():
    V, W, groups, _ = drawn(7)
    found = cn.sparse_code(V, W, coding.GroupOMP(groups, 1, 0.0))
    errors = np.sum((V - W @ found) ** 2, axis=0)
    best = [min(nnls(W[:, groups == g], v)[1] ** 2 for g in range(6)) for v in V.T]
    np.testing.assert_allclose(errors, best, rtol=1e-9)


def test_two_groups_are_mostly_the_best_pair_and_those_that_were_planted():
    V, W, groups, active = drawn(8, samples=60)
    found = cn.sparse_code(V, W, coding.GroupOMP(groups, 2, 0.0))
    errors = np.sum((V - W @ found) ** 2, axis=0)
    pairs = [np.isin(groups, pair) for pair in combinations(range(6), 2)]
    best = np.array([min(nnls(W[:, pair], v)[1] ** 2 for pair in pairs) for v in V.T])
    assert (errors >= best * (1 - 1e-9)).all()
    assert np.mean(errors <= best * (1 + 1e-6)) > 0.6
    assert np.mean((found > 0) == active) > 0.85


def test_groups_of_one_atom_of_norm_one_are_plain_pursuit():
    V, W, _, _ = drawn(9)
    W = W / np.linalg.norm(W, axis=0)
    expected = cn.sparse_code(V, W, coding.OMP(3, 0.02))
    found = cn.sparse_code(V, W, coding.GroupOMP(np.arange(18), 3, 0.02))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_labels_that_do_not_fit_the_atoms_are_refused_and_dictionaries_are_learned():
    V, W, groups, _ = drawn(10)
    with pytest.raises(cn.InputError, match="a label for each of the 18 atoms, got 3"):
        cn.sparse_code(V, W, coding.GroupOMP([0, 0, 1]))
    result = cn.factorize(V, 18).solve(cn.Coded(coding.GroupOMP(groups, 2, 0.0)), stop=5)
    used = [len(np.unique(groups[h > 0])) for h in result.H.T]
    assert max(used) <= 2
