"""Non-negative K-SVD: atoms with their codes against singular vectors, prices against other solvers."""

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.families import coding

PLUS = cn.NonNegative()


def planted(seed, noise=0.02):
    made = cn.datasets.synthetic_dictionary(
        m=20, k=24, n=150, density=0.4, active=(2, 3), seed=seed
    )
    return made.V + noise * np.random.default_rng(seed).random(made.V.shape)


def test_a_single_atom_and_its_codes_become_the_singular_vectors():
    V = np.random.default_rng(0).random((7, 9))
    W, H = coding.AtomByAtom(passes=60).learn(V, np.ones((7, 1)), np.ones((1, 9)), np.ones(7))
    left, sizes, right = np.linalg.svd(V)
    np.testing.assert_allclose(W @ H, sizes[0] * np.outer(left[:, 0], right[0]), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_each_atom_fits_what_the_others_leave_of_its_samples(form):
    rng = np.random.default_rng(1)
    V, W = rng.random((6, 12)), rng.random((6, 3))
    H = rng.random((3, 12)) * (rng.random((3, 12)) < 0.5)
    expected_W, expected_H = W.copy(), H.copy()
    for k in range(3):
        own = H[k] > 0
        rest = V[:, own] - np.delete(expected_W, k, 1) @ np.delete(expected_H, k, 0)[:, own]
        h = expected_H[k, own]
        expected_W[:, k] = np.maximum(rest @ h, 0) / (h @ h)
        w = expected_W[:, k]
        expected_H[k, own] = np.maximum(w @ rest, 0) / (w @ w)
    W, H = coding.AtomByAtom(passes=1).learn(form(V), W, H, np.ones(6))
    np.testing.assert_allclose(W, expected_W, atol=1e-12)
    np.testing.assert_allclose(H, expected_H, atol=1e-12)


def test_coded_takes_it_as_its_dictionary_step():
    V = planted(3)
    for dictionary in (coding.LeastSquares(), coding.AtomByAtom()):
        solver = cn.Coded(coding.OMP(max_atoms=3, rel_error=0), dictionary)
        result = cn.factorize(V, 24).solve(solver, stop=15)
        assert (np.count_nonzero(result.H, axis=0) <= 3).all()
        assert result.relative_error < 0.02
    np.testing.assert_allclose(np.linalg.norm(result.W, axis=0), 1, atol=1e-12)


MODELS = {
    "plain": ([PLUS], [PLUS]),
    "norms": ([PLUS, cn.UnitNorm()], [PLUS, cn.L1(0.05)]),
    "sparse atoms": ([PLUS, cn.Sparseness(min=0.5)], [PLUS, cn.L2(0.01)]),
    "squares on atoms": ([PLUS, cn.L2(0.1)], [PLUS]),
    "any sign of atoms": ([cn.NormBall(2.0)], [PLUS]),
}


@pytest.mark.parametrize("data", ["dense", "sparse", "single", "signed", "wide units"])
@pytest.mark.parametrize("model", MODELS)
def test_the_objective_never_rises_and_what_is_left_to_gain_is_little(model, data):
    V = planted(4)[:, :40]
    V = {
        "dense": V,
        "sparse": sp.csr_array(np.where(V < 0.2, 0, V)),
        "single": V.astype(np.float32),
        "signed": V - 0.1,
        "wide units": 2.0**40 * V,
    }[data]
    unit = 2.0**80 if data == "wide units" else 1.0
    on_atoms, on_codes = MODELS[model]
    problem = cn.factorize(V, 6, W=on_atoms, H=[*on_codes, cn.NonZeros(0.05 * unit)])
    result = problem.solve("KSVD", stop=40)
    trace = result.history.objective
    noise = 1e-5 if data == "single" else 1e-12
    assert np.diff(trace).max() <= noise * trace[0]
    assert problem.violation(result.factors) <= 1e-6
    fit = np.sum((V - result.W @ result.H) ** 2)
    assert fit + 0.05 * unit * np.count_nonzero(result.H) <= result.objective * (1 + 1e-5)


def test_it_races_ends_below_exact_steps_and_is_certified():
    ends = {"KSVD": [], "HALS": []}
    for seed in range(20, 24):
        problem = cn.factorize(planted(seed), 24, H=[PLUS, cn.NonZeros(0.05)])
        for name, values in ends.items():
            values.append(problem.solve(name).objective)
    assert np.mean(ends["KSVD"]) < np.mean(ends["HALS"])
    result = problem.solve()
    assert "KSVD" in result.solver
    assert result.objective <= ends["KSVD"][-1]
    assert result.certificate(), result.certificate()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"H": [PLUS]}, "entries of H have no cost; add NonZeros"),
        ({"H": [cn.Box(0, 1), cn.NonZeros(0.1)]}, "NonNegative alone, not Box"),
        ({"H": [PLUS, cn.NonZeros(0.1)], "loss": "kl"}, "has no quadratic form"),
        ({"H": [PLUS, cn.NonZeros(0.1), cn.TotalVariation(0.1)]}, "is ignored by pursuits"),
        ({"H": [PLUS, cn.NonZeros(0.1)], "W": [cn.Simplex(each="sample")]}, "links components"),
    ],
)
def test_what_it_cannot_see_is_refused_with_the_reason(settings, reason):
    with pytest.raises(cn.IncompatibleError, match=reason):
        cn.factorize(np.ones((5, 4)), 2, **settings).solve("KSVD")
