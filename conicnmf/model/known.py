"""Terms and losses by name, and what a user may write in place of one."""

from __future__ import annotations

from typing import Any

from conicnmf.errors import InputError
from conicnmf.model import constraints, losses, penalties
from conicnmf.model.terms import Constraint, Loss, Penalty, Term
from conicnmf.registry import Registry, with_defaults
from conicnmf.settings import listed, shown


def _not_a(*kinds: type) -> Any:
    """Return a check that what a package brings is a class of one of these kinds."""
    names = " or a ".join(kind.__name__ for kind in kinds)

    def check(thing: Any) -> str:
        fits = isinstance(thing, type) and issubclass(thing, kinds)
        return "" if fits else f"it is not a class of a {names}"

    return check


TERMS: Registry[type[Constraint] | type[Penalty]] = Registry(
    "constraint or penalty", "conicnmf.terms", _not_a(Constraint, Penalty)
)
LOSSES: Registry[type[Loss]] = Registry("loss", "conicnmf.losses", _not_a(Loss))

for _kind in (
    constraints.NonNegative,
    constraints.Box,
    constraints.Fixed,
    constraints.Simplex,
    constraints.NormBall,
    constraints.UnitNorm,
    constraints.Sparseness,
    constraints.OnPart,
    constraints.Labels,
    constraints.Orthonormal,
    constraints.NormIn,
    constraints.Convex,
    constraints.ReverseConvex,
    constraints.Monotone,
    constraints.Unimodal,
    constraints.Cardinality,
    constraints.Orthogonal,
    constraints.FactorSum,
    constraints.FactorNorm,
    penalties.L1,
    penalties.L2,
    penalties.SparsenessReward,
    penalties.ConvexPenalty,
    penalties.ConcavePenalty,
    penalties.LogSum,
    penalties.NonZeros,
    penalties.CappedL1,
    penalties.TotalVariation,
    penalties.Smooth,
    penalties.GraphLaplacian,
    penalties.L21,
    penalties.GroupLasso,
    penalties.Nuclear,
    penalties.MinimumVolume,
    penalties.Gain,
    penalties.SelfFit,
):
    TERMS.add(_kind.__name__, _kind)
for _loss, *_names in (
    (losses.Frobenius, "squares", "euclidean"),
    (losses.WeightedFrobenius,),
    (losses.KullbackLeibler, "kl"),
    (losses.BetaDivergence, "beta"),
    (losses.ItakuraSaito, "is"),
    (losses.Huber,),
    (losses.Absolute, "l1"),
    (losses.Logistic,),
):
    LOSSES.add(_loss.__name__, _loss, *_names)


def as_loss(loss: Any) -> Loss:
    """Return a loss, given as an object or by its name.

    Examples
    --------
    >>> as_loss("frobenius"), as_loss("kl")
    (Frobenius(scale=1), KullbackLeibler(scale=1))
    """
    return LOSSES.instance(loss, Loss, "Frobenius()")


def as_terms(name: str, terms: Any) -> tuple[Term, ...]:
    """Return the terms on a factor, names turned into terms.

    Examples
    --------
    >>> as_terms("W", ["nonnegative", constraints.NormBall(2.0)])
    (NonNegative(), NormBall(radius=2.0, each='component'))
    """
    own = None if isinstance(terms, (Term, str)) else listed(terms)
    if own is None:
        raise InputError(
            f"{name} takes a list of constraints and penalties, got {shown(terms)}; put it in brackets"
        )
    return tuple(_as_term(name, term) for term in own)


def _as_term(name: str, term: Any) -> Term:
    if isinstance(term, str):
        found: Term = with_defaults(TERMS.find(term), "term")
        return found
    if not isinstance(term, (Constraint, Penalty)):
        hint = f"write {term.__name__}() with parentheses" if isinstance(term, type) else ""
        raise InputError(
            f"{name} takes a list of constraints and penalties, got {shown(term)}; "
            f"{hint or 'CVXPY constraints go into Convex(lambda X: ...)'}"
        )
    return term
