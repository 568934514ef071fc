"""`check_solver` accepts what is right and names what is wrong."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.cli.options import usual_solvers
from conicnmf.solve.methods import Update
from conicnmf.solve.needs import LossWith
from conicnmf.testing import check_solver

PROBLEM = cn.factorize(np.random.default_rng(4).random((6, 5)), 2)


@dataclass(frozen=True)
class Plain(cn.Multiplicative):
    """A right solver to break."""


def broken(**changes):
    return dataclass(frozen=True)(type("Broken", (Plain,), changes))()


def noisy(self, held, B, memo):
    return Update(Plain.update(self, held, B, memo).B * (1 + 1e-9 * np.random.rand()))  # noqa: NPY002


def flattering(self, held, B, memo):
    return Update(Plain.update(self, held, B, memo).B, value=0.5 * held.objective(B))


def in_place(self, held, B, memo):
    Y = held.views[0].Y
    np.multiply(Y, 0.9, out=Y)
    return Plain.update(self, held, B, memo)


def restless(self, held, B, memo):
    count = (memo or 0) + 1
    new = Plain.update(self, held, B, memo).B
    return Update(new * (1.3 if count == 5 else 1), count)


MISTAKES = {
    "gives two answers for one seed": broken(update=noisy),
    "another objective than its factors": broken(update=flattering),
    "lets the objective rise": broken(update=restless, monotone=True),
    "does not improve on its start": broken(update=lambda self, held, B, memo: Update(B)),
    "NOT_FINITE": broken(update=lambda self, held, B, memo: Update(B * np.nan)),
    "fits none of the problems": broken(needs=(LossWith(("magic",), "which it needs"),)),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_named(sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_solver(MISTAKES[sentence], PROBLEM)


def test_a_solver_that_writes_into_the_data_is_named():
    # Data between one and two are handed over as they are, not divided.
    problem = cn.factorize(1 + np.random.default_rng(4).random((6, 5)), 2)
    with pytest.raises(AssertionError, match="changed its input"):
        check_solver(broken(update=in_place, monotone=False), problem)


def test_early_convergence_is_found_out():
    @dataclass(frozen=True)
    class Eager(cn.RelDecrease):
        def check(self, history):
            return cn.Status.CONVERGED if len(history) > 1 else None

    eager = broken(default_stop=Eager(0.9))
    with pytest.raises(AssertionError, match="says CONVERGED, but falls"):
        check_solver(eager, PROBLEM, max_iter=1)


def test_settings_that_can_be_changed_are_named():
    @dataclass(frozen=True)
    class Settings(Plain):
        speed: float = 1.0

    class Loose(Settings):
        def __setattr__(self, name, value):
            self.__dict__[name] = value

    with pytest.raises(AssertionError, match=r"Loose.speed can be set"):
        check_solver(Loose(), PROBLEM)


def test_state_kept_on_the_solver_is_named():
    @dataclass(frozen=True)
    class Hoarder(Plain):
        seen: list = field(default_factory=list, compare=False)
        monotone: ClassVar[bool] = False

        def update(self, held, B, memo):
            self.seen.append(1)
            return Plain.update(self, held, B, memo)

    with pytest.raises(AssertionError, match="keeps state on itself"):
        check_solver(Hoarder(), PROBLEM)


def test_single_precision_that_is_lost_is_named():
    def widen(self, held, B, memo):
        return Update(Plain.update(self, held, B, memo).B.astype(float))

    with pytest.raises(AssertionError, match="turns float32 into"):
        check_solver(broken(update=widen), max_iter=3)


def test_problems_can_be_given_by_name():
    check_solver(Plain(), {"noise": PROBLEM}, monotone=True)


# The joint baseline needs a non-linear solver that may not be installed.
@pytest.mark.parametrize("kind", [type(s) for s in usual_solvers(PROBLEM)])
def test_every_solver_keeps_its_promises(kind):
    check_solver(kind())
