"""What is outside the rules is refused with the rule, the culprit and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

V = np.random.default_rng(0).random((6, 5)) + 0.1
OTHER = cp.Variable(3, name="Z")
CUBE = cp.Variable((2, 2, 2), name="Z")
NUMBER = cp.Parameter(name="p", nonneg=True, value=2.0)


def squares(W: Any, H: Any) -> Any:
    return cp.sum_squares(V - W @ H)


def loss(W: Any, H: Any) -> Any:
    return cp.Minimize(squares(W, H))


class Refusal(NamedTuple):
    """A model, the error it must raise, and what the message must hold: rule, value, remedy."""

    error: type[Exception]
    says: tuple[str, str, str]
    objective: Callable[[Any, Any], Any] = loss
    constraints: Callable[[Any, Any], Any] = lambda W, H: []
    attributes: dict[str, Any] = {}  # noqa: RUF012


def objective(write: Callable[[Any, Any], Any], *says: str, error: Any = cn.ModelError) -> Refusal:
    return Refusal(error, says, lambda W, H: cp.Minimize(write(W, H)))  # type: ignore[arg-type]


def constraint(write: Callable[[Any, Any], Any], *says: str, error: Any = cn.ModelError) -> Refusal:
    return Refusal(error, says, constraints=write)  # type: ignore[arg-type]


CONVEX = "must be convex"
REMEDY = "write it with convex atoms"
KNOWN = "every variable must be in the objective"
CONSTANTS = "use constants for what is known"
NUMBERS = "put their values in as constants"
FINITE = "the constants of a model must be finite"
BAND = "0 <= min <= max <= 1"

REFUSALS = {
    "W.T @ W": objective(
        lambda W, H: squares(W, H) + cp.sum(W.T @ W), CONVEX, "W.T @ W is unknown", REMEDY
    ),
    "wrong sense": Refusal(
        cn.ModelError,
        (CONVEX, "is concave", REMEDY),
        lambda W, H: cp.Maximize(squares(W, H)),
    ),
    "W H Vᵀ W H": objective(
        lambda W, H: cp.sum_squares(V - W @ H @ V.T @ W @ H),
        "the objective as a function of",
        "W @ fixed H @ [5×6] @ W is unknown",
        REMEDY,
    ),
    "concave loss": objective(
        lambda W, H: cp.sum(cp.sqrt(V - W @ H)), CONVEX, "is concave", REMEDY
    ),
    "negative weights": objective(
        lambda W, H: cp.sum(cp.multiply(V - 0.5, cp.square(V - W @ H))),
        CONVEX,
        "[6×5] * Power",
        REMEDY,
    ),
    "three axes": objective(
        lambda W, H: squares(W, H) + cp.sum(CUBE),
        "non-empty matrices",
        "variable Z of shape (2, 2, 2)",
        "cp.Variable((rows, columns))",
    ),
    "another variable in a constraint": constraint(
        lambda W, H: [cp.sum(OTHER) == 1], KNOWN, "Z appears in a constraint alone", CONSTANTS
    ),
    "one variable twice": objective(
        lambda W, H: cp.sum_squares(np.ones((6, 6)) - W @ W.T), CONVEX, "W @ W.T", REMEDY
    ),
    "no variable": objective(
        lambda W, H: cp.sum_squares(V), "must mention a variable", "got none", "cp.Minimize"
    ),
    "bare expression": Refusal(
        cn.ModelError, ("must be cp.Minimize", "got quad_over_lin", "wrap the expression"), squares
    ),
    "a CVXPY problem": Refusal(
        cn.ModelError,
        ("must be cp.Minimize", "got Problem", "cn.factorize"),
        lambda W, H: cp.Problem(loss(W, H)),
    ),
    "no weight": objective(
        lambda W, H: 0 * squares(W, H),
        "finite weight other than 0",
        "got 0 times",
        "leave the factor",
    ),
    "nothing observed": objective(
        lambda W, H: cp.sum_squares(cp.multiply(np.zeros((6, 5)), V - W @ H)),
        "not all zero",
        "from 0.0 to 0.0",
        "use 1 for observed entries",
        error=cn.InputError,
    ),
    "missing data": objective(
        lambda W, H: cp.sum_squares(np.where(V > 0.3, V, np.nan) - W @ H),
        FINITE,
        "NaN or infinite entries in one of shape (6, 5)",
        "cp.multiply(M, V - W @ H)",
        error=cn.InputError,
    ),
    "infinite weight": objective(
        lambda W, H: np.inf * squares(W, H),
        FINITE,
        "got 1 NaN or inf",
        "set missing data to 0",
        error=cn.InputError,
    ),
    "NaN as a bound": constraint(
        lambda W, H: [W[0, 0] <= np.nan], FINITE, "got 1 NaN", "set missing", error=cn.InputError
    ),
    "complex data": objective(
        lambda W, H: cp.sum_squares(1j * V - W @ H),
        "holds real numbers",
        "complex constant of shape (6, 5)",
        "take its real part",
        error=cn.InputError,
    ),
    "data too large": objective(
        lambda W, H: cp.sum_squares(1e200 * V - W @ H),
        "whose square is a normal number",
        "e+200",
        "divide V by that entry",
        error=cn.InputError,
    ),
    "a constraint on both": constraint(
        lambda W, H: [cp.sum(W) == cp.sum(H)],
        "must mention one variable",
        "mentions several",
        "split it",
    ),
    "a constraint on the product": constraint(
        lambda W, H: [W @ H <= 1], "must mention one variable", "W @ H <= 1.0", "split it"
    ),
    "a constraint on neither": constraint(
        lambda W, H: [cp.Constant(1) <= 2],
        "must mention one variable",
        "mentions none",
        "leave it out",
    ),
    "on a sphere": constraint(
        lambda W, H: [cp.square(W) == 1],
        "affine == affine",
        "Power(W, 2.0) == 1.0",
        "write <= or >=",
    ),
    "orthogonal": constraint(
        lambda W, H: [W.T @ W <= 1], "unknown curvature", "W.T @ W is unknown", "cn.sparseness"
    ),
    "one of several values": constraint(
        lambda W, H: [cp.constraints.FiniteSet(W[0, 0], [0, 1])],
        "not convex",
        "FiniteSet(W[0, 0]",
        "bound the entries",
    ),
    "a term": constraint(
        lambda W, H: [cn.NonNegative()],
        "must be CVXPY constraints",
        "got NonNegative()",
        "belong to cn.factorize",
    ),
    "a truth value": constraint(
        lambda W, H: [True], "must be CVXPY constraints", "got True", "cn.factorize"
    ),
    "no constraint": constraint(
        lambda W, H: 5, "must be CVXPY constraints", "got 5", "cn.factorize"
    ),
    "contradicting bounds": constraint(
        lambda W, H: [W >= 0, W <= -1],
        "contradict each other",
        "entry (0, 0) must be at least 0 and at most -1",
        "relax one of them",
        error=cn.InfeasibleError,
    ),
    "contradicting values": constraint(
        lambda W, H: [W[1, 2] == 0.5, W[1] <= 0.4],
        "contradict each other",
        "entry (1, 2) must be at least 0.5 and at most 0.4",
        "relax one of them",
        error=cn.InfeasibleError,
    ),
    "contradicting the sign": constraint(
        lambda W, H: [H[:, 0] == -0.5],
        "constraints on H contradict",
        "at least 0 and at most -0.5",
        "relax one of them",
        error=cn.InfeasibleError,
    ),
    "never true": constraint(
        lambda W, H: [cp.sum(0 * W) <= -1],
        "can never hold",
        "0 <= -1",
        "drop or correct it",
        error=cn.InfeasibleError,
    ),
    "contradicting sparseness": constraint(
        lambda W, H: [cn.sparseness(W, axis=0) >= 0.8, cn.sparseness(W, axis=0) <= 0.3],
        "contradict each other",
        "at least 0.8 and at most 0.3",
        "lower the first or raise the second",
        error=cn.InfeasibleError,
    ),
    "sparseness above one": constraint(
        lambda W, H: [cn.sparseness(W, axis=0) >= 1.8],
        BAND,
        "min=1.8",
        "0 is dense",
        error=cn.InputError,
    ),
    "sparseness in one line": constraint(
        lambda W, H: [0.2 <= cn.sparseness(W, axis=0) <= 0.8],
        "has no truth value",
        "a two-sided band",
        "as two constraints",
    ),
    "sparseness, strict": constraint(
        lambda W, H: [cn.sparseness(W, axis=0) > 0.8], "not strict", "got > 0.8", "write >="
    ),
    "sparseness by component": constraint(
        lambda W, H: [cn.sparseness(W, axis=0) >= np.full(7, 0.1)],
        "numbers, and is compared with 7",
        "axis=0",
        "give one level for all",
    ),
    "sparseness of a product": constraint(
        lambda W, H: [cn.sparseness(W @ H, axis=0) >= 0.3],
        "takes a factor variable or a part of one",
        "W @ H",
        "cn.sparseness(W[:6], axis=0)",
    ),
    "sparseness of a whole": constraint(
        lambda W, H: [cn.sparseness(cp.vec(W, order="C")) >= 0.3],
        "several rows and columns",
        "cn.sparseness(",
        "cp.norm1(x) <= c",
    ),
    "sparseness of a stranger": constraint(
        lambda W, H: [cn.sparseness(OTHER, axis=0) >= 0.3], KNOWN, "Z appears", CONSTANTS
    ),
    "sparseness along no axis": constraint(
        lambda W, H: [cn.sparseness(W, axis=2) >= 0.3],
        "0 is each column, as for W; 1 is each row",
        "axis=2",
        error=cn.InputError,
    ),
    **{
        f"attribute {name}": Refusal(
            cn.ModelError,
            ("only nonneg, nonpos, bounds", f"the attribute {name}", "state it as a constraint"),
            attributes={name: value},
        )
        for name, value in {
            "integer": True,
            "boolean": True,
            "pos": True,
            "complex": True,
            "sparsity": [(0, 1), (0, 1)],
        }.items()
    },
    "bounds by parameters": Refusal(
        cn.ModelError,
        ("must be numbers", "factor W", "put their values in"),
        attributes={"bounds": [0, cp.Constant(np.ones((6, 3)))]},
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_models_outside_the_rules_are_refused(name: str) -> None:
    refusal = REFUSALS[name]
    W = cp.Variable((6, 3), name="W", **refusal.attributes)
    H = cp.Variable((3, 5), name="H", nonneg=True)
    with pytest.raises(refusal.error) as caught:
        cn.Problem(refusal.objective(W, H), refusal.constraints(W, H))
    for part in refusal.says:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_semidefinite_factors_are_refused() -> None:
    W, H = cp.Variable((3, 3), PSD=True), cp.Variable((3, 5))
    with pytest.raises(cn.ModelError, match="the attribute PSD"):
        cn.Problem(cp.Minimize(cp.sum_squares(V[:3] - W @ H)))


def test_a_fixed_norm_is_served_where_columns_are_components() -> None:
    h = cp.Variable(5, name="h")
    with pytest.raises(cn.ModelError, match=r"wᵀBw = 1 is about the columns of h, but it is to"):
        cn.Problem(cp.Minimize(cp.sum_squares(V[:, 0] - V @ h)), [cp.sum_squares(h) == 1])


def test_shapes_that_do_not_fit_are_refused_by_cvxpy() -> None:
    W, H = cp.Variable((6, 3)), cp.Variable((3, 5))
    with pytest.raises(ValueError, match="Incompatible dimensions"):
        cp.sum_squares(V - H @ W)
