"""Names reach results of every kind of problem, however it was stated, and survive a file."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import conicnmf as cn
from conicnmf import autoencoders, one_factor

V = np.random.default_rng(0).random((5, 8))
GENES, PEOPLE = tuple("abcde"), tuple(f"p{i}" for i in range(8))
FRAME = pd.DataFrame(V, index=list(GENES), columns=list(PEOPLE))
NAMES = {"feature_names": GENES, "sample_names": PEOPLE}


def expressions(turned=False, price=0.0, **names):
    """Return V ≈ W H in CVXPY, W stated transposed where it is `turned`."""
    W, H = cp.Variable((2, 5) if turned else (5, 2), nonneg=True), cp.Variable((2, 8), nonneg=True)
    loss = cp.sum_squares(V - (W.T if turned else W) @ H) + price * cp.sum_squares(H)
    return cn.Problem(cp.Minimize(loss), **names)


def parametric(**names):
    return expressions(price=cp.Parameter(nonneg=True, value=0.1), **names)


STATED = {
    "terms": lambda: cn.factorize(FRAME, 2),
    "expressions": lambda: expressions(**NAMES),
    "expressions, turned": lambda: expressions(turned=True, **NAMES),
    "expressions, named later": lambda: expressions().named(**NAMES),
    "parameters": lambda: parametric(**NAMES),
    "parameters, named later": lambda: parametric().named(**NAMES),
    "offset": lambda: cn.factorize(FRAME, 2, offset="both"),
    "three factors": lambda: cn.factorize(FRAME, (2, 3)),
    "composed": lambda: cn.compose(cn.Approx(FRAME, "W @ H + b @ 1"), rank=2),
    "composed, a constant first": lambda: cn.compose(
        cn.Approx(FRAME, "D @ W @ H"), rank=2, constants={"D": np.eye(5)}
    ),
    "projective": lambda: one_factor.ProjectiveNMF(FRAME, 2),
    "projective, named later": lambda: one_factor.ProjectiveNMF(V, 2).named(**NAMES),
    "fast codes": lambda: autoencoders.FastCodes(autoencoders.standardize(FRAME), 2),
    "predictive codes": lambda: autoencoders.PredictiveCodes(FRAME, 2),
    "symmetric machine": lambda: autoencoders.SymmetricMachine(V, 2).named(**NAMES),
}


@pytest.mark.parametrize("stated", STATED)
def test_every_side_that_is_as_long_as_the_data_has_their_names(stated, tmp_path):
    result = STATED[stated]().solve(stop=3, throw=False)
    for name, X in result.factors.items():
        frame = result.frame(name)
        constant_before = stated.endswith("first") and name == "W"  # its rows are not the features
        if len(X) == 5 and not constant_before:
            assert tuple(frame.index) == GENES
        if X.shape[1] == 8:
            assert tuple(frame.columns) == PEOPLE
    model = result.reconstruct()
    assert (tuple(model.index), tuple(model.columns)) == (GENES, PEOPLE)
    at = result.predict(["b", "e"], ["p7", "p0"])
    np.testing.assert_allclose(at, [model.loc["b", "p7"], model.loc["e", "p0"]], rtol=1e-6)
    assert cn.load(result.save(tmp_path / "r")).names == result.names


def test_the_model_of_an_autoencoder_is_what_it_decodes():
    for kind in (autoencoders.PredictiveCodes, autoencoders.SymmetricMachine):
        problem = kind(V, 2)
        factors = problem.solve(stop=2).factors
        model = problem.solve(stop=2).reconstruct()
        codes = problem.codes(factors, V)
        np.testing.assert_allclose(model, problem.decoded(factors, codes), atol=1e-12)
    W = one_factor.ProjectiveNMF(V, 2).solve(stop=2)
    np.testing.assert_allclose(W.reconstruct(), W.W @ W.W.T @ V, atol=1e-12)


def test_views_have_models_with_names_of_their_own():
    result = cn.factorize({"x": FRAME, "y": FRAME.iloc[:3]}, 2).solve("HALS", stop=2)
    assert list(result.reconstruct("y").index) == list("abc")
    y = result["W_y"] @ result.H
    np.testing.assert_allclose(result.predict("c", ["p1", "p2"], data="y"), y[2, 1:3])
    with pytest.raises(cn.InputError, match="data must be one of x, y"):
        result.predict("c", "p1")


def test_views_whose_samples_are_in_another_order_are_refused():
    turned = FRAME[list(reversed(PEOPLE))]
    for pair in ({"x": FRAME, "y": turned}, {"x": FRAME, "y": FRAME.rename(columns={"p3": "q"})}):
        with pytest.raises(cn.InputError, match=r"H is shared.*one order, or pass .to_numpy"):
            cn.factorize(pair, 2)
    cn.factorize({"x": FRAME, "y": turned}, 2, sample_names=PEOPLE)
    cn.factorize({"x": FRAME, "y": turned.to_numpy()}, 2)


def test_names_of_data_that_are_not_there_are_refused():
    with pytest.raises(cn.InputError, match="feature_names names the data 'q'; the data are V"):
        expressions().named({"q": GENES})
    with pytest.raises(cn.InputError, match="did you mean feature_names"):
        expressions(feature_name=GENES)


def test_numbers_that_are_names_are_told_from_places():
    years = pd.DataFrame(V[:, :2], columns=[1999, 2000])
    result = cn.factorize(years, 1).solve(stop=1)
    assert result.predict(0, "1999") == result.predict(0, 0)
    with pytest.raises(cn.InputError, match=r"positions from 0 to 1, got 1999.*'1999'"):
        result.predict(0, 1999)


def test_a_data_frame_with_words_is_refused_with_the_column():
    with pytest.raises(cn.InputError, match=r"the column 'kind' of another.*select_dtypes"):
        cn.factorize(FRAME.assign(kind="x"), 2)


def test_a_standardized_frame_keeps_its_names_and_has_the_numbers_of_the_array():
    frame = autoencoders.standardize(FRAME)
    pd.testing.assert_index_equal(frame.columns, FRAME.columns)
    np.testing.assert_array_equal(frame.to_numpy(), autoencoders.standardize(V))


def test_profiles_of_few_features_have_their_names_below():
    axes = cn.factorize(FRAME, 2).solve("HALS", stop=1).plot().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(GENES)
    many = pd.DataFrame(np.ones((90, 3)), index=[f"g{i}" for i in range(90)])
    axes = cn.factorize(many, 2).solve("HALS", stop=1).plot().axes[0]
    assert axes.get_xlabel() == "feature"


def test_the_largest_entries_of_an_offset_go_by_its_own_name():
    result = cn.factorize(FRAME, 2, offset="both").solve("HALS", stop=2)
    for name, known in (("b", GENES), ("c", PEOPLE)):
        (title, entries), *others = result.top(3, of=name).entries.items()
        assert (title, others) == (name, [])
        assert {one for one, _ in entries} <= set(known)
