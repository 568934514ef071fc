"""Wrong input is refused before any work is done, with the rule, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

V = np.random.default_rng(0).random((6, 5)) + 0.1
TRUE = np.ones((6, 2), dtype=bool)


def with_entry(value: float) -> np.ndarray:
    spoiled = V.copy()
    spoiled[1, 2] = value
    return spoiled


def on_w(*terms: Any) -> cn.Problem:
    return cn.factorize(V, 2, W=list(terms))


def solve(solver: Any = None, **options: Any) -> cn.Result:
    return cn.factorize(V, 2).solve(solver, **options)


DATA = {
    "ragged rows": (
        [[1, 2], [3]],
        "rectangular matrix of numbers",
        "give all rows the same length",
    ),
    "a word": ("abc", "is read from abc, which does not exist", "check the path"),
    "words": ([["a", "b"]], "must hold real numbers", ".astype(float)"),
    "objects": (np.array([[None]]), "got dtype object", ".astype(float)"),
    "nothing": (None, "got dtype object", ".astype(float)"),
    "complex": (1j * V, "got dtype complex128", ".astype(float)"),
    "complex, sparse": (sp.csr_array(1j * V), "got dtype complex128", ".astype(float)"),
    "masked": (np.ma.masked_array(V, V > 0.5), "got a masked one", "WeightedFrobenius(~X.mask)"),
    "a vector": (np.ones(3), "non-empty matrix (features × samples), got shape (3,)", "reshape"),
    "a stack": (np.ones((2, 2, 2)), "got shape (2, 2, 2)", "reshape"),
    "a number": (3.0, "got shape ()", "reshape"),
    "no rows": (np.ones((0, 3)), "got shape (0, 3)", "reshape"),
    "no columns, sparse": (sp.coo_array((3, 0)), "got shape (3, 0)", "reshape"),
    "NaN": (with_entry(np.nan), "must be finite, got 1 NaN", "WeightedFrobenius(mask)"),
    "infinite": (with_entry(-np.inf), "must be finite, got 1 NaN", "WeightedFrobenius(mask)"),
    "NaN, sparse": (sp.csr_array(with_entry(np.nan)), "got 1 NaN", "WeightedFrobenius(mask)"),
    "huge": (1e150 * V, "whose square is a normal number, got 1.1e+150", "divide V"),
    "tiny": (1e-150 * V, "whose square is a normal number, got 1.1e-150", "divide V"),
    "huge, single": (np.float32(1e30) * V.astype(np.float32), "got 1.1e+30", "divide V"),
}


@pytest.mark.parametrize("name", DATA)
def test_data_that_are_no_matrix_of_numbers_are_refused(name: str) -> None:
    data, value, remedy = DATA[name]
    with pytest.raises(cn.InputError) as caught:
        cn.factorize(data, 2)
    assert value in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize("rank", [0, -1, 2.5, 2.0, True, "3", None, np.True_])
def test_the_rank_is_a_positive_integer(rank: Any) -> None:
    with pytest.raises(cn.InputError) as caught:
        cn.factorize(V, rank)
    shown = bool(rank) if isinstance(rank, np.bool_) else rank
    assert f"got rank={shown!r}; try rank=4, or rank=(4, 3) for W S H" in str(caught.value)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "weights of another shape": (
        lambda: cn.factorize(V, 2, loss=cn.WeightedFrobenius(np.ones((5, 6)))),
        "weights must have the shape of V, (6, 5), got (5, 6); give one weight",
    ),
    "negative weights": (lambda: cn.WeightedFrobenius(-V), "non-negative and not all zero, got"),
    "weights all zero": (lambda: cn.WeightedFrobenius(0 * V), "from 0.0 to 0.0; use 1 for"),
    "weights all zero, sparse": (lambda: cn.WeightedFrobenius(sp.csr_array((6, 5))), "use 1 for"),
    "weights NaN": (lambda: cn.WeightedFrobenius(np.nan * V), "from nan to nan; use 1 for"),
    "weights in words": (lambda: cn.WeightedFrobenius([["a"]]), "real numbers, got dtype <U1; "),
    "complex weights": (
        lambda: cn.WeightedFrobenius(1j * V),
        "real numbers, got dtype complex128; ",
    ),
    "ragged weights": (
        lambda: cn.WeightedFrobenius([[1, 2], [3]]),
        "rectangular matrix of numbers",
    ),
    "negative scale": (
        lambda: cn.Frobenius(-1.0),
        "number > 0, got scale=-1.0; the default",
    ),
    "scale NaN": (lambda: cn.WeightedFrobenius(V, np.nan), "finite number > 0, got scale=nan"),
    "min above max": (
        lambda: cn.Sparseness(min=0.9, max=0.4),
        "Sparseness needs 0 <= min <= max <= 1, got min=0.9, max=0.4; 0 is dense",
    ),
    "sparseness above one": (lambda: cn.Sparseness(max=2), "got min=0.0, max=2"),
    "sparseness NaN": (
        lambda: cn.Sparseness(min=np.nan),
        "must be a finite number, or a vector with one for each piece, got nan",
    ),
    "each of something else": (
        lambda: cn.Sparseness(each="row"),  # type: ignore[arg-type]
        "each to be one of 'component', 'sample', got each='row'; a component is a column of W",
    ),
    "box swapped": (
        lambda: cn.Box(1, 0),
        "lower <= upper everywhere, got lower=1.0, upper=0.0; swap",
    ),
    "box NaN": (lambda: cn.Box(np.nan, 1), "Box lower must be a number, got NaN; use -inf or inf"),
    "box of another shape": (
        lambda: on_w(cn.Box(0, np.ones((2, 6)))),
        "Box upper must be a number or have the factor's shape (6, 2), got (2, 6)",
    ),
    "fixed by numbers": (
        lambda: cn.Fixed(np.ones((6, 2)), 1.0),
        "Fixed mask must be a boolean array, got float64; compare with == 1",
    ),
    "fixed of another shape": (
        lambda: on_w(cn.Fixed(TRUE.T, 1.0)),
        "must have the factor's shape (6, 2), got (2, 6); give W's mask as features × rank",
    ),
    "fixed to values of another shape": (
        lambda: cn.Fixed(TRUE, np.ones((3, 3))),
        "the mask's shape, got mask=an array of shape (6, 2), values=an array of shape (3, 3)",
    ),
    "fixed to words": (lambda: cn.Fixed(TRUE, "a"), "must hold real numbers, got dtype <U1"),
    "box of two shapes": (
        lambda: cn.Box(np.zeros((2, 2)), np.ones((3, 3))),
        "bounds of one shape, got lower=an array of shape (2, 2), upper=an array",
    ),
    "box of words": (lambda: cn.Box("a", 1), "must hold real numbers, got dtype <U1"),
    "fixed at NaN": (
        lambda: cn.Fixed(TRUE, np.nan),
        "under the mask, got values=nan; mask NaN",
    ),
    "simplex of nothing": (
        lambda: cn.Simplex(0.0),
        "number > 0, got total=0.0; the default is",
    ),
    "ball of nothing": (
        lambda: cn.NormBall(-1.0),
        "number > 0, got radius=-1.0; the default",
    ),
    "reward": (
        lambda: cn.L1(-1.0),
        "a finite number >= 0, got weight=-1.0; try 1",
    ),
    "infinite penalty": (
        lambda: cn.L2(np.inf),
        "a finite number >= 0, got weight=inf",
    ),
    "class for a term": (lambda: on_w(cn.NonNegative), "with parentheses"),
    "word for a term": (lambda: on_w("nonnegatve"), "did you mean NonNegative? Choose one of"),
    "word for a term with settings": (lambda: on_w("L1"), "without a default; write L1(...)"),
    "expression for a term": (
        lambda: on_w(cp.Variable((6, 2)) >= 0),
        "CVXPY constraints go into Convex(lambda X: ...)",
    ),
    "a term without its list": (
        lambda: cn.factorize(V, 2, W=cn.NonNegative()),  # type: ignore[arg-type]
        "W takes a list of constraints and penalties, got NonNegative()",
    ),
    "a number for a list": (
        lambda: cn.factorize(V, 2, H=5),  # type: ignore[arg-type]
        "H takes a list of constraints and penalties, got 5",
    ),
    "word for a loss": (
        lambda: cn.factorize(V, 2, loss="frobenious"),
        "no loss is called 'frobenious'; did you mean Frobenius?",
    ),
    "class for a loss": (
        lambda: cn.factorize(V, 2, loss=cn.Frobenius),  # type: ignore[arg-type]
        "loss must be a Loss such as Frobenius() or the name of one, got <class",
    ),
    "data for a problem": (lambda: cn.solve(V), "problem must be a Problem, got an array of"),  # type: ignore[arg-type]
    "class for a solver": (lambda: solve(cn.HALS), "HALS'>; add parentheses"),
    "word for a solver": (lambda: solve("halls"), "no solver is called 'halls'; did you mean HALS"),
    "number for a solver": (lambda: solve(3), "such as HALS() or the name of one, got 3"),
    "sweeps": (lambda: cn.HALS(sweeps=0), "number >= 1, got sweeps=0; the default is 3"),
    "rounds": (
        lambda: cn.TangentPlane(rounds=0),
        "TangentPlane needs rounds to be",
    ),
    "form": (
        lambda: cn.SparsityMaximization(form="x"),
        "form to be one of 'gauge', 'taylor', got form='x'",
    ),
    "engine": (lambda: cn.TangentPlane(engine="x"), "'native', 'conic', got engine='x'"),
    "upper": (lambda: cn.TangentPlane(upper="x"), "one of 'cone', 'cuts', got upper='x'"),
    "free": (
        lambda: cn.ProjectedGradient(free="x"),
        "'multiplicative', got free='x'; the default is",
    ),
    "backend": (
        lambda: solve(cn.TangentPlane(backend="nope")),
        "installed CVXPY solver, got 'nope'; the installed ones are CLARABEL",
    ),
    "stop by a share": (lambda: solve(stop=2.5), "Stop rule or an iteration limit, got 2.5"),
    "stop by a word": (lambda: solve(stop="10"), "Stop rule or an iteration limit, got '10'"),
    "stop before the start": (
        lambda: solve(stop=-1),
        "whole number >= 0, got limit=-1; 0 returns the start",
    ),
    "negative time": (
        lambda: solve(time_limit=-1),
        "number >= 0 or None, got time_limit=-1; use inf",
    ),
    "time NaN": (lambda: solve(time_limit=np.nan), "got time_limit=nan; use inf for none"),
    "negative seed": (lambda: solve(seed=-1), ">= 0 or None, got seed=-1; the default is 0"),
    "word for a seed": (lambda: solve(seed="a"), ">= 0 or None, got seed='a'"),
    "number for a callback": (
        lambda: solve(callback=3),
        "a function or None, got callback=3",
    ),
    "patience": (
        lambda: cn.RelDecrease(1e-3, 0),
        "got patience=0; the default is 3",
    ),
    "start in words": (
        lambda: solve(init="randum"),
        "no start is called 'randum'; did you mean Random?",
    ),
    "start of one factor": (lambda: solve(init=(np.ones((6, 2)),)), "such as a pair (W, H), got"),
    "start of another shape": (
        lambda: solve(init=(np.ones((6, 2)), np.ones((5, 2)))),
        "start H must have shape (2, 5), got (5, 2); transpose or crop it",
    ),
    "start NaN": (lambda: solve(init=(np.full((6, 2), np.nan), None)), "start W must be finite"),
    "start in letters": (lambda: solve(init=("a", "b")), "start W must hold real numbers"),
    "sparse start": (
        lambda: solve(init=(sp.csr_array((6, 2)), None)),
        "start W must be dense, got a sparse csr array; use .toarray()",
    ),
    "fill": (lambda: cn.NNDSVD("x"), "one of 'zero', 'mean', 'random', got fill='x'"),  # type: ignore[arg-type]
    "negative data for NNDSVD": (
        lambda: cn.factorize(V - 0.5, 2).solve(cn.HALS(), init=cn.NNDSVD()),
        "NNDSVD needs V >= 0, got negative entries; use Random()",
    ),
    "nothing to compare": (lambda: cn.compare(cn.factorize(V, 2), []), "at least one problem and"),
    "nothing to load": (lambda: cn.load("nowhere/at/all"), "all.npz is missing; check the path"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_that_break_a_rule_are_refused(name: str) -> None:
    call, says = REFUSED[name]
    with pytest.raises(cn.InputError) as caught:
        call()
    assert says in str(caught.value)
    assert isinstance(caught.value, ValueError)  # for callers who know nothing of this package


def test_convex_constraints_must_be_convex() -> None:
    with pytest.raises(
        cn.ModelError, match=r"must return convex constraints, got 1.0 <= .*write it"
    ):
        on_w(cn.Convex(lambda W: cp.norm(W, "fro") >= 1))


def test_convex_penalties_must_be_convex_scalars() -> None:
    with pytest.raises(cn.ModelError, match=r"convex scalar, got concave of shape \(\); compose"):
        on_w(cn.ConvexPenalty(lambda W: -cp.norm(W, "fro")))
    with pytest.raises(cn.ModelError, match=r"convex scalar, got affine of shape \(6, 2\)"):
        on_w(cn.ConvexPenalty(lambda W: W))


def test_contradicting_bounds_are_found_when_stated() -> None:
    with pytest.raises(cn.InfeasibleError, match="at least 0 and at most -1; relax one of them"):
        on_w(cn.NonNegative(), cn.Box(-2, -1))


def test_contradicting_constraints_are_found_before_the_first_iteration() -> None:
    seen: list[Any] = []
    problem = on_w(cn.NonNegative(), cn.Convex(lambda W: cp.sum(W) <= -1, name="negative sum"))
    with pytest.raises(cn.InfeasibleError) as caught:
        problem.solve(cn.TangentPlane(), callback=lambda *args: seen.append(args))
    assert "NonNegative(), Convex(negative sum); relax or drop" in str(caught.value)
    assert not seen


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_array])
def test_refused_and_accepted_data_come_back_unchanged(kind: Any) -> None:
    given = kind(V)
    before = given.copy()
    cn.factorize(given, 2).solve(cn.HALS(), stop=2)
    difference = abs(given - before)
    assert difference.max() == 0


def test_duplicate_entries_of_sparse_data_are_added_up() -> None:
    places = (np.array([0, 0, 1]), np.array([1, 1, 0]))
    doubled = sp.coo_array((np.array([1.0, 2.0, 3.0]), places), shape=(2, 2)).tocsr()
    unsummed = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    stored = unsummed.data.copy()
    problem = cn.factorize(unsummed, 1)
    np.testing.assert_array_equal(problem.V.toarray(), doubled.toarray())
    assert problem.V.nnz == 2
    np.testing.assert_array_equal(unsummed.data, stored)


def test_a_bound_on_sparseness_beyond_all_floats_is_refused():
    with pytest.raises(cn.InputError, match="Sparseness min must"):
        cn.Sparseness(min=10**400)
