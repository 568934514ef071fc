from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from fakes import make_comparison, make_result

import conicnmf as cn
from conicnmf.report import html_report

_VOID = {"meta", "img", "br", "link"}


class Page(HTMLParser):
    """A strict reader: tags close in order, ids are unique, every picture has a text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.images, self.tags, self.headings = [], [], [], set(), []
        self.text, self.alts = [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "img":
            assert attributes["alt"].strip()
            self.images.append(attributes["src"])
            self.alts.append(attributes["alt"])
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)

    @property
    def images_text(self):
        return " ".join(self.alts)

    @property
    def body(self):
        return " ".join(self.text)


def read(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    # Nothing is loaded: no scripts, no addresses, and every picture is inside.
    assert not page.tags & {"script", "link", "iframe", "object", "video"}
    assert not re.search(r"https?://|@import|url\(", text)
    for source in page.images:
        kind, _, data = source.partition(";base64,")
        assert kind == "data:image/svg+xml"
        svg = base64.b64decode(data, validate=True)
        ElementTree.fromstring(svg)
        assert not re.search(rb'(?:href|src)="(?!#|data:)', svg)
        # The only addresses are the names of the two XML vocabularies.
        assert set(re.findall(rb"https?://[^\"' ]+", svg)) <= {
            b"http://www.w3.org/2000/svg",
            b"http://www.w3.org/1999/xlink",
        }
    return page


def test_report_of_a_result(tmp_path):
    result = make_result([4.0, 2.0], violations=[0.1, 0.0])
    path = html_report(result, tmp_path / "new" / "r.html", title="Faces", image_shape=(3, 4))
    page = read(path)
    assert page.headings == [
        "Summary",
        "Status",
        "Problem",
        "Basis",
        "Convergence",
        "Sparseness",
        "Constraints",
        "Certificate",
        "Environment",
    ]
    assert len(page.images) == 3
    for said in ("Faces", "rank 3", result.status.value, "W: Sparseness(min=0.6, max=1.0)"):
        assert said in page.body
    text = path.read_text(encoding="utf-8")
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_report_of_a_comparison(tmp_path, comparison):
    page = read(html_report(comparison, tmp_path / "c.html"))
    assert page.headings == [
        "Summary",
        "Problems",
        "Bases",
        "Objective over time",
        "Performance",
        "Significance",
        "Runs",
        "Statuses",
        "Skipped pairs",
        "Environment",
    ]
    assert len(page.images) == 2 * 2 + 4  # each solver's basis on each problem, and four profiles
    assert "W must be a < b | c" in page.body
    assert "2 problems, 3 solvers, 2 seeds" in page.body
    assert "All 8 runs" in page.body  # the skipped pair was not run


def test_the_best_run_of_each_solver_is_shown(tmp_path):
    good, better = make_result([4.0, 3.0]), make_result([4.0, 2.5])
    lower_but_failed = make_result([4.0, 1.0], status=cn.Status.INFEASIBLE)
    runs = {("p", "HALS", i): run for i, run in enumerate((good, lower_but_failed, better))}
    page = read(html_report(make_comparison(runs), tmp_path / "c.html"))
    assert "HALS: objective 2.5, CONVERGED" in page.body


def test_a_comparison_in_which_nothing_fits_is_still_a_page(tmp_path):
    empty = make_comparison({}, [("p", "HALS", "no projection")])
    page = read(html_report(empty, tmp_path / "c.html"))
    assert "no projection" in page.body
    assert not page.images


def test_reports_of_real_runs(tmp_path, measured):
    read(html_report(measured, tmp_path / "c.html", image_shape=(4, 3)))
    read(html_report(measured.best(problem="plain"), tmp_path / "r.html"))


def test_text_is_escaped(tmp_path):
    result = make_result([1.0], solver="<script>alert('&')</script>")
    page = read(html_report(result, tmp_path / "r.html", title='a < b & "c"'))
    assert 'a < b & "c"' in page.body
    assert "<script>alert('&')</script>" in page.body


def test_the_same_result_gives_the_same_file(tmp_path):
    result = make_result([4.0, 2.0])
    first, second = (html_report(result, tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second


def test_what_is_no_result_is_refused(tmp_path):
    with pytest.raises(cn.InputError, match="a Result or a Comparison, got content=an array"):
        html_report(np.eye(3), tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_certificates_are_tables_with_a_verdict(tmp_path):
    problem = cn.factorize(np.random.default_rng(0).random((6, 5)), 2)
    result = problem.solve(cn.HALS(), stop=cn.RelDecrease(1e-8))
    good = read(html_report(result, tmp_path / "g.html", certificate=result.certificate()))
    assert "CERTIFIED" in good.text
    assert "objective as reported" in good.text
    poor = problem.solve(cn.HALS(), stop=1)
    bad = read(html_report(poor, tmp_path / "b.html", certificate=poor.certificate()))
    assert "NOT CERTIFIED" in bad.text
    failed = [check.name for check in poor.certificate().checks if not check.ok]
    assert f"Beyond the tolerance: {', '.join(failed)}." in bad.text
    runs = make_comparison({("p", "HALS", 0): result})
    named = {"best run": result.certificate()}
    both = read(html_report(runs, tmp_path / "c.html", certificate=named))
    assert "Certificates" in both.headings
    assert "best run" in both.text


def test_results_without_h_and_with_other_variables_have_their_page(tmp_path):
    rng = np.random.default_rng(0)
    fields = vars(make_result([4.0, 2.0]))
    alone = cn.Result(**{**fields, "factors": {"W": rng.random((12, 3))}, "violation": {}})
    page = read(html_report(alone, tmp_path / "w.html", image_shape=(3, 4)))
    assert "columns of W." in page.images_text
    assert "None stated." in page.text
    layers = {
        "encoder": rng.normal(size=(3, 12)),
        "decoder": rng.random((12, 3)),
        "bias": rng.random(3),
    }
    nan = {"factors": layers, "relative_error": float("nan")}
    page = read(
        html_report(cn.Result(**{**fields, **nan}), tmp_path / "a.html", image_shape=(3, 4))
    )
    assert "The 3 rows of encoder found by HALS(), as images." in page.images_text
    assert "The 3 columns of decoder found by HALS(), as images." in page.images_text
    assert "sparseness of rows of encoder, columns of decoder." in page.images_text
    empty = cn.Result(**{**fields, "factors": {"bias": rng.random(3)}})
    assert "Basis" not in read(html_report(empty, tmp_path / "e.html")).headings
    runs = make_comparison({("p", "A", 0): cn.Result(**{**fields, **nan})})
    assert len(read(html_report(runs, tmp_path / "c.html")).images) == 5


def test_many_pairs_of_solvers_are_folded(tmp_path):
    runs = {("p", f"S{k}", seed): make_result([4.0, 3.0 + k]) for k in range(6) for seed in (0, 1)}
    page = read(html_report(make_comparison(runs), tmp_path / "c.html"))
    assert "All 15 pairs, 0 with a finding" in page.text


def test_settings_of_a_comparison_are_told(tmp_path, measured):
    page = read(html_report(measured, tmp_path / "c.html"))
    assert "stop, the same for all" in page.text
    assert "MaxIter(limit=10)" in page.text


def test_a_page_says_what_went_wrong_on_the_way(tmp_path):
    def broken(*_):
        raise ZeroDivisionError("<mine>")

    result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS(), callback=broken, throw=False)
    page = html_report(result, tmp_path / "page.html").read_text()
    assert "the callback raised ZeroDivisionError: &lt;mine&gt;" in page
