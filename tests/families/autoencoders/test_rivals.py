"""NMFSC, SESM and PSD: their losses, gradients and inference by second routes."""

from __future__ import annotations

import numpy as np
import pytest
from differences import agrees
from scipy.optimize import minimize

import conicnmf as cn
from conicnmf.datasets import load
from conicnmf.errors import InputError
from conicnmf.families.autoencoders import (
    MiniBatch,
    PredictiveCodes,
    SymmetricMachine,
    code_norms,
    exact_codes,
    infer_exact,
    standardize,
)

STEPS = cn.ProjectedGradient()


def data(M=120):
    return load("digits", n_samples=M).V


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(("sw", "sh"), [(0.7, None), (None, 0.6), (0.7, 0.6)])
def test_nmfsc_meets_exact_sparseness_and_never_rises(nonneg, sw, sh):
    V = data() if nonneg else standardize(data())
    result = exact_codes(V, 6, sw, sh, nonneg).solve(STEPS, stop=40)
    assert np.diff(result.history.objective).max() <= 1e-9 * result.history[0].objective
    assert result.max_violation < 1e-8
    assert result.objective == pytest.approx(np.sum((V - result.W @ result.H) ** 2))
    if sw is not None:
        assert np.allclose(cn.sparseness(result.W, axis=0), sw)
    if sh is not None:
        assert np.allclose(cn.sparseness(result.H, axis=1), sh)


def test_nmfsc_agrees_with_projected_gradient_on_the_same_problem():
    V = data()
    terms = [cn.NonNegative(), cn.Sparseness(min=0.7, max=0.7)]
    other = cn.factorize(V, 6, W=terms).solve(cn.ProjectedGradient(), stop=300)
    own = exact_codes(V, 6, 0.7).solve(STEPS, stop=300)
    assert own.objective == pytest.approx(other.objective, rel=0.1)


def test_inferred_codes_cannot_be_improved_by_a_general_optimizer_nearby():
    rng = np.random.default_rng(0)
    W, X = rng.random((8, 5)), rng.random((8, 4))
    l1, l2 = 1.6, 1.0
    H = infer_exact(X, W, l1, l2, max_iter=2000)
    assert np.allclose(H.sum(axis=0), l1)
    assert np.allclose(np.linalg.norm(H, axis=0), l2)
    norms = [
        {"type": "eq", "fun": lambda h: h.sum() - l1},
        {"type": "eq", "fun": lambda h: h @ h - l2**2},
    ]
    for x, h in zip(X.T, H.T, strict=True):

        def error(h, x=x):
            return np.sum((x - W @ h) ** 2)

        found = minimize(error, h, bounds=[(0, None)] * 5, constraints=norms)
        assert error(h) <= error(found.x) + 5e-3 * np.sum(x**2)


def test_impossible_norms_are_refused():
    for l1 in (0.5, 1.5):  # two filters: norms of a code are at most the root of two apart
        with pytest.raises(InputError, match=r"l2 <= l1 <= 1\.414 l2"):
            infer_exact(np.ones((3, 2)), np.ones((3, 2)), l1, 1.0)
    assert code_norms(np.eye(2)) == (1, 1)


def machines():
    V = np.random.default_rng(0).standard_normal((7, 20))
    return [SymmetricMachine(V, 4, alpha_r=0.01), PredictiveCodes(V, 4)]


@pytest.mark.parametrize("machine", machines(), ids=lambda m: type(m).__name__)
def test_gradients_of_parameters_agree_with_differences(machine):
    rng = np.random.default_rng(1)
    factors = {
        name: X + 0.1 * rng.standard_normal(X.shape) for name, X in machine.start(None, rng).items()
    }
    H = machine.codes(factors, machine.V) + rng.standard_normal((4, 20))
    gradients = machine.gradients(factors, machine.V, H)
    for name, gradient in gradients.items():

        def along(X, name=name):
            return machine.loss(factors | {name: X}, machine.V, H)

        agrees(along, factors[name], gradient, rng)


def test_gradient_of_the_symmetric_machine_in_its_codes_agrees_with_differences():
    machine, rng = machines()[0], np.random.default_rng(2)
    factors = machine.start(None, rng)
    H = rng.standard_normal((4, 20))
    slopes = machine.code_slopes(factors, machine.V, H)
    agrees(lambda H: machine.losses(factors, machine.V, H).sum(), H, slopes, rng)


@pytest.mark.parametrize("machine", machines(), ids=lambda m: type(m).__name__)
def test_steps_on_codes_never_raise_the_loss(machine):
    factors = machine.start(None, np.random.default_rng(0))
    H = machine.codes(factors, machine.V)
    losses = [machine.loss(factors, machine.V, H)]
    for _ in range(15):
        H = machine.improved(factors, machine.V, H)
        losses.append(machine.loss(factors, machine.V, H))
    assert np.diff(losses).max() <= 1e-9 * losses[0]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("kind", [SymmetricMachine, PredictiveCodes])
def test_learning_lowers_the_loss_and_is_repeatable(kind):
    V = standardize(data(300))
    first, second = (kind(V, 16).solve(MiniBatch(batch=20), stop=8, seed=5) for _ in range(2))
    assert first.objective < 0.8 * first.history[0].objective
    assert first.relative_error < 0.9
    assert np.array_equal(first.W, second.W)
    assert not np.array_equal(first.W, kind(V, 16).solve(stop=2, seed=6).W)


def test_atoms_of_predictive_codes_stay_within_norm_one():
    result = PredictiveCodes(standardize(data(200)), 16).solve(stop=4)
    assert result.max_violation <= 1e-12


@pytest.mark.parametrize("kind", [SymmetricMachine, PredictiveCodes])
def test_resumed_learning_equals_the_whole(kind):
    statement, solver = kind(standardize(data(60)), 5), MiniBatch(batch=16)
    whole = statement.solve(solver, stop=4)
    rng = np.random.default_rng(0)
    factors = statement.start(None, rng)

    class Lent:
        pass

    Lent.rng = rng
    memo = solver.start(statement, Lent)
    for _ in range(4):
        memo = solver.unpack(solver.pack(memo), memo)
        sweep = solver.sweep(statement, factors, memo)
        factors, memo = sweep.factors, sweep.memo
    best = min(whole.history.objective)
    assert statement.objective(factors) == pytest.approx(whole.history[-1].objective)
    assert whole.objective == pytest.approx(best)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda V: SymmetricMachine(V, 2, alpha_e=-1.0),
        lambda V: PredictiveCodes(V, 2, l1=-1.0),
        lambda V: MiniBatch(batch=0),
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=">="):
        wrong(np.ones((3, 4)))
