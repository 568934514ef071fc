"""The twenty reverse-convex models of the page on modeling: feasible, improved, no worse than dccp."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

PAGE = (Path(__file__).parents[2] / "docs" / "modelling.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Twenty reverse-convex models")[1]
NAMES = re.findall(r'^    "(.+?)": \(', SECTION, flags=re.MULTILINE)
FEW = NAMES[::4]


def stated():
    """Run the page down to where a model is solved."""
    names: dict = {}
    block = re.search(r"```python\n(.*?)\nobjective, constraints", SECTION, flags=re.DOTALL)[1]
    exec(block, names)
    return names


def some(names, few):
    return [n if n in few else pytest.param(n, marks=pytest.mark.long) for n in names]


def is_band(constraint):
    return not isinstance(constraint, cp.Constraint)


def test_there_are_twenty():
    assert len(NAMES) == len(set(NAMES)) == len(stated()["models"]) == 20


@pytest.mark.parametrize("name", some(NAMES, FEW))
def test_answers_are_feasible_and_better_than_their_start(name):
    page = stated()
    objective, constraints = page["models"][name]
    problem = cn.Problem(cp.Minimize(objective), constraints)
    result = problem.solve(seed=1, stop=8)
    assert result.objective < result.history.objective[0]
    problem.assign(result)
    assert objective.value == pytest.approx(result.objective, rel=1e-9)
    for constraint in constraints:
        if is_band(constraint):
            least = cn.sparseness(np.array(constraint.part.value), axis=constraint.axis)
            assert (least >= np.array(constraint.min) - 1e-6).all()
        else:
            assert np.max(constraint.violation()) <= 1e-6
    assert min(v.value.min() for v in (page["W"], page["H"])) >= 0


UNANSWERED = {"one group of features a part", "half-norms of codes"}


@pytest.mark.parametrize("name", some(NAMES, ["parts of a least size", "shares of low entropy"]))
def test_one_block_is_as_good_as_dccps(name):
    pytest.importorskip("dccp")
    page = stated()
    loss, W, H = (page[n] for n in ("loss", "W", "H"))
    _, constraints = page["models"][name]
    if NAMES.index(name) >= 18:
        pytest.skip("dccp takes no objective with concave parts")
    free, other = (W, H) if NAMES.index(name) < 12 else (H, W)
    held = cp.Constant(np.random.default_rng(1).random(other.shape))
    fit = loss.tree_copy({id(other): held})
    own = [c for c in constraints if is_band(c) or c.variables()[0] is free]
    problem = cn.Problem(cp.Minimize(fit), own)
    start = problem.start(None, np.random.default_rng(0))
    result = problem.solve(init=start, stop=cn.RelDecrease(1e-6) | cn.MaxIter(300))
    assert result.max_violation <= 1e-6
    (free.value,) = start.values()
    theirs = _dccp(fit, [part for c in own for part in (_norms(c) if is_band(c) else [c])])
    assert (theirs is None) == (name in UNANSWERED)
    assert theirs is None or result.objective <= theirs * (1 + 1e-5)


def _norms(bound):
    """Return a bound on sparseness as dccp can read it."""
    X = bound.part
    root = np.sqrt(X.shape[0])
    levels = np.broadcast_to(bound.min, X.shape[1])
    ratios = root - (root - 1) * levels
    return [cp.norm1(X[:, j]) <= c * cp.norm2(X[:, j]) for j, c in enumerate(ratios)]


def _dccp(fit, constraints):
    """Return the objective at which dccp ends, nothing where it fails."""
    import dccp  # noqa: F401, it registers the method

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            cp.Problem(cp.Minimize(fit), constraints).solve(method="dccp", solver="CLARABEL")
        except Exception:
            return None
    fits = max(float(np.max(c.violation())) for c in constraints) <= 1e-5
    return float(fit.value) if fits else None


SMALL = {
    "norm": (lambda w: cp.norm(w) >= 1.5, lambda P: np.linalg.norm(P, axis=0) >= 1.5),
    "peak": (lambda w: cp.max(w) >= 1.2, lambda P: P.max(axis=0) >= 1.2),
    "one is off": (lambda w: cp.min(w) <= 0.05, lambda P: P.min(axis=0) <= 0.05),
    "half-norm": (
        lambda w: cp.sum(cp.sqrt(w)) <= 1.2,
        lambda P: np.sqrt(P).sum(axis=0) <= 1.2,
    ),
    "ratio": (
        lambda w: cp.norm1(w) <= 1.3 * cp.norm2(w),
        lambda P: P.sum(axis=0) <= 1.3 * np.linalg.norm(P, axis=0),
    ),
    "apart": (
        lambda w: cp.norm(w - 0.6) >= 0.8,
        lambda P: np.linalg.norm(P - 0.6, axis=0) >= 0.8,
    ),
}


@pytest.mark.parametrize("name", some(SMALL, ["peak", "ratio"]))
def test_three_numbers_are_as_good_as_the_best_of_a_grid(name):
    state, holds = SMALL[name]
    rng = np.random.default_rng(5)
    D, y = rng.random((6, 3)), rng.random((6, 1))
    w = cp.Variable((3, 1), nonneg=True)
    problem = cn.Problem(cp.Minimize(cp.sum_squares(y - D @ w)), [state(w), w <= 2])
    axis = np.linspace(0, 2, 81)
    points = np.stack([g.ravel() for g in np.meshgrid(axis, axis, axis)])
    values = ((y - D @ points) ** 2).sum(axis=0)
    best = values[holds(points)].min()
    found = min(problem.solve(seed=seed).objective for seed in range(6))
    assert found <= best * (1 + 1e-6)
