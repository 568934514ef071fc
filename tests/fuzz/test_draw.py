"""What is drawn: by the id alone, feasible where it says so, every term and loss there is."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from conicnmf.extend import LOSSES, SOLVERS, STARTS, TERMS

from .cases import FAMILIES, draw_case
from .draw import methods, solvers, starts
from .families import autoencoders, one_factor
from .families.problem_case import ProblemCase
from .judge.watch import fingerprint
from .shards import lines, summary


def test_a_case_depends_on_its_id_alone():
    for k in range(40):
        one, two = draw_case(3, k), draw_case(3, k)
        assert one.text == two.text
        assert [fingerprint(x) for x in one.inputs()] == [fingerprint(x) for x in two.inputs()]
    assert draw_case(3, 1).text != draw_case(4, 1).text.replace("4:1", "3:1")


def test_the_known_point_of_a_feasible_case_is_feasible():
    drawn = [draw_case(5, k) for k in range(400)]
    feasible = [c for c in drawn if isinstance(c, ProblemCase) and c.feasible]
    assert len(feasible) > 180
    for c in feasible:
        worst, where = c.violation(c.point)
        assert worst <= 1e-9, (c.text, where)


def test_fingerprints_see_every_format():
    X = np.arange(6.0).reshape(2, 3)
    for name in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr"):
        one, two = (getattr(sp, f"{name}_array")(X + d * (X == 5)) for d in (0, 1e-9))
        assert fingerprint(one) == fingerprint(one.copy())
        assert fingerprint(one) != fingerprint(two)


def test_the_summary_counts_cases_not_findings():
    failures = {
        "0:1": {"best kept": "a", "objective": "b"},
        "0:2": {"raw TypeError": "c", "warning UserWarning": "d"},
    }
    told = "9 tried, 1 silent wrong, 1 raw exceptions, 1 leaked warnings"
    assert summary(9, failures) == told
    assert lines(failures)[0] == "0:1  best kept: a"


def test_every_term_loss_solver_and_start_is_drawn():
    """Whoever adds one adds a maker with its meaning in NumPy to `draw`."""
    drawn = [draw_case(5, k) for k in range(3000)]
    plain = [c for c in drawn if isinstance(c, ProblemCase)]
    terms = {t.kind for c in plain for own in c.terms.values() for t in own}
    assert set(TERMS.names()) - terms == {"Orthonormal", "NormIn", "Gain", "SelfFit"}
    losses = {loss.text.split("(")[0] for c in plain for loss in c.losses.values()}
    assert set(LOSSES.names()) <= losses
    tables = (one_factor.SOLVERS, *solvers.SOLVERS.values(), *autoencoders.SOLVERS.values())
    texts = " ".join(text for table in tables for text in table)
    assert [name for name in SOLVERS.names() if name not in texts] == []
    assert [name for name in STARTS.names() if name not in " ".join(starts.STARTS)] == ["Given"]
    assert len(FAMILIES) == len({type(c) for c in drawn})
    assert methods.CALLBACKS.keys() == {c.method.callback for c in plain}
