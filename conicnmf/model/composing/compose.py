"""`compose`: state a problem from approximations and from terms on their variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from conicnmf.errors import InputError
from conicnmf.model.addends import Chain, Fit, Ref
from conicnmf.model.composing.approx import Approx
from conicnmf.model.composing.plan import Plan
from conicnmf.model.composing.text import Product
from conicnmf.model.constraints import NonNegative
from conicnmf.model.known import as_terms
from conicnmf.model.names import with_labels
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Term
from conicnmf.model.variables import Variable
from conicnmf.settings import AS_GIVEN, checks_arguments
from conicnmf.types import Array

Terms = Sequence[Term | str]
Rank = int | Sequence[int] | None


@checks_arguments
def compose(
    *approximations: Approx,
    rank: Annotated[int | Sequence[int] | None, AS_GIVEN] = None,
    shapes: Mapping[str, tuple[int, int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    **terms: Sequence[Term | str],
) -> Problem:
    """Build a problem with any number of variables from terms.

    Parameters
    ----------
    *approximations : Approx
        Data, each with its formula. A name that appears in several formulas is the same variable.
    rank : int or tuple of int, optional
        The sizes that do not follow from data or constants: one number for all of them, or one for each
        in the order in which they appear in the formulas.
    shapes : dict of str to tuple of int, optional
        Shapes of variables, if the rank is not enough to determine them.
    constants : dict of str to array, optional
        Matrices by the names that they have in the formulas.
    **terms : list of Term or str
        Constraints and penalties on each variable by its name; `NonNegative` alone by default,
        nothing for offsets such as b in ``"W @ H + b @ 1"``. A component is a column of the first
        variable of a product and a row of the others.

    Returns
    -------
    Problem

    See Also
    --------
    factorize : the usual shapes in one line.
    Problem : the same from CVXPY expressions.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.compose(
    ...     cn.Approx(np.ones((5, 4)), "W1 @ H"),
    ...     cn.Approx(np.ones((3, 4)), "W2 @ H", weight=0.5),
    ...     rank=2,
    ...     H=["nonnegative", cn.L1(0.1)],
    ... )
    Problem: V1 (5 × 4) ≈ W1 H; V2 (3 × 4) ≈ W2 H, W1 5 × 2, H 2 × 4, W2 3 × 2
      V1: loss: Frobenius(scale=1)
      V2: loss: Frobenius(scale=0.5)
      W1: NonNegative()
      H: NonNegative(), L1(weight=0.1)
      W2: NonNegative()
    """
    problem = composed(approximations, rank, shapes or {}, constants or {}, terms)
    labels = [own.labels for own in approximations]
    features, samples = (
        dict(zip(problem.data_shapes, side, strict=True)) for side in zip(*labels, strict=True)
    )
    return with_labels(problem, features, samples)


def composed(
    approximations: Sequence[Approx],
    rank: Rank,
    shapes: Mapping[str, tuple[int, int]],
    constants: Mapping[str, Any],
    terms: Mapping[str, Any],
) -> Problem:
    """Return the problem of `compose`, with the terms in a mapping."""
    plan = Plan.of(_named(approximations), rank, shapes, constants)
    for name in terms:
        if name not in plan.variables:
            raise InputError(
                f"terms are given for {name}, which no model mentions as a variable; the variables "
                f"are {', '.join(plan.variables)}"
            )
    variables = []
    for name, flipped in plan.variables.items():
        default = () if name in plan.offsets else (NonNegative(),)
        own = terms.get(name)
        stated = default if own is None else as_terms(name, own)
        variables.append(Variable.stated(name, plan.shape(name), stated, flipped))
    fits = [
        Fit(a.V, a.loss, tuple(_chain(plan, a, product) for product in a.products), a.name)
        for a in plan.approximations
    ]
    return Problem.of(variables, fits)


def _named(approximations: Sequence[Approx]) -> dict[str, Approx]:
    """Return the approximations by name; those without one are counted."""
    for approximation in approximations:
        if not isinstance(approximation, Approx):
            raise InputError(
                f'compose takes Approx(V, "W @ H") and the like, got {approximation!r}; terms go '
                "by the name of their variable, W=[...]"
            )
    if not approximations:
        raise InputError(
            'compose needs data to approximate; write compose(Approx(V, "W @ H"), ...)'
        )
    several = len(approximations) > 1
    found: dict[str, Approx] = {}
    for place, approximation in enumerate(approximations, 1):
        name = approximation.name or (f"V{place}" if several else "V")
        if name in found:
            raise InputError(f"two approximations are called {name!r}; give each a different name")
        found[name] = approximation
    return found


def _chain(plan: Plan, approximation: Any, product: Product) -> Chain:
    """Return a product over the problem's variables, neighboring constants multiplied."""
    factors: list[Ref | Array] = []
    for place, symbol in enumerate(product.symbols):
        if symbol.name in plan.variables:
            mask = plan.mask(symbol, approximation.V.dtype)
            factors.append(Ref(symbol.name, symbol.flipped, mask))
            continue
        constant = plan.constant(approximation, product, place)
        if factors and not isinstance(factors[-1], Ref):
            factors[-1] = factors[-1] @ constant
        else:
            factors.append(constant)
    return Chain(tuple(factors), product.scale)
