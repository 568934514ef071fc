"""Whatever a problem is asked about, junk for its factors is answered in our words."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import conicnmf as cn
from conicnmf import autoencoders, one_factor
from tests.settings.junk import JUNK

V = np.random.default_rng(0).random((6, 5)) + 0.1
Y = [0, 1, 0, 1, 0]
PROBLEMS: dict[str, Any] = {
    "two": cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=0.3)], H=[cn.L1(0.1)]),
    "capped": cn.factorize(V, 2, loss=cn.Frobenius(cap=9.0)),
    "divergence": cn.factorize(V, 2, loss="kl"),
    "views": cn.factorize({"x": V, "y": 2 * V}, 2, shared="H"),
    "three": cn.factorize(V, (2, 3), offset="feature"),
    "quadratic": one_factor.QuadraticProjection(np.eye(4), 2),
    "projective": one_factor.ProjectiveNMF(V, 2),
    "discriminant": one_factor.Discriminant(V, Y),
    "kernel": one_factor.KernelDiscriminant(V, Y),
    "fast codes": autoencoders.FastCodes(V, 2, y=Y, alpha_c=0.3),
    "predictive": autoencoders.PredictiveCodes(V, 2),
    "symmetric": autoencoders.SymmetricMachine(V, 2),
}
STARTS = {name: p.start(None, np.random.default_rng(0)) for name, p in PROBLEMS.items()}
GIVEN: dict[str, Any] = {
    "objective": 1.0,
    "violation": 0.0,
    "addends": 1.0,
    "X": V,
    "H": np.ones((2, 5)),
}
"""What fits the other arguments."""


def asked(problem: Any) -> list[tuple[Any, list[str]]]:
    """Return the public methods that take factors, with the names of their arguments."""
    public = inspect.getmembers(type(problem), inspect.isfunction)
    methods = [getattr(problem, name) for name, _ in public if not name.startswith("_")]
    found = [(method, list(inspect.signature(method).parameters)) for method in methods]
    return [(method, names) for method, names in found if "factors" in names]


def told(method: Any, names: list[str], factors: Any) -> Any:
    return method(*(factors if name == "factors" else GIVEN[name] for name in names))


@pytest.mark.parametrize("name", PROBLEMS)
def test_factors_of_another_kind_are_refused(name):
    for method, names in asked(PROBLEMS[name]):
        for value in JUNK.values():
            with pytest.raises(
                cn.InputError, match=rf"(?s)^{method.__name__}.* got .*; "
            ) as caught:
                told(method, names, value)
            assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_wrong_array_among_the_factors_is_named(name):
    problem, right = PROBLEMS[name], STARTS[name]
    for key, X in right.items():
        wrongs: list[Any] = [
            None,
            "x",
            X[None],
            1j * X,
            X.astype(object),
            [[1, 2], [3]],
            np.empty(0),
        ]
        if X.shape[0] != X.shape[1]:
            wrongs.append(X.T)
        for wrong in wrongs:
            with pytest.raises(cn.InputError, match=rf"(?s)^objective.*{key}.* got .*; "):
                problem.objective(right | {key: wrong})
        with pytest.raises(cn.InputError, match="no other name"):
            problem.violation({k: own for k, own in right.items() if k != key})


@pytest.mark.parametrize("name", PROBLEMS)
def test_lists_and_other_numbers_are_read_as_arrays(name):
    problem, right = PROBLEMS[name], STARTS[name]
    lists = {key: X.tolist() for key, X in right.items()}
    ones = {key: np.ones_like(X) for key, X in right.items()}
    whole = {key: X.astype(int) for key, X in ones.items()}
    for method, names in asked(problem):
        if names == ["factors"] and isinstance(method(right), float):
            assert method(lists) == pytest.approx(method(right), nan_ok=True)
            assert method(factors=whole) == pytest.approx(method(ones), nan_ok=True)


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_numbers_among_the_factors_leave_no_warning(name):
    for value in (np.nan, np.inf):
        spoiled = {key: np.full_like(X, value) for key, X in STARTS[name].items()}
        for method, names in asked(PROBLEMS[name]):
            if method.__name__ != "improved":  # a step of a solver, which stands in the guard
                told(method, names, spoiled)


@pytest.mark.parametrize("name", PROBLEMS)
def test_starts_need_a_generator(name):
    for junk in JUNK.values():
        with pytest.raises(cn.InputError, match="start needs rng to be a Generator, got rng="):
            PROBLEMS[name].start(None, junk)


def test_results_and_solvers_are_asked_in_our_words():
    result = PROBLEMS["two"].solve(stop=1)
    for ask in (result.side, result.__getitem__):
        with pytest.raises(cn.InputError, match=r"has no variable Z; its variables are W, H"):
            ask("Z")
    for junk in JUNK.values():
        with pytest.raises(cn.InputError, match=r"mismatches needs problem to be .*, got problem="):
            cn.HALS().mismatches(junk)


def test_a_problem_says_what_it_has():
    with pytest.raises(cn.InputError, match="has no variable H; its variables are W"):
        PROBLEMS["quadratic"].H  # noqa: B018
    with pytest.raises(cn.InputError, match="has 2 fits; name one of"):
        PROBLEMS["views"].loss  # noqa: B018
