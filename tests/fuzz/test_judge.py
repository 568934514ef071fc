"""The judge itself: right results pass, and every planted fault is caught."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import conicnmf as cn

from .cases import draw_case
from .draw import constraints, penalties
from .draw.data import Data
from .draw.losses import draw_loss
from .draw.methods import Method
from .draw.shapes import Model, Shape
from .draw.terms import Side
from .families.problem_case import ProblemCase
from .judge.run import loose_scale
from .judge.units import twin_of

RNG = np.random.default_rng(1)
W0, H0 = RNG.random((7, 2)) ** 3, RNG.random((2, 6))
TWO = Shape(
    "two",
    {"W": ((7, 2), True), "H": ((2, 6), False)},
    (Model("V", (7, 6), (("W", "H"),)),),
    2,
    options={},
)


class Spoiled(ProblemCase):
    """A case whose problem is solved, then tampered with by `spoil(case, result)`."""

    def state(self, door):
        stated = super().state(door)
        solve = stated.problem.solve

        def spoiled(*args, **options):
            return self.spoil(self, solve(*args, **options))

        object.__setattr__(stated.problem, "solve", spoiled)
        return stated


def case(spoil=None, feasible=True, number=21, **method):
    """Return a case with a band on W, a ball and a penalty on H."""
    rng = np.random.default_rng(2)
    sides = [Side(f, X, f == "W", True, False, True, 1.0) for f, X in (("W", W0), ("H", H0))]
    W, H = ([constraints.nonnegative(rng, side)] for side in sides)
    W.append(constraints.prescribed(rng, sides[0]))
    H += [constraints.norm_ball(rng, sides[1]), penalties.l2(rng, sides[1], 0.01)]
    V = W0 @ H0 + 0.05 * np.random.default_rng(3).random((7, 6))
    data = Data(V.copy(), V, "test")
    loss = draw_loss(np.random.default_rng(0), V, W0 @ H0, "plain", False)
    how = Method(**{"solver": "cn.HALS()", "stop": "20", "seed": 3} | method)
    kind = ProblemCase if spoil is None else Spoiled
    terms, point = {"W": W, "H": H}, {"W": W0, "H": H0}
    made = kind(
        f"0:{number}", TWO, {"V": data}, {"V": loss}, terms, point, feasible, ("terms",), how
    )
    object.__setattr__(made, "spoil", spoil)
    return made


def kinds(spoil, **settings):
    return {finding.kind for finding in case(spoil, **settings).run()[1]}


def with_factors(result, **factors):
    return replace(result, factors=result.factors | factors)


def test_a_right_result_passes():
    for number in range(20, 25):  # each does something else with the result
        assert case(number=number).run() == ("MAX_ITER", [])


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
        c.data["V"].V[0, 0] += 1e-12
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
    assert kinds(fail(cn.InputError("no"))) == {"refused"}
    assert kinds(fail(cn.IncompatibleError("no"))) == {"fits"}
    assert kinds(fail(cn.InfeasibleError("no"))) == {"called infeasible"}
    assert kinds(fail(cn.InfeasibleError("no")), feasible=False) == set()


def test_a_result_inside_an_error_is_judged_too():
    def spoil(c, result):
        wrong = replace(result, objective=0.0, status=cn.Status.COLLAPSED)
        raise cn.SolveError("COLLAPSED", wrong)

    assert kinds(spoil) == {"objective"}
    assert "status" in kinds(spoil, throw=False)


def test_a_certificate_of_an_infeasible_point_is_caught():
    class Sure(cn.Result):
        def certificate(self):
            return cn.Certificate(())

    def spoil(c, result):
        fields = vars(with_factors(result, W=result.W + 0.1))
        return Sure(**fields)

    def trust(c, result):
        return Sure(**vars(result))

    assert "certified" in kinds(spoil)
    assert "certified" in kinds(trust, number=22)  # faults are planted then
    assert "certified" not in kinds(trust)


def test_a_certificate_that_raises_is_caught():
    class Broken(cn.Result):
        def certificate(self):
            raise TypeError("no")

    assert "certificate TypeError" in kinds(lambda c, r: Broken(**vars(r)))


def test_a_wrong_argument_must_be_refused():
    assert kinds(None, wrong="stop") == {"accepted"}
    assert kinds(None, wrong="stop", stop="-1") == set()


def test_a_solver_that_does_not_fit_must_say_so():
    def ignore(c, result):
        return result

    assert kinds(ignore, solver="cn.ANLS()") == set()
    assert kinds(ignore, solver="cn.ANLS()", insists=False) == set()


def test_iterates_are_judged_where_a_callback_sees_them():
    def spoil(c, result):
        worse = c.point | {"H": 0.5 * H0}
        wrong = {name: X.copy() for name, X in worse.items()}
        told = c.objective(worse)
        return replace(with_factors(result, **wrong), objective=told)

    assert "best kept" in kinds(spoil, callback="records")


def test_a_status_without_a_reason_is_caught():
    for name in ("CALLBACK", "TIME_LIMIT"):
        status = getattr(cn.Status, name)
        assert "status" in kinds(lambda c, r, status=status: replace(r, status=status))
    assert "status" in kinds(lambda c, r: replace(r, history=_longer(r.history)))


def _longer(history):
    more = replace(history[-1], iteration=history[-1].iteration + 1)
    return cn.History([*history.iterations, more])


def test_a_failure_that_is_not_raised_is_caught():
    def spoil(c, result):
        return replace(result, status=cn.Status.BACKEND_FAILED)

    assert "status" in kinds(spoil)
    assert "status" not in kinds(spoil, throw=False)


def test_what_depends_on_units_is_caught():
    drawn = list(islice((c for k in range(4, 2000, 5) if _scales(c := draw_case(3, k))), 5))
    for c in drawn:
        object.__setattr__(c, "weights", {"V": 2.0})  # its twin does not know of this
    assert "scale" in {f.kind for c in drawn for f in c.run()[1]}


def _scales(c):
    """Whether a case is sound, plain, and drawn again in other units."""
    if not isinstance(c, ProblemCase) or c.refused or c.doors != ("terms",):
        return False
    plain = c.shape.is_two and c.method.callback == c.method.limit == "none"
    return plain and twin_of(c)[1] and c.run() == ("CONVERGED", [])


def test_only_penalties_that_can_be_had_for_nothing_deserve_their_warning():
    rng = np.random.default_rng(0)
    side = Side("W", W0, True, True, False, True, 1.0)
    plus, price = constraints.nonnegative(rng, side), penalties.l2(rng, side, 0.1)
    held = constraints.norm_ball(rng, side)
    assert loose_scale({"W": [plus, price], "H": [plus]})
    assert not loose_scale({"W": [plus, price], "H": [plus, held]})
    assert not loose_scale({"W": [plus, held, price], "H": [plus]})
    assert not loose_scale({"W": [plus, price], "H": [plus, price]})
