"""`factorize`: state a factorization from terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conicnmf.model.addends import Chain, Fit, Ref
from conicnmf.model.constraints import NonNegative
from conicnmf.model.known import as_loss, as_terms
from conicnmf.model.losses import Frobenius
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss, Term
from conicnmf.model.variables import Variable
from conicnmf.validate import as_data, as_rank


def factorize(
    V: Any,
    rank: int,
    *,
    loss: Loss | str | None = None,
    W: Sequence[Term | str] | None = None,
    H: Sequence[Term | str] | None = None,
) -> Problem:
    """State a factorization V ≈ W H from terms.

    Parameters
    ----------
    V : array or sparse matrix
        The data, features × samples.
    rank : int
        The number of components.
    loss : Loss or str, optional
        Squared Frobenius by default; a name stands for a loss with its defaults.
    W, H : list of Term or str, optional
        Constraints and penalties on each factor; `NonNegative` alone by default.

    Returns
    -------
    Problem

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.factorize(np.ones((5, 4)), 2, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative(), Sparseness(min=0.6, max=1.0, each='component')
      H: NonNegative()
    """
    data, rank = as_data(V), as_rank(rank)
    chosen = Frobenius() if loss is None else as_loss(loss)
    chosen.check(data.shape)
    default = (NonNegative(),)
    on_w, on_h = (
        default if terms is None else as_terms(name, terms) for name, terms in (("W", W), ("H", H))
    )
    return Problem.of(
        [
            Variable.stated("W", (data.shape[0], rank), on_w, flipped=True),
            Variable.stated("H", (rank, data.shape[1]), on_h, flipped=False),
        ],
        [Fit(data, chosen, (Chain((Ref("W"), Ref("H"))),))],
    )
