"""A loss that cannot take sparse data is named by `check_loss`, not failed by what NumPy raises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.extend import Loss
from conicnmf.testing import check_constraint, check_loss, check_penalty, check_solver


@dataclass(frozen=True)
class Largest(Loss):
    """The largest error, relative to Y where that is above one; for dense data alone."""

    def value(self, Y, A, B):
        return float(np.max(np.abs(Y - A @ B) / np.where(Y > 1, Y, 1.0)))


def test_a_loss_for_dense_data_alone_is_named():
    with pytest.raises(AssertionError, match=r"Largest\(\) raised .* on sparse data.*Y.toarray"):
        check_loss(Largest(), np.ones((4, 3)))


@pytest.mark.parametrize("check", [check_constraint, check_loss, check_penalty, check_solver])
def test_checks_of_something_else_are_refused(check):
    arguments = (3, np.ones((4, 3))) if check is check_loss else (3,)
    with pytest.raises(cn.InputError, match=f"{check.__name__} needs .*, got .*=3; "):
        check(*arguments)
    with pytest.raises(cn.InputError, match="HALS"):
        check(cn.HALS, *arguments[1:])
