"""Problems of every shape from terms and from CVXPY are the same, and bad ones are refused."""

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn
from conicnmf.model.composing.text import read_text

RNG = np.random.default_rng(0)
V, U, D = RNG.random((7, 9)), RNG.random((5, 9)), RNG.random((7, 4))
PLUS, ONES = cn.NonNegative(), np.ones((1, 9))


def var(*shape, name, nonneg=True):
    return cp.Variable(shape, name=name, nonneg=nonneg)


def coupled():
    A, B, H = var(7, 2, name="W_a"), var(5, 2, name="W_b"), var(2, 9, name="H")
    loss = cp.sum_squares(V - A @ H) + 0.5 * cp.sum_squares(U - B @ H) + 0.1 * cp.sum(H)
    stated = cn.Problem(cp.Minimize(loss), [cn.sparseness(A, axis=0) >= 0.3])
    terms = cn.factorize(
        {"a": V, "b": U},
        2,
        weight={"b": 0.5},
        W={"a": [PLUS, cn.Sparseness(min=0.3)]},
        H=[PLUS, cn.L1(0.1)],
    )
    return stated, terms


def coupled_by_features():
    W, A, B = var(9, 2, name="W"), var(2, 7, name="H_a"), var(2, 5, name="H_b")
    loss = cp.sum_squares(V.T - W @ A) + cp.sum_squares(U.T - W @ B)
    return cn.Problem(cp.Minimize(loss)), cn.factorize({"a": V.T, "b": U.T}, 2, shared="W")


def offsets():
    W, H = var(7, 2, name="W"), var(2, 9, name="H")
    b, c = var(7, 1, name="b", nonneg=False), var(1, 9, name="c")
    stated = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H - b @ ONES - np.ones((7, 1)) @ c)))
    return stated, cn.factorize(V, 2, offset="both", c=["nonnegative"])


def three_factors():
    W, S, H = var(7, 2, name="W"), var(2, 3, name="S"), var(3, 9, name="H")
    loss = cp.sum_squares(V - W @ S @ H) + 0.2 * cp.sum_squares(S)
    return cn.Problem(cp.Minimize(loss)), cn.factorize(V, (2, 3), S=[PLUS, cn.L2(0.2)])


def constants():
    W, H = var(4, 2, name="W"), var(2, 9, name="H")
    stated = cn.Problem(cp.Minimize(3 * cp.sum_squares(V - D @ W @ H)))
    text = cn.Approx(V, "D @ W @ H", loss="frobenius", weight=3)
    return stated, cn.compose(text, rank=2, constants={"D": D})


def two():
    W, H = var(7, 2, name="W"), var(2, 9, name="H")
    return cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H))), cn.factorize(V, 2)


DOORS = {
    f.__name__: f for f in (two, coupled, coupled_by_features, offsets, three_factors, constants)
}


@pytest.mark.parametrize("make", DOORS.values(), ids=DOORS)
def test_both_doors_state_the_same(make):
    stated, terms = make()
    assert set(stated.shapes.items()) == set(terms.shapes.items())
    assert {b.name: b.flipped for b in stated.blocks} == {b.name: b.flipped for b in terms.blocks}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = {name: rng.standard_normal(shape) for name, shape in terms.shapes.items()}
        if make is coupled:
            X["H"] = np.abs(X["H"])
        assert stated.objective(X) == pytest.approx(terms.objective(X), rel=1e-10)
        here, there = stated.violations(X), terms.violations(X)
        assert sorted(here.values()) == pytest.approx(sorted(there.values()))


@pytest.mark.parametrize("make", DOORS.values(), ids=DOORS)
def test_both_doors_lead_to_the_same_answer(make):
    stated, terms = make()
    rng = np.random.default_rng(0)
    init = {name: rng.random(shape) for name, shape in terms.shapes.items()}
    found = [
        problem.solve("TangentPlane", init=init, stop=15).objective for problem in (stated, terms)
    ]
    # Updates go in the order of the variables, which may differ where views are listed otherwise.
    assert found[0] == pytest.approx(found[1], rel=0.05)
    if [b.name for b in stated.blocks] == [b.name for b in terms.blocks]:
        assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_names_at_the_door_stand_for_objects():
    problem = cn.factorize({"a": V, "b": U}, 2, loss={"a": "frobenius"}, W=["nonnegative"])
    assert repr(problem) == repr(cn.factorize({"a": V, "b": U}, 2))


def test_a_loss_is_multiplied_by_its_weight():
    mask = V > 0.5
    loss = cn.WeightedFrobenius(mask, scale=2.0, cap=3.0)
    (fit,) = cn.factorize(V, 2, loss=loss, weight=0.5).fits
    assert (fit.loss.scale, fit.loss.cap) == (1.0, 1.5)

    class Own(cn.Frobenius.__bases__[0]):  # a loss without a scale
        pass

    with pytest.raises(cn.InputError, match="no setting scale"):
        cn.factorize(V, 2, loss=Own(), weight=2)


def test_sizes_follow_from_each_other():
    text = cn.Approx(V, "W @ S @ H"), cn.Approx(U, "K @ T @ H")
    problem = cn.compose(*text, rank=(2, 3, 4))
    assert problem.shapes["S"] == (2, 3)
    assert problem.shapes["T"] == (4, 3)
    assert problem.shapes["K"] == (5, 4)
    wide = cn.compose(cn.Approx(V, "W.T @ H"), shapes={"W": (3, 7)})
    assert wide.shapes == {"W": (3, 7), "H": (3, 9)}
    assert not wide.variables["W"].flipped


def test_terms_see_a_transposed_variable_as_the_user_does():
    problem = cn.compose(cn.Approx(V, "W.T @ H"), rank=3, W=[cn.Fixed(np.eye(3, 7) > 0, 0.5)])
    W = problem.solve(stop=5)["W"]
    assert W.shape == (3, 7)
    np.testing.assert_allclose(np.diag(W), 0.5)


def test_texts_mean_what_they_mean_in_numpy():
    names = {name: RNG.random((3, 3)) for name in "ABCD"}
    for text in ("A @ B", "(A @ B).T @ C", "-A @ B.T + 2 * (C @ D)", "A * B @ C - (D @ A * 0.5).T"):
        total = 0
        for product in read_text(text):
            value = product.scale
            for symbol in product.symbols:
                own = names[symbol.name].T if symbol.flipped else names[symbol.name]
                if symbol.mask:
                    mask = names[symbol.mask]
                    own = (mask.T if symbol.mask_flipped else mask) * own
                value = own * value if np.isscalar(value) else value @ own
            total = total + value
        np.testing.assert_allclose(total, eval(text, {}, names))


BAD = {
    "no expression": (lambda: cn.Approx(V, "W @"), "is not an expression"),
    "no text": (lambda: cn.Approx(V, 3), "model to be a text, got model=3"),
    "function": (
        lambda: cn.Approx(V, "exp(W) @ H"),
        "'exp\\(W\\)', which is not a product of names",
    ),
    "number": (lambda: cn.Approx(V, "W @ 2"), "'2', which is not a product"),
    "entrywise product": (lambda: cn.Approx(V, "(W @ H) * (A @ B)"), "write products with @"),
    "weight": (lambda: cn.Approx(V, "W @ H", weight=-1), "number > 0, got weight=-1"),
    "twice": (lambda: compose("W @ W"), "W appears 2 times"),
    "twice in a sum": (lambda: compose("W @ H + W @ K"), "W appears 2 times"),
    "mask is a variable": (lambda: compose("M * W @ H"), "must be a constant times a variable"),
    "no variable": (lambda: compose("D @ D", constants={"D": np.eye(7)}), "has no variable"),
    "ones inside": (lambda: compose("W @ 1 @ H"), "ones must be at an end"),
    "no rank": (lambda: cn.compose(cn.Approx(V, "W @ H")), "known neither from data"),
    "rank too long": (lambda: compose("W @ H", rank=(2, 3)), "one number too many, 3"),
    "sizes": (
        lambda: cn.compose(cn.Approx(V, "W @ H"), cn.Approx(U[:, :4], "K @ H"), rank=2),
        "columns of H must be one number, got 9 by the columns of V1 and 4 by the columns of V2",
    ),
    "constant's size": (
        lambda: compose("D @ W @ H", constants={"D": np.ones((6, 2))}),
        "rows of D must be one number, got 6 by the constant D and 7 by the rows of V",
    ),
    "constant's shape": (lambda: compose("D @ H", constants={"D": np.ones(7)}), "must be a matrix"),
    "shape of no variable": (
        lambda: compose("W @ H", shapes={"X": (1, 2)}),
        "the variables are W, H",
    ),
    "shape": (
        lambda: compose("W @ H", shapes={"W": 3}),
        "under each name or None, got shapes",
    ),
    "terms of no variable": (lambda: compose("W @ H", S=[]), "the variables are W, H"),
    "no data": (lambda: cn.compose(rank=2), "needs data"),
    "no Approx": (lambda: cn.compose(V, rank=2), "compose takes Approx"),
    "same names": (
        lambda: cn.compose(*[cn.Approx(V, "W @ H", name="x")] * 2, rank=2),
        "two approximations are called 'x'",
    ),
    "S without a pair": (lambda: cn.factorize(V, 2, S=[]), "pass a pair as rank"),
    "b without offset": (lambda: cn.factorize(V, 2, b=[]), 'offset="feature"'),
    "c without offset": (lambda: cn.factorize(V, 2, offset="feature", c=[]), 'offset="sample"'),
    "offset": (lambda: cn.factorize(V, 2, offset="rows"), "offset to be one of 'feature'"),
    "triple": (lambda: cn.factorize(V, (2, 3, 4)), "got rank=\\(2, 3, 4\\); try rank=4, or"),
    "rank 0": (lambda: cn.factorize(V, (2, 0)), "got rank=\\(2, 0\\); try rank=4"),
    "shared": (
        lambda: cn.factorize(V, 2, shared="S"),
        "shared to be one of 'H', 'W', got shared='S'",
    ),
    "view's name": (lambda: cn.factorize({"a b": V}, 2), "letters, digits and underscores"),
    "no views": (lambda: cn.factorize({}, 2), "V has no views"),
    "unknown view": (lambda: cn.factorize({"a": V}, 2, weight={"x": 1}), "the views are a"),
    "views of one matrix": (lambda: cn.factorize(V, 2, loss={"a": "frobenius"}), "single matrix"),
    "terms by view of what is shared": (
        lambda: cn.factorize({"a": V, "b": U}, 2, H={"a": []}),
        "H is shared by all views",
    ),
    "samples differ": (
        lambda: cn.factorize({"a": V, "b": U[:, :3]}, 2),
        "9 by the columns of a and 3 by the columns of b",
    ),
    "weight of zero": (lambda: cn.factorize(V, 2, weight=0), "number > 0, got weight=0"),
}


def compose(text, rank=2, **options):
    return cn.compose(cn.Approx(V, text), rank=rank, **options)


@pytest.mark.parametrize(("state", "words"), BAD.values(), ids=BAD)
def test_what_does_not_fit_together_is_refused_with_the_reason(state, words):
    with pytest.raises(cn.InputError, match=words):
        state()


def test_inputs_come_back_unchanged():
    before = V.copy(), D.copy()
    views = {"a": V, "b": U}
    cn.factorize(views, (2, 3), offset="both").solve(stop=2)
    cn.compose(cn.Approx(V, "D @ W @ H"), rank=2, constants={"D": D}).solve(stop=2)
    assert list(views) == ["a", "b"]
    np.testing.assert_array_equal(V, before[0])
    np.testing.assert_array_equal(D, before[1])


def test_single_precision_is_kept_in_every_shape():
    V32, U32 = V.astype(np.float32), U.astype(np.float32)
    for problem in (
        cn.factorize({"a": V32, "b": U32}, 2),
        cn.factorize(V32, 2, offset="both"),
        cn.factorize(V32, (2, 3)),
        cn.compose(cn.Approx(V32, "D @ W @ H"), rank=2, constants={"D": D}),
    ):
        result = problem.solve("HALS", stop=3)
        assert {X.dtype for X in result.factors.values()} == {np.dtype(np.float32)}
