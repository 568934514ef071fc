"""Constraints that tie components together: no step may multiply one component alone."""

import numpy as np
import pytest

import conicnmf as cn

PLUS = cn.NonNegative()
CLASSES = np.repeat([0, 1, 2], 10)
MASK = np.random.default_rng(1).random((15, 30)) < 0.8
WEIGHTS = np.random.default_rng(2).random((15, 30))
LOSSES = {
    "plain": cn.Frobenius(),
    "mask": cn.WeightedFrobenius(MASK),
    "weights": cn.WeightedFrobenius(WEIGHTS),
}


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((15, 4)) @ rng.random((4, 30))


@pytest.mark.parametrize("term", [cn.Labels(CLASSES, 0.2), cn.Monotone(each="sample")], ids=str)
def test_every_iterate_of_copies_stays_feasible(term):
    problem = cn.factorize(drawn(), 4, H=[PLUS, term])
    history = problem.solve("Splitting", stop=8).history
    assert history.violation.max() <= 1e-6
    assert (np.diff(history.objective) <= 1e-9).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_labels_take_weights_and_masks_and_end_where_a_cone_solver_does(loss):
    V = drawn()
    hidden = np.where(MASK, V, 0.0) if loss == "mask" else V
    problem = cn.factorize(hidden, 4, loss=LOSSES[loss], H=[PLUS, cn.Labels(CLASSES, 0.2)])
    result = problem.solve(stop=40)
    assert result.max_violation <= 1e-6
    assert result.certificate(), result.certificate()
    planes = problem.solve("TangentPlane", stop=40)
    assert result.objective <= 1.05 * planes.objective
