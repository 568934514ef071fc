"""Other kinds of problems: one factor, autoencoders, and codes in a given dictionary."""

from __future__ import annotations

import numpy as np

import conicnmf as cn

# The only place that says where these live.
from conicnmf.families import autoencoders, one_factor


def solves():
    """Return every solve by name, as a function that returns its result."""
    found = {
        f"{problem} | {solver or 'default'}": _solve(state, getattr(one_factor, solver, None))
        for problem, (state, solvers) in _ONE_FACTOR.items()
        for solver in solvers
    }
    return found | {name: _train(state) for name, state in _AUTOENCODERS.items()}


def _solve(state, solver):
    return lambda: cn.solve(state(), solver and solver(), stop=20, seed=1, throw=False)


def _train(state):
    return lambda: state().solve(stop=6, seed=1, throw=False)


def _rng():
    return np.random.default_rng(7)


def _symmetric(m=6):
    X = _rng().standard_normal((m, m))
    return X @ X.T


def _classes(q):
    rng, y = _rng(), np.arange(40) % q
    return rng.standard_normal((5, 40)) + 2 * rng.standard_normal((5, q))[:, y], y


def _parts():
    return np.repeat(np.eye(3), 4, axis=0) @ _rng().random((3, 10)) + 0.01


_RULES = ("", "ProjectionRule", "Oja")
_ONE_FACTOR = {
    "quadratic": (lambda: one_factor.QuadraticProjection(_symmetric()), (*_RULES, "ConeAscent")),
    "quadratic of rank 2": (
        lambda: one_factor.QuadraticProjection(_symmetric(), 2),
        (*_RULES, "NaturalGradient"),
    ),
    "two classes": (lambda: one_factor.Discriminant(*_classes(2)), (*_RULES, "ConeAscent")),
    "three classes": (lambda: one_factor.Discriminant(*_classes(3)), ("", "ConeAscent")),
    "sparse discriminant": (
        lambda: one_factor.Discriminant(*_classes(2), constraints=[cn.Sparseness(min=0.6)]),
        ("",),
    ),
    "kernel": (
        lambda: one_factor.KernelDiscriminant(*_classes(2), kernel="rbf", center=True),
        ("",),
    ),
    "projective": (
        lambda: one_factor.ProjectiveNMF(_parts(), 3),
        ("", "ProjectiveRule", "ProjectedDescent"),
    ),
    "sparse projective": (
        lambda: one_factor.ProjectiveNMF(_parts(), 3, constraints=[cn.Sparseness(min=0.5)]),
        ("",),
    ),
}


def _samples():
    return autoencoders.standardize(_rng().random((16, 60)))


_AUTOENCODERS = {
    "fast codes": lambda: autoencoders.FastCodes(_samples(), 4, 0.6, 0.5),
    "fast codes, classes": lambda: autoencoders.FastCodes(
        _samples(), 4, 0.6, 0.5, y=np.arange(60) % 2
    ),
    "fast codes, non-negative": lambda: autoencoders.FastCodes(_samples(), 4, 0.6, None, True),
    "exact codes": lambda: autoencoders.exact_codes(np.abs(_samples()), 4, 0.6, 0.5),
    "predictive codes": lambda: autoencoders.PredictiveCodes(_samples(), 4),
    "symmetric machine": lambda: autoencoders.SymmetricMachine(_samples(), 4),
}
_CODERS = {
    "least squares": lambda: cn.coding.LeastSquares(),
    "Lasso": lambda: cn.coding.Lasso(0.1),
    "squared Lasso": lambda: cn.coding.SquaredLasso(0.1),
    "OMP": lambda: cn.coding.OMP(max_atoms=3),
    "L0": lambda: cn.coding.L0(0.2),
    "L0 squared": lambda: cn.coding.L0(0.2, squared=True),
    "forward-backward": lambda: cn.coding.ForwardBackward(0.2),
    "threshold": lambda: cn.coding.Threshold(0.2, refit=True),
}


def codes():
    """Return numbers of codes by each coder: their error, their sum and how many are not zero."""
    rng = _rng()
    W = rng.random((10, 6))
    W /= np.linalg.norm(W, axis=0)
    V = W @ np.where(rng.random((6, 8)) < 0.4, rng.random((6, 8)), 0) + 0.01 * rng.random((10, 8))
    found = {}
    for name, coder in _CODERS.items():
        H = cn.sparse_code(V, W, coder())
        found[f"codes | {name}"] = {
            "error": float(np.sum((V - W @ H) ** 2)),
            "sum": float(H.sum()),
            "atoms": int((H > 0).sum()),
        }
    return found
