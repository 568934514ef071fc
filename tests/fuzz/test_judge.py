"""The judge itself: right results pass, and every planted fault is caught."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import conicnmf as cn

from . import constraints, penalties
from .cases import Case, draw_case
from .data import Data
from .judge import violation
from .losses import draw_loss
from .methods import Method
from .run import run_case
from .shards import lines, summary
from .terms import Side
from .watch import fingerprint

RNG = np.random.default_rng(1)
W0, H0 = RNG.random((7, 2)) ** 3, RNG.random((2, 6))


class Spoiled(Case):
    """A case whose problem is solved, then tampered with by `spoil(case, result)`."""

    def state(self, door):
        problem = super().state(door)
        return SimpleNamespace(solve=lambda **options: self.spoil(self, problem.solve(**options)))


def case(spoil=None, solver="cn.HALS()", throw=True, feasible=True):
    """Return a case with a band on W, a ball and a penalty on H."""
    rng = np.random.default_rng(2)
    sides = [Side(f, X, True, False, True, 1.0) for f, X in (("W", W0), ("H", H0))]
    W, H = ([constraints.nonnegative(rng, side)] for side in sides)
    W.append(constraints.prescribed(rng, sides[0]))
    H += [constraints.norm_ball(rng, sides[1]), penalties.l2(rng, sides[1], 0.01)]
    V = W0 @ H0 + 0.05 * RNG.random((7, 6))
    data = Data(V.copy(), V, "test")
    loss = draw_loss(np.random.default_rng(0), V, (W0, H0), "plain", False)
    method = Method(solver, "None", "20", 3, throw, ())
    kind = Case if spoil is None else Spoiled
    made = kind("0:20", data, 2, loss, {"W": W, "H": H}, (W0, H0), feasible, ("terms",), method)
    object.__setattr__(made, "spoil", spoil)
    return made


def kinds(spoil, **settings):
    return {finding.kind for finding in run_case(case(spoil, **settings))[1]}


def with_factors(result, **factors):
    return replace(result, factors=result.factors | factors)


def test_a_right_result_passes():
    assert run_case(case()) == ("MAX_ITER", [])


def test_a_scaled_factor_is_caught():
    assert "objective" in kinds(lambda c, r: with_factors(r, W=1.001 * r.W))


def test_a_loosened_bound_is_caught():
    def spoil(c, result):
        W = result.W + 1e-3 * result.W.max()
        return with_factors(result, W=W)

    assert "infeasible" in kinds(spoil)


def test_a_negative_entry_is_caught():
    def spoil(c, result):
        H = result.H.copy()
        H[0, 0] = -1e-3
        return with_factors(result, H=H)

    assert "infeasible" in kinds(spoil)


def test_a_failed_status_admits_a_violation():
    def spoil(c, result):
        return replace(with_factors(result, W=result.W + 1), status=cn.Status.INFEASIBLE)

    assert "infeasible" not in kinds(spoil)


def test_a_wrong_objective_is_caught():
    assert "objective" in kinds(lambda c, r: replace(r, objective=r.objective * (1 + 1e-5)))


def test_a_wrong_relative_error_is_caught():
    wrong = kinds(lambda c, r: replace(r, relative_error=r.relative_error + 1e-5))
    assert wrong == {"relative error"}


def test_worse_than_seen_is_caught():
    def spoil(c, result):
        better = replace(result.history[-1], objective=0.9 * result.objective, violation=0.0)
        return replace(result, history=cn.History([*result.history.iterations, better]))

    assert "best kept" in kinds(spoil)


def test_a_rise_is_caught():
    def spoil(c, result):
        its = list(result.history.iterations)
        its[-1] = replace(its[-1], objective=its[-2].objective * 1.01)
        return replace(result, history=cn.History(its))

    assert "rise" in kinds(spoil)
    assert "rise" not in kinds(spoil, solver="cn.TangentPlane()")


def test_an_entry_that_is_no_number_is_caught():
    assert "not finite" in kinds(lambda c, r: with_factors(r, W=r.W * np.nan))


def test_a_changed_input_is_caught():
    def spoil(c, result):
        c.data.V[0, 0] += 1e-12
        return result

    assert "input changed" in kinds(spoil)


def to_stdout(text):
    print(text)


def to_stderr(text):
    print(text, file=sys.stderr)


def as_c_code_does(text):
    os.write(1, text.encode())


@pytest.mark.parametrize("write", [to_stdout, to_stderr, as_c_code_does])
def test_printed_text_is_caught(write):
    def spoil(c, result):
        write("hello")
        return result

    assert "printed" in kinds(spoil)


def test_a_warning_is_caught():
    def spoil(c, result):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return result

    assert "warning RuntimeWarning" in kinds(spoil)


def test_another_answer_the_second_time_is_caught():
    turn = iter(range(9))

    def spoil(c, result):
        return with_factors(result, W=result.W * (1 + 1e-16 * 2 ** next(turn) * 4))

    assert "differs" in kinds(spoil)


def test_raw_exceptions_are_told_from_the_packages_own():
    def fail(error):
        def spoil(c, result):
            raise error

        return spoil

    assert kinds(fail(TypeError("no"))) == {"raw TypeError"}
    assert kinds(fail(cn.InputError("no"))) == set()
    assert kinds(fail(cn.IncompatibleError("no"))) == set()
    assert kinds(fail(cn.InfeasibleError("no"))) == {"called infeasible"}
    assert kinds(fail(cn.InfeasibleError("no")), feasible=False) == set()


def test_a_result_inside_an_error_is_judged_too():
    def spoil(c, result):
        wrong = replace(result, objective=0.0, status=cn.Status.COLLAPSED)
        raise cn.SolveError("COLLAPSED", wrong)

    assert "objective" in kinds(spoil)


def test_a_certificate_of_an_infeasible_point_is_caught():
    class Sure(cn.Result):
        def certificate(self):
            return cn.Certificate(())

    def spoil(c, result):
        fields = vars(with_factors(result, W=result.W + 0.1))
        return Sure(**fields)

    assert "certified" in kinds(spoil)


def test_a_certificate_that_raises_is_caught():
    class Broken(cn.Result):
        def certificate(self):
            raise TypeError("no")

    assert "certificate TypeError" in kinds(lambda c, r: Broken(**vars(r)))


def test_a_case_depends_on_its_id_alone():
    for k in range(40):
        one, two = draw_case(3, k), draw_case(3, k)
        assert one.text == two.text
        assert [fingerprint(x) for x in one.inputs()] == [fingerprint(x) for x in two.inputs()]
    assert draw_case(3, 1).text != draw_case(4, 1).text.replace("4:1", "3:1")


def test_the_known_point_of_a_feasible_case_is_feasible():
    drawn = [draw_case(5, k) for k in range(400)]
    feasible = [c for c in drawn if c.feasible]
    assert len(feasible) > 200
    for c in feasible:
        worst, where = violation(c, *c.point)
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
