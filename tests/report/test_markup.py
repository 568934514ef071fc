from __future__ import annotations

import re

import pandas as pd
from fakes import make_comparison, make_result

from conicnmf.report import to_latex, to_markdown


def test_markdown_has_a_row_for_each_pair_and_marks_the_best(comparison):
    lines = to_markdown(comparison).splitlines()
    assert len(lines) == 2 + 5
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    best = [line for line in lines if "**" in line]
    assert len(best) == 2
    assert all("HALS" in line for line in best)
    assert "–" in lines[-1]


def test_the_problem_is_left_out_when_there_is_one():
    comparison = make_comparison({("only", "HALS", 0): make_result([2.0, 1.0])})
    assert "only" not in to_markdown(comparison)
    assert "only" not in to_latex(comparison)


def test_latex_has_the_same_cells_as_markdown(comparison):
    lines = to_latex(comparison).splitlines()
    assert lines[0] == r"\begin{tabular}{llrrrrrrl}"
    assert (lines[1], lines[3], *lines[-2:]) == (
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
    )
    rows = [line for line in lines if line.endswith(r"\\")]
    assert {row.count(" & ") for row in rows} == {8}
    assert sum(r"\textbf{HALS}" in row for row in rows) == 2
    plain = [re.sub(r"\\textbf|[{}$]", "", row.removesuffix(r" \\")) for row in rows[1:]]
    found = [
        [
            cell.replace(r"\pm", "±").replace(r"\times", "×").replace("--", "–").replace(r"\_", "_")
            for cell in row.split(" & ")
        ]
        for row in plain
    ]
    wanted = [
        [cell.strip("* ") for cell in line.strip("|").split("|")]
        for line in to_markdown(comparison).splitlines()[2:]
    ]
    assert found == wanted


def test_marks_that_mean_something_to_latex_are_escaped():
    name = "50%_a & b # {c} ~ \\ W ≥ 0.5"
    text = to_latex(make_comparison({("p", name, 0): make_result([2.0, 1.0])}))
    assert r"50\%\_a \& b \# \{c\} \textasciitilde{} \textbackslash{} W $\ge$ 0.5" in text


def test_marks_that_mean_something_to_a_page_are_escaped():
    name = "<script>alert(1)</script> a|b *c* _d_ e_f [g](h) `i` \\ &amp;"
    text = to_markdown(make_comparison({("p", name, 0): make_result([2.0, 1.0])}))
    assert r"&lt;script&gt;alert(1)&lt;/script&gt; a\|b \*c\* \_d\_ e_f \[g\](h) \`i\`" in text
    assert r"\\ &amp;amp;" in text


def test_an_empty_comparison_is_a_table_of_dashes():
    empty = make_comparison({}, [("p", "HALS", "no")])
    assert pd.notna(to_latex(empty))
    assert "SKIPPED" in to_latex(empty)
