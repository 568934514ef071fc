"""Results are read by name or by CVXPY variable, and written back on request."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

RNG = np.random.default_rng(0)
V1, V2 = RNG.random((7, 9)), RNG.random((5, 9))


def stated():
    """Return a coupled problem whose shared variable is written transposed, and its variables."""
    A = cp.Variable((7, 2), nonneg=True, name="genes")
    B = cp.Variable((5, 2), nonneg=True, name="cells")
    H = cp.Variable((9, 2), nonneg=True, name="people")
    objective = cp.sum_squares(V1 - A @ H.T) + 0.5 * cp.sum_squares(V2 - B @ H.T)
    return cn.Problem(cp.Minimize(objective)), objective, (A, B, H)


def test_a_variable_is_read_in_the_users_own_shape():
    problem, _, (A, _B, H) = stated()
    result = problem.solve("HALS", stop=20)
    assert result[H].shape == (9, 2)
    assert result["people"].shape == (2, 9)
    assert np.array_equal(result[H].T, result["people"])
    assert np.array_equal(result[A], result["genes"])
    assert A in result
    assert "cells" in result
    assert "W" not in result
    assert cp.Variable((7, 2)) not in result


def test_written_back_the_stated_objective_is_the_results():
    problem, objective, variables = stated()
    result = problem.solve("HALS", stop=20)
    assert all(X.value is None for X in variables)
    problem.assign(result)
    assert objective.value == pytest.approx(result.objective, rel=1e-10)


def test_an_unknown_variable_is_refused_with_the_names():
    problem, _, _ = stated()
    result = problem.solve("HALS", stop=2)
    for read in (lambda: result.W, lambda: result["W"], lambda: result[cp.Variable(2)]):
        with pytest.raises(cn.InputError, match="genes, people, cells"):
            read()
    with pytest.raises(cn.InputError, match="stated from terms"):
        cn.factorize(V1, 2).assign(result)
    other = cn.factorize(V1, 2).solve(stop=1)
    with pytest.raises(cn.InputError, match="no genes of shape"):
        problem.assign(other)


def test_errors_of_each_fit_are_shown_saved_and_loaded(tmp_path):
    result = stated()[0].solve("HALS", stop=20)
    W1, W2, H = (result[name] for name in ("genes", "cells", "people"))
    assert result.relative_errors == pytest.approx(
        {
            "V1": np.sum((V1 - W1 @ H) ** 2) / np.sum(V1**2),
            "V2": np.sum((V2 - W2 @ H) ** 2) / np.sum(V2**2),
        }
    )
    assert cn.load(result.save(tmp_path / "both")).relative_errors == result.relative_errors
    assert "V2 " in repr(result)
    assert "V2 " in result._repr_html_()
    assert "(V " not in repr(cn.factorize(V1, 2).solve(stop=1))


def test_a_loaded_result_has_names_but_no_cvxpy_variables(tmp_path):
    problem, _, (A, _, _) = stated()
    again = cn.load(problem.solve("HALS", stop=2).save(tmp_path / "r"))
    assert "genes" in again
    assert A not in again
    problem.assign(again)
    assert np.array_equal(A.value, again["genes"])


def test_the_error_in_all_does_not_see_how_much_a_view_counts():
    views = {"a": V1, "b": V2}
    result = cn.factorize(views, 2, weight={"a": 0.5, "b": 4.0}).solve("HALS", stop=3)
    pairs = [(V, result[f"W_{name}"] @ result.H) for name, V in views.items()]
    errors, sizes = (sum(np.sum((V - c * X) ** 2) for V, X in pairs) for c in (1, 0))
    assert result.relative_error == pytest.approx(errors / sizes, rel=1e-10)


def test_a_single_variable_is_called_by_its_side():
    A, h, w = V1, cp.Variable((V1.shape[1], 3)), cp.Variable((3, V1.shape[0]))
    right = cn.Problem(cp.Minimize(cp.sum_squares(np.ones((len(A), 3)) - A @ h)))
    left = cn.Problem(cp.Minimize(cp.sum_squares(np.ones((3, A.shape[1])) - w @ A)))
    assert (list(right.variables), list(left.variables)) == (["H"], ["W"])
    codes = cp.Variable((A.shape[1], 1))  # one sample
    assert list(cn.Problem(cp.Minimize(cp.sum_squares(A[:, :1] - A @ codes))).variables) == ["H"]
