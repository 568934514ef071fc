"""`check_penalty`: the forms of a penalty must agree with its value."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from conicnmf.model.terms import Penalty
from conicnmf.settings import Count, Whole, checks_arguments
from conicnmf.testing._expect import (
    differences,
    expect,
    expect_abilities,
    expect_close,
    untouched,
)
from conicnmf.testing._prox import check_majorizer, check_prox, check_sum
from conicnmf.types import Array

_EXACT = 1e-9
_BY_DIFFERENCES = 1e-5
_DRAWS = 5


@checks_arguments
def check_penalty(
    penalty: Penalty, nonneg: bool = True, *, shape: tuple[Count, Count] = (3, 4), seed: Whole = 0
) -> None:
    """Check that every form of a penalty agrees with its value, and its claim to be convex.

    A penalty with a `slope` is linearized by the solvers and need not be convex; nor need one that
    is constant on convex sets.

    Parameters
    ----------
    penalty : Penalty
    nonneg : bool
        Draw non-negative factors only; with False, value, expression and convexity are checked at
        factors of both signs, where gradients may have kinks.
    shape : tuple of int
        The factor's shape, components × samples.
    seed : int
        Fixes the random factors.

    Raises
    ------
    AssertionError
        With a sentence that names the broken promise.

    Examples
    --------
    >>> import conicnmf as cn
    >>> check_penalty(cn.L1(0.5))
    >>> class Steep(cn.L1):
    ...     def orthant(self):
    ...         return 2 * self.weight, 0.0
    >>> check_penalty(Steep(0.5))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AssertionError: the orthant form of Steep(weight=0.5) disagrees with its value
    """
    penalty.check(shape)
    rng = np.random.default_rng(seed)
    _abilities(penalty, 0.1 + rng.random(shape))
    for size in np.geomspace(0.1, 10, _DRAWS):
        B, other = (
            size * (0.1 + rng.random(shape) if nonneg else rng.standard_normal(shape))
            for _ in range(2)
        )
        with untouched(f"{penalty}", B):
            _forms(penalty, B)
            if nonneg:
                _orthant(penalty, B)
        _ties(penalty, B)
        _transposes(penalty, B)
        _units(penalty, B)
        check_sum(penalty, B)
        check_prox(penalty, size * rng.standard_normal(shape), rng)
        check_majorizer(penalty, B, other)
        _constant(penalty, B, rng)
        if not {"slope", "constant_on"} & penalty.abilities:
            _convexity(penalty, B, other, rng)


def _abilities(penalty: Penalty, B: Array) -> None:
    expect_abilities(
        penalty,
        {
            "expression": lambda: penalty.expression(cp.Variable(B.shape)),
            "gradient": lambda: penalty.gradient(B),
            "orthant": penalty.orthant,
            "slope": lambda: penalty.slope(B),
            "ties": lambda: penalty.ties(B.shape[1]),
            "prox": lambda: penalty.prox(B, 1.0),
            "prox_nonneg": lambda: penalty.prox_nonneg(B, 1.0),
            "majorize": lambda: penalty.majorize(B),
            "price": penalty.price,
            "constant_on": lambda: penalty.constant_on(B),
        },
    )


def _forms(penalty: Penalty, B: Array) -> None:
    if "expression" not in penalty.abilities:
        return
    form = penalty.expression(cp.Variable(B.shape))
    expect(form.is_scalar() and form.is_convex(), f"the expression of {penalty} must be convex")
    found = float(penalty.expression(cp.Constant(B)).value)
    sentence = f"the expression of {penalty} disagrees with its value"
    expect_close(found, penalty.value(B), _EXACT, sentence)


def _orthant(penalty: Penalty, B: Array) -> None:
    """Compare slopes and orthant form with the value at a positive factor."""
    value = penalty.value(B)
    for name in penalty.abilities & {"gradient", "slope"}:
        method = getattr(penalty, name)
        wanted = differences(penalty.value, B, 1e-5 * float(B.max()))
        sentence = f"the {name} of {penalty} and differences disagree"
        steepness = abs(value) / float(B.max())
        expect_close(method(B), wanted, _BY_DIFFERENCES, sentence, steepness)
        single = method(B.astype(np.float32)).dtype
        expect(single == np.float32, f"the {name} of {penalty} turns float32 into {single}")
    if "orthant" in penalty.abilities:
        slope, curvature = penalty.orthant()
        found = slope * B.sum() + curvature * (B * B).sum() / 2
        sentence = f"the orthant form of {penalty} disagrees with its value"
        expect_close(found, value, _EXACT, sentence)


def _ties(penalty: Penalty, B: Array) -> None:
    """Compare the sum over bands with the value."""
    if "ties" not in penalty.abilities:
        return
    n, found = B.shape[1], 0.0
    for d, own in enumerate(penalty.ties(n)):
        both = own[: n - d] * B[:, : n - d] * B[:, d:]
        found += float(both.sum()) * (0.5 if d == 0 else 1.0)
    expect_close(found, penalty.value(B), _EXACT, f"the ties of {penalty} disagree with its value")


def _transposes(penalty: Penalty, B: Array) -> None:
    again = penalty.transposed().transposed().value(B)
    sentence = f"{penalty}.transposed() twice is another penalty"
    expect_close(again, penalty.value(B), _EXACT, sentence)


def _units(penalty: Penalty, B: Array) -> None:
    if "scaled" in penalty.abilities:
        found = penalty.scaled(4.0).value(4 * B)
        expect_close(found, penalty.value(B), _EXACT, f"{penalty}.scaled is another penalty", 1.0)
    if "times" in penalty.abilities:
        found = penalty.times(0.5).value(B)
        expect_close(found, penalty.value(B) / 2, _EXACT, f"{penalty}.times is no multiple", 1.0)


def _constant(penalty: Penalty, B: Array, rng: np.random.Generator) -> None:
    """Look for a point of the set on which the penalty is said to be constant, where it is higher."""
    if "constant_on" not in penalty.abilities:
        return
    P = np.where(rng.random(B.shape) < 0.5, B, 0.0)
    held = penalty.constant_on(P)
    if "price" in penalty.abilities:
        counted = penalty.price() * np.count_nonzero(P)
        expect_close(counted, penalty.value(P), _EXACT, f"the price of {penalty} is not its value")
    expect(held.convex and held.violation(P).max() == 0, f"{held} of {penalty} must hold its point")
    for _ in range(_DRAWS):
        near = held.project(P + rng.standard_normal(B.shape))
        sentence = f"{penalty} is higher within {held} than at the point that this holds"
        expect(penalty.value(near) <= penalty.value(P), sentence)


def _convexity(penalty: Penalty, B: Array, other: Array, rng: np.random.Generator) -> None:
    """Try to falsify convexity along a segment."""
    ends = penalty.value(B), penalty.value(other)
    for share in rng.random(_DRAWS):
        chord = share * ends[0] + (1 - share) * ends[1]
        above = penalty.value(share * B + (1 - share) * other) - chord
        expect(above <= _EXACT * sum(map(abs, ends)), f"{penalty} is not convex, by {above:.3g}")
