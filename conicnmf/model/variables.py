"""The variables of a problem: a name, a shape, and the terms on them."""

from __future__ import annotations

from dataclasses import dataclass

from conicnmf.errors import warn_user
from conicnmf.model.terms import Constraint, Term


@dataclass(frozen=True, eq=False)
class Variable:
    """A matrix to be found.

    Parameters
    ----------
    name : str
    shape : tuple of int
        As the user knows it: W is features × rank, H is rank × samples.
    terms : tuple of Term
        Constraints and penalties, seen with a component in each row.
    flipped : bool
        Whether components are columns, as in W; then blocks hold its transpose.

    Examples
    --------
    >>> Variable("W", (5, 2), (), flipped=True).rows_shape
    (2, 5)
    """

    name: str
    shape: tuple[int, int]
    terms: tuple[Term, ...] = ()
    flipped: bool = False

    def __post_init__(self) -> None:
        kept: list[Term] = []
        for term in self.terms:
            reason = term.idle(self.rows_shape) if isinstance(term, Constraint) else ""
            if reason:
                warn_user(f"{term} on {self.name} is left out: {reason}; drop it or change `each`")
            else:
                kept.append(term)
        object.__setattr__(self, "terms", tuple(kept))

    @property
    def rows_shape(self) -> tuple[int, int]:
        """The shape with a component in each row."""
        return self.shape[::-1] if self.flipped else self.shape

    @classmethod
    def stated(
        cls, name: str, shape: tuple[int, int], terms: tuple[Term, ...], flipped: bool
    ) -> Variable:
        """Return a variable with terms given as the user knows it, once they are checked."""
        for term in terms:
            term.check(shape)
        own = tuple(term.transposed() for term in terms) if flipped else terms
        found = cls(name, shape, own, flipped)
        for term in own:
            term.check_rows(found.rows_shape)
        return found
