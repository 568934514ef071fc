"""Stability: one for problems with one answer, less for those with many; matching by brute force."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest
from scipy.cluster.hierarchy import average, cophenet
from scipy.spatial.distance import pdist

import conicnmf as cn
from conicnmf.families.one_factor import ProjectiveNMF
from conicnmf.report import plot_consensus
from conicnmf.solve.methods import Sweep
from conicnmf.study import stability
from conicnmf.study.measures import match_columns
from conicnmf.study.stability import main_component


@pytest.fixture(scope="module")
def separable():
    """Samples that are multiples of one of three parts with no feature in common."""
    rng = np.random.default_rng(0)
    W = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 1, (12, 1))
    H = np.eye(3)[:, np.arange(30) % 3] * rng.uniform(1, 2, 30)
    return W @ H


@pytest.fixture(scope="module")
def mixed():
    V = np.random.default_rng(0).random((15, 20))
    return stability(cn.factorize(V, 8), cn.HALS(), n_starts=6, stop=30)


def test_an_identifiable_problem_is_stable(separable):
    found = stability(cn.factorize(separable, 3), cn.HALS(), n_starts=5, init=cn.NNDSVD())
    assert found.score == pytest.approx(1, abs=1e-6)
    assert found.cophenetic == pytest.approx(1)
    assert found.dispersion == pytest.approx(1)
    together = np.arange(30) % 3
    np.testing.assert_array_equal(found.consensus, together[:, None] == together[None, :])


def test_noise_has_many_answers(mixed):
    assert mixed.score < 0.95
    assert mixed.dispersion < 1
    assert mixed.components.shape == (8,)
    assert "6 runs, rank 8" in repr(mixed)


def test_the_best_result_is_matched_with_itself(mixed):
    at = mixed.results.index(mixed.best)
    np.testing.assert_allclose(mixed.cosines[at], 1)
    assert mixed.best.objective == min(result.objective for result in mixed.results)


def test_consensus_counts_the_runs_that_agree(mixed):
    share = np.mean(
        [main_component(r.W, r.H)[3] == main_component(r.W, r.H)[11] for r in mixed.results]
    )
    assert mixed.consensus[3, 11] == pytest.approx(share)
    np.testing.assert_array_equal(mixed.consensus, mixed.consensus.T)
    np.testing.assert_array_equal(np.diag(mixed.consensus), 1)
    assert sorted(mixed.order) == list(range(20))


def test_cophenetic_correlation_agrees_with_scipy(mixed):
    # Distances between rows of labels: the share of runs that tell two samples apart.
    apart = pdist(mixed.labels.T, metric="hamming")
    wanted = cophenet(average(apart), apart)[0]
    assert mixed.cophenetic == pytest.approx(wanted)


def test_the_matching_has_the_largest_sum_of_cosines():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 4)), rng.standard_normal((6, 4))
    unit = [X / np.linalg.norm(X, axis=0) for X in (A, B)]
    cosines = np.abs(unit[0].T @ unit[1])
    best = max(permutations(range(4)), key=lambda p: cosines[range(4), p].sum())
    _, index, found = match_columns(A, B, signed=False)
    assert tuple(index) == best
    np.testing.assert_allclose(found, cosines[range(4), best])


def test_zero_components_match_nothing():
    W = np.array([[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(match_columns(W, W, signed=False)[2], [1, 0])


def test_the_main_component_is_the_one_with_the_largest_part_not_the_largest_coefficient():
    V = np.array([[3.0, 0.0], [0.0, 1.0]])
    result = cn.factorize(V, 2).solve(
        cn.HALS(),
        init=(np.array([[30.0, 0.0], [0.0, 0.01]]), np.array([[0.1, 0], [1, 100.0]])),
        stop=0,
    )
    np.testing.assert_array_equal(main_component(result.W, result.H), [0, 1])


def test_the_numbers_do_not_depend_on_the_number_of_processes():
    problem = cn.factorize(np.random.default_rng(1).random((8, 9)), 2)
    one, two = (stability(problem, n_starts=3, n_jobs=n, stop=5) for n in (1, 2))
    np.testing.assert_array_equal(one.cosines, two.cosines)
    np.testing.assert_array_equal(one.labels, two.labels)


def test_one_component_or_one_sample_is_trivially_stable():
    found = stability(cn.factorize(np.ones((4, 1)), 1), n_starts=2)
    assert (found.cophenetic, found.dispersion) == (1, 1)
    plot_consensus(found)


def test_one_run_is_refused():
    with pytest.raises(cn.InputError, match=">= 2, got n_starts=1"):
        stability(cn.factorize(np.ones((3, 3)), 1), n_starts=1)


@dataclass(frozen=True)
class Broken(cn.HALS):
    """Leaves the range of numbers at once."""

    def sweep(self, blocks, factors, memo):
        return Sweep({name: np.nan * X for name, X in factors.items()}, memo)


def test_runs_that_all_fail_are_refused_with_a_remedy():
    problem = cn.factorize(np.ones((4, 3)), 2)
    with pytest.raises(cn.InputError, match=r"0 of 2 runs of Broken succeeded.*solve the problem"):
        stability(problem, Broken(), n_starts=2)


def test_the_picture_has_the_sorted_consensus(mixed):
    heat = plot_consensus(mixed).axes[0].get_images()[0].get_array()
    np.testing.assert_array_equal(heat, mixed.consensus[np.ix_(mixed.order, mixed.order)])


def test_a_problem_without_codes_is_refused():
    with pytest.raises(cn.InputError, match="no product of variables"):
        stability(ProjectiveNMF(np.ones((4, 3)), 2))
