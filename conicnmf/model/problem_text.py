"""How a problem prints: its data and products, its losses, and the terms on each variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conicnmf.model.addends import Addend, Fit

if TYPE_CHECKING:
    from conicnmf.model.problem import Problem


def in_words(problem: Problem) -> str:
    """Return a problem as a few lines.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> print(in_words(cn.factorize(np.ones((5, 4)), 2)))
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative()
      H: NonNegative()
    """
    lines = [f"Problem: {_headline(problem)}"]
    for addend in problem.addends:
        loss = addend.loss if isinstance(addend, Fit) else addend
        lines.append(f"  {of_several(addend, problem)}loss: {loss}")
    listed = {name: ", ".join(map(str, v.terms)) for name, v in problem.variables.items()}
    return "\n".join([*lines, *(f"  {name}: {text or 'free'}" for name, text in listed.items())])


def of_several(addend: Addend, problem: Problem) -> str:
    """Return the name of an addend where there are several."""
    return f"{addend.name}: " if len(problem.addends) > 1 else ""


def _headline(problem: Problem) -> str:
    shown = "; ".join(str(fit) for fit in problem.fits)
    ranks = sorted({block.shape[0] for block in problem.blocks})
    if len(problem.fits) == 1 and len(problem.variables) == 2:
        return f"{shown}, rank {ranks[-1]}"
    sizes = ", ".join(f"{n} {s[0]} × {s[1]}" for n, s in problem.shapes.items())
    return f"{shown}, {sizes}" if shown else sizes
