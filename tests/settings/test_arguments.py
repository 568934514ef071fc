"""Public functions answer junk and foreign names in our words, before they begin."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf import autoencoders as ae
from conicnmf import measures, one_factor, report
from tests.settings.junk import JUNK

V = np.random.default_rng(0).random((6, 5)) + 0.1
PROBLEM = cn.factorize(V, 2)
RESULT = PROBLEM.solve(cn.HALS(), stop=2)
COMPARISON = cn.compare(PROBLEM, ["HALS", "ANLS"], [0, 1], stop=2)
ENCODER = {"theta": np.zeros((2, 1)), "beta": np.ones((2, 1))}
SMALL = cn.factorize(V[:3, :3], 1)
SOLVED = SMALL.solve("HALS", stop=1).factors
SOLVE: dict[str, Any] = {"problem": PROBLEM, "solver": cn.HALS(), "stop": 2}

MEASURED = {
    "truth": np.eye(4),
    "found": np.eye(4),
    "V": V,
    "W": RESULT.W,
    "H": RESULT.H,
    "values": [0.1, 0.99],
    "scores": [0.1, 0.2, 0.3, 0.4],
    "labels": [0, 1, 0, 1],
    "k": 2,
    "measure": lambda drawn: 1.0,
    "groups": ["a", "b"],
}


def measured(name: str) -> dict[str, Any]:
    """Return what fits the arguments of a measure."""
    arguments = inspect.signature(getattr(measures, name)).parameters
    return {name: MEASURED[name] for name in arguments if name in MEASURED}


CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "solve": (cn.solve, SOLVE),
    "compare": (cn.compare, {"problem": PROBLEM, "solvers": ["HALS"], "seeds": [0], "stop": 2}),
    "multistart": (cn.multistart, {**SOLVE, "n_starts": 2}),
    "stability": (cn.stability, {**SOLVE, "n_starts": 2}),
    "path": (cn.path, {"make_problem": lambda value: PROBLEM, "values": [1.0], "stop": 2}),
    "cross_validate_rank": (cn.cross_validate_rank, {"V": V, "ranks": [1], "folds": 2, "stop": 2}),
    "factorize": (cn.factorize, {"V": V, "rank": 2}),
    "Approx": (cn.Approx, {"V": V, "model": "W @ H"}),
    "compose": (cn.compose, {}),
    "sparse_code": (cn.sparse_code, {"V": V, "W": RESULT.W}),
    "sparseness": (cn.sparseness, {"X": V, "axis": 0}),
    "windows": (ae.windows, {"V": np.ones((12, 5)), "rank": 2, "image_shape": (3, 4)}),
    "standardize": (ae.standardize, {"V": V}),
    "exact_codes": (ae.exact_codes, {"V": V, "rank": 2}),
    "encode": (ae.encode, {"X": V, "W": RESULT.W, **ENCODER, "q": 3}),
    "code_norms": (ae.code_norms, {"H": RESULT.H}),
    "infer_exact": (ae.infer_exact, {"X": V, "W": RESULT.W, "l1": 1.2, "l2": 1.0}),
    "kernel_fda": (one_factor.kernel_fda, {"K": V.T @ V, "y": [0, 1, 0, 1, 0]}),
    "global_block": (cn.global_block, {"problem": SMALL, "factors": SOLVED, "variable": "W"}),
    "global_minimum": (cn.global_minimum, {"problem": SMALL, "budget": 3}),
    "QuadraticProjection": (one_factor.QuadraticProjection, {"A": np.eye(4), "rank": 2}),
    "ProjectiveNMF": (one_factor.ProjectiveNMF, {"V": V, "rank": 2}),
    "Discriminant": (one_factor.Discriminant, {"V": V, "y": [0, 1, 0, 1, 0]}),
    "KernelDiscriminant": (one_factor.KernelDiscriminant, {"V": V, "y": [0, 1, 0, 1, 0]}),
    "HebbianStream": (one_factor.HebbianStream, {"rank": 2}),
    **{name: (getattr(measures, name), measured(name)) for name in measures.__all__},
    "plot_basis": (report.plot_basis, {"basis": RESULT}),
    "plot_convergence": (report.plot_convergence, {"results": RESULT}),
    "plot_sparseness": (report.plot_sparseness, {"result": RESULT}),
    "plot_performance": (report.plot_performance, {"comparison": COMPARISON}),
    "plot_data_profile": (report.plot_data_profile, {"comparison": COMPARISON}),
    "plot_profile": (report.plot_profile, {"comparison": COMPARISON}),
    "to_markdown": (report.to_markdown, {"comparison": COMPARISON}),
    "html_report": (report.html_report, {"content": RESULT, "path": "page.html"}),
    "Dataset": (cn.datasets.Dataset, {"name": "own", "V": V}),
    "Result.reconstruct": (RESULT.reconstruct, {}),
    "Result.predict": (RESULT.predict, {"rows": 0, "columns": 0}),
    "Result.save": (RESULT.save, {"path": "saved"}),
    "Result.certificate": (RESULT.certificate, {}),
    "Comparison.significance": (COMPARISON.significance, {}),
    "Comparison.best": (COMPARISON.best, {}),
    "load_result": (cn.load, {"path": "nowhere"}),
    "bars": (cn.datasets.bars, {"n_samples": 5}),
    "swimmer": (cn.datasets.swimmer, {}),
    "paatero": (cn.datasets.paatero, {}),
    "low_rank": (cn.datasets.low_rank, {}),
    "three_factors": (cn.datasets.three_factors, {}),
    "synthetic_dictionary": (cn.datasets.synthetic_dictionary, {"m": 9, "k": 12, "n": 9}),
    "load": (cn.datasets.load, {"name": "digits"}),
    "certify": (cn.certify, {"problem": PROBLEM, "result": RESULT}),
}
"""For each function a call that works."""
CALLED = ("callback", "make_problem", "problem", "kernel", "measure")
"""Arguments that may be functions: what those raise is theirs."""
PLACES = [
    (function, one.name)
    for function, (call, _) in CALLS.items()
    for one in inspect.signature(call).parameters.values()
    if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
]


@pytest.mark.parametrize("module", [cn, ae, one_factor, cn.coding, measures])
def test_every_public_function_is_called_with_junk(module):
    public = {name: getattr(module, name) for name in module.__all__}
    functions = {name for name, own in public.items() if inspect.isfunction(own)}
    assert functions - CALLS.keys() <= {"load", "warm_up"}


@pytest.mark.parametrize("function", sorted(CALLS.keys() - {"compose", "load_result"}))
def test_the_calls_work(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, arguments = CALLS[function]
    call(**arguments)


@pytest.mark.parametrize(("function", "name"), PLACES)
def test_junk_is_answered_in_our_words(function, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a word may be a path
    call, arguments = CALLS[function]
    called = name in CALLED
    for junk, value in JUNK.items():
        if (called and junk in ("class", "function")) or (name, junk) == ("n_jobs", "negative"):
            continue
        try:
            call(**(arguments | {name: value}))
        except cn.ConicNMFError as error:
            says = str(error)
            assert "; " in says or "\n" in says, (junk, says)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: PROBLEM.solve(max_iter=5), "solve has no argument max_iter; write stop=100"),
        (lambda: PROBLEM.solve(tol=1e-3), "no argument tol; write stop=RelDecrease(1e-4)"),
        (lambda: PROBLEM.solve(random_state=1), "no argument random_state; write seed=0"),
        (lambda: PROBLEM.solve(verbose=1), "no argument verbose; write progress=True"),
        (lambda: cn.solve(PROBLEM, methd="HALS"), "has no argument methd; it has problem, solver,"),
        (lambda: cn.solve(PROBLEM, timelimit=3), "no argument timelimit; did you mean time_limit?"),
        (lambda: cn.compare(PROBLEM, ["HALS"], seed=3), "no argument seed; write seeds=[0]"),
        (lambda: cn.multistart(PROBLEM, n=3), "multistart has no argument n; write n_starts=10"),
        (lambda: cn.stability(PROBLEM, random_state=3), "stability has no argument random_state;"),
        (
            lambda: cn.factorize(V, n_components=3),
            "factorize has no argument n_components; write ra",
        ),
        (
            lambda: cn.factorize(V, 2, loss="chebyshev"),
            "no loss is called 'chebyshev'",
        ),
        (
            lambda: cn.HALS(max_iter=3),
            "HALS has no setting max_iter; stop=100 goes to solve; it has",
        ),
        (lambda: cn.HALS(sweep=3), "HALS has no setting sweep; did you mean sweeps?"),
        (
            lambda: cn.solve(cp.Problem(cp.Minimize(cp.Variable()))),
            "conicnmf, got one of CVXPY; wri",
        ),
        (lambda: cn.MaxIter(3) | "x", "stop must be a Stop rule or an iteration limit, got 'x'"),
        (lambda: PROBLEM.solve(cn.HALS), "add parentheses"),
        (lambda: cn.Chain(3), "write Chain((TangentPlane(), HALS()))"),
        (lambda: cn.Coded("L0"), "Coded needs code to be a Coder, got code='L0'"),
    ],
)
def test_what_users_of_other_packages_write_is_answered_with_what_is_meant(call, says):
    with pytest.raises(cn.InputError) as caught:
        call()
    assert says in str(caught.value)


W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
PRICE = cp.Parameter(nonneg=True, value=0.5)
PRICED = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + PRICE * cp.sum(H)))
HIDDEN: dict[str, Any] = JUNK | {"no value": cp.Parameter()}


class _Pairs(dict[Any, Any]):
    """A mapping with one key, which needs no hash."""

    def __init__(self, key: Any, value: Any) -> None:
        super().__init__({0: value})
        self.pair = key, value

    def __iter__(self):
        return iter(self.pair[:1])

    def items(self):
        return [self.pair]


WITHIN: dict[str, Callable[[Any], Any]] = {
    "a rank": lambda junk: cn.cross_validate_rank(V, [1, junk], 2, stop=1),
    "a problem of ranks": lambda junk: cn.cross_validate_rank(V, [1], 2, problem=lambda *a: junk),
    "a step": lambda junk: cn.path(lambda value: PROBLEM, [junk], "HALS", stop=1),
    "a parameter": lambda junk: cn.path(PRICED, _Pairs(junk, [1.0]), "HALS", stop=1),
    "values of a parameter": lambda junk: cn.path(PRICED, {PRICE: junk}, "HALS", stop=1),
    "a value of a parameter": lambda junk: cn.path(PRICED, {PRICE: [junk]}, "HALS", stop=1),
    "a problem of a path": lambda junk: cn.path(lambda value: junk, [1.0], "HALS", stop=1),
    "a term": lambda junk: cn.factorize(V, 2, W=[junk]),
    "terms of a view": lambda junk: cn.factorize({"a": V, "b": V}, 2, W={"a": junk}),
    "a view": lambda junk: cn.factorize({"a": V, "b": junk}, 2),
    "names": lambda junk: cn.factorize(V, 2, feature_names=junk),
    "constraints": lambda junk: cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), junk),
    "a constraint": lambda junk: cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H)), [junk]),
    "a penalty": lambda junk: cn.factorize(V, 2, W=[cn.ConvexPenalty(lambda W: junk)]).solve(
        stop=1
    ),
    "a solver": lambda junk: cn.compare(PROBLEM, [junk], [0], stop=1),
    "a seed": lambda junk: cn.compare(PROBLEM, ["HALS"], [junk], stop=1),
    "a start": lambda junk: PROBLEM.solve("HALS", init=(junk, junk), stop=1),
    "a key": lambda junk: RESULT[junk],
    "a matrix": lambda junk: RESULT.predict_entries(0, 0, junk),
    "rows": lambda junk: RESULT.predict(junk, 0),
    "a file": lambda junk: cn.load(junk),
    "a name": lambda junk: cn.datasets.load(junk),
    "a rule": lambda junk: cn.MaxIter(1) | junk,
}
"""Calls with a place for junk inside an argument, or in what a function returns."""


@pytest.mark.parametrize("place", WITHIN)
def test_junk_within_an_argument_is_answered_in_our_words(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for junk, value in HIDDEN.items():
        try:
            WITHIN[place](value)
        except cn.ConicNMFError as error:
            says = str(error)
            assert "; " in says or "\n" in says or "Choose one of" in says, (junk, says)
            assert len(says) < 1500 or place == "a file", (junk, says)


def test_every_module_that_the_reference_lists_is_an_attribute():
    for name in ("coding", "one_factor", "autoencoders", "estimators", "report", "measures"):
        assert getattr(cn, name).__all__


def test_a_number_beside_a_rule_is_an_iteration_limit():
    assert cn.RelDecrease() | 5 == cn.RelDecrease() | cn.MaxIter(5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cn.BetaDivergence(beta=1e308),
        lambda: cn.estimators.MiniBatchNMF(2, beta_loss=-np.inf).fit(V),
        lambda: cn.estimators.non_negative_factorization(V, update_H=np.ones((2, 2))),
    ],
)
def test_exponents_and_switches_that_are_none_are_refused(call):
    with pytest.raises(cn.InputError, match=r"needs (beta|beta_loss|update_H) to be .*, got .*; "):
        call()


def test_windows_wider_than_any_image_leave_all_of_it():
    whole = ae.windows(np.eye(4), 2, (2, 2), width=1e308)
    assert whole.max(axis=0) == pytest.approx([1, 1])
