"""Names of features and samples come out as they went in, and change no number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.estimators import NMF
from conicnmf.report import html_report

V = np.random.default_rng(0).random((5, 4))
FRAME = pd.DataFrame(V, index=list("abcde"), columns=["w", "x", "y", "z"])


@pytest.fixture(scope="module")
def result():
    return cn.factorize(FRAME, 2).solve("HALS")


def test_names_change_no_number_and_no_digest(result):
    plain = cn.factorize(V, 2)
    same = plain.solve("HALS")
    np.testing.assert_array_equal(same.W, result.W)
    assert same.digest == result.digest
    assert not same.names


def test_frames_have_the_labels_of_the_data(result):
    pd.testing.assert_frame_equal(
        result.W_frame,
        pd.DataFrame(result.W, index=list("abcde"), columns=["component 1", "component 2"]),
    )
    assert list(result.H_frame.columns) == ["w", "x", "y", "z"]
    pd.testing.assert_frame_equal(
        result.reconstruct(),
        pd.DataFrame(result.W @ result.H, index=list("abcde"), columns=["w", "x", "y", "z"]),
    )
    assert isinstance(cn.factorize(V, 2).solve("HALS", stop=1).reconstruct(), np.ndarray)


def test_the_largest_entries_are_listed_by_name(result):
    for of, axis_names in (("W", "abcde"), ("H", "wxyz")):
        X = result.W if of == "W" else result.H.T
        listed = result.top(2, of=of).entries
        for k, entries in enumerate(listed.values()):
            wanted = np.argsort(-X[:, k])[:2]
            assert [name for name, _ in entries] == [axis_names[i] for i in wanted]
            np.testing.assert_array_equal([value for _, value in entries], X[wanted, k])
    assert result.top(2).to_frame().shape == (2, 2)
    hostile = cn.factorize(V, 1, feature_names=["<b>", "&", "c", "d", "e"]).solve(stop=1)
    assert "<b>" not in hostile.top(5)._repr_html_()


def test_entries_are_predicted_by_name_or_place(result):
    product = result.W @ result.H
    np.testing.assert_allclose(
        result.predict(["a", "e"], ["z", "w"]), [product[0, 3], product[4, 0]]
    )
    np.testing.assert_allclose(result.predict("c", [1, 2]), product[2, 1:3])
    with pytest.raises(cn.InputError, match=r"rows must be names.*got 'q'; for example a, b"):
        result.predict("q", "w")
    with pytest.raises(cn.InputError, match="no names of its rows"):
        cn.factorize(V, 2).solve(stop=1).predict("a", 0)


def test_names_are_saved_and_shown(result, tmp_path):
    again = cn.load(result.save(tmp_path / "named"))
    assert again.names == result.names
    page = html_report(again, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "largest entries in W" in page
    assert "largest entries in H" in page


def test_views_have_names_of_their_own():
    views = {"text": FRAME, "image": FRAME.iloc[:3]}
    result = cn.factorize(views, 2).solve(stop=1)
    assert result.names.rows == {"W_text": tuple("abcde"), "W_image": tuple("abc")}
    assert list(result.frame("W_image").index) == list("abc")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("abcde", "list of names"),
        (["a"], "5 names, got 1"),
        (list("aabcd"), "differ.*'a'"),
    ],
)
def test_names_that_do_not_fit_are_refused(given, says):
    with pytest.raises(cn.InputError, match=f"feature_names.*{says}"):
        cn.factorize(V, 2, feature_names=given)


@pytest.mark.filterwarnings("ignore:Maximum number")
def test_estimators_pass_the_labels_of_samples_and_features_on():
    model = NMF(2, random_state=0, max_iter=5).fit(FRAME.T)
    assert list(model.result_.W_frame.index) == list("abcde")
    assert list(model.result_.H_frame.columns) == ["w", "x", "y", "z"]


@pytest.mark.parametrize("names", [["\ud800", "b"], sp.dia_array(np.eye(2))])
def test_names_that_no_table_can_show_are_refused(names):
    with pytest.raises(cn.InputError, match="feature_names must be a list of names"):
        cn.factorize(np.ones((2, 3)), 1, feature_names=names)
