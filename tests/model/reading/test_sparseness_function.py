"""`sparseness` of arrays is Hoyer's formula; of variables, something to bound."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn


def hoyer(x: np.ndarray) -> float:
    root = np.sqrt(len(x))
    return float((root - np.abs(x).sum() / np.sqrt((x * x).sum())) / (root - 1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_matrices_are_measured_along_an_axis(axis: int, scale: float) -> None:
    X = scale * np.random.default_rng(0).standard_normal((6, 4))
    kept = X.copy()
    expected = [hoyer(piece / scale) for piece in (X.T if axis == 0 else X)]
    np.testing.assert_allclose(cn.sparseness(X, axis=axis), expected, atol=1e-12)
    np.testing.assert_array_equal(X, kept)


def test_a_vector_is_one_piece() -> None:
    assert cn.sparseness([0.0, 0.0, 2.0, 0.0]) == pytest.approx(1.0)
    assert cn.sparseness(np.ones(9)) == pytest.approx(0.0, abs=1e-12)


def test_zero_has_no_sparseness() -> None:
    found = cn.sparseness(np.array([[0.0, 1.0], [0.0, 0.0]]), axis=0)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("X", "axis", "says"),
    [
        (np.ones(3), 1, r"needs a matrix.*got shape \(3,\)"),
        (np.ones((2, 2, 2)), 0, r"needs a matrix.*got shape \(2, 2, 2\)"),
        (1.0, 0, r"got shape \(\)"),
        (np.ones((2, 2)), -1, "axis=-1"),
        ([["a"]], 0, "must hold real numbers"),
        (np.eye(2) * 1j, 0, "must hold real numbers, got dtype complex128"),
    ],
)
def test_other_input_is_refused(X: Any, axis: int, says: str) -> None:
    with pytest.raises(cn.InputError, match=says):
        cn.sparseness(X, axis=axis)


def test_a_variable_gives_bounds_on_either_side() -> None:
    W = cp.Variable((4, 2))
    low, high, both = cn.sparseness(W) >= 0.2, cn.sparseness(W) <= 0.8, cn.sparseness(W) == 0.5
    assert [(b.min, b.max) for b in (low, high, both)] == [(0.2, 1.0), (0.0, 0.8), (0.5, 0.5)]
    turned = np.float64(0.2) <= cn.sparseness(W)
    assert (turned.min, turned.max) == (0.2, 1.0)
