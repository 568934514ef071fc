"""Terms on H that apply to each sample by itself."""

from __future__ import annotations

from conicnmf.model.terms.base import Term
from conicnmf.model.terms.constraint import Constraint


def of_one_sample(term: Term) -> bool:
    """Whether a term on H applies to each sample by itself, so that new samples can obey it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> of_one_sample(cn.Sparseness(min=0.5, each="sample")), of_one_sample(cn.Sparseness(min=0.5))
    (True, False)
    """
    if isinstance(term, Constraint):
        if "bounds" in term.abilities:
            return all(bound.ndim == 0 for bound in term.bounds())
        return term.each in ("entry", "sample")
    return "orthant" in term.abilities or getattr(term, "each", None) == "sample"
