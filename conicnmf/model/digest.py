"""What was stated, part by part, in a form that can be compared later and elsewhere.

A digest gives each part of a statement a few words and a hash: ``{"data V": "9 × 7 float64 #1f…"}``.
Checkpoints, stored runs and saved results keep it, and refuse to be taken for another problem's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from conicnmf.model.hashing import hash_of, own_fields, words_without_address
from conicnmf.model.terms import Term

if TYPE_CHECKING:
    from conicnmf.model.addends import Addend
    from conicnmf.model.variables import Variable

Digest = dict[str, str]
"""The parts of a statement, each as words and a hash."""

_LONG = 120


def part(thing: Any, words: str | None = None) -> str:
    """Return a thing as words and a hash.

    Examples
    --------
    >>> part(np.ones((2, 3))).split("#")[0]
    '2 × 3 float64 '
    """
    return f"{_words(thing) if words is None else words} #{hash_of(thing)}"


def _words(thing: Any) -> str:
    if isinstance(thing, np.ndarray) or sp.issparse(thing):
        return f"{' × '.join(map(str, thing.shape))} {thing.dtype}"
    text = words_without_address(thing)
    return text if len(text) <= _LONG else type(thing).__name__


def digest_of_model(
    variables: Iterable[Variable], addends: Sequence[Addend], offset: float
) -> Digest:
    """Return the variables, what the objective adds up, and the terms on each variable."""
    own = list(variables)
    shapes = ", ".join(f"{v.name} {v.shape[0]} × {v.shape[1]}" for v in own)
    parts = {"variables": shapes, "offset": part(offset)}
    for place, addend in enumerate(addends):
        for name, text in addend.digest().items():
            parts[f"{name}, addend {place}" if name in parts else name] = text
    for variable in own:
        parts |= digest_of_terms(variable.name, variable.rows_shape, variable.terms)
    return parts


def digest_of_terms(name: str, shape: tuple[int, int], terms: Sequence[Term]) -> Digest:
    """Return the terms on a variable with rows of this shape; functions count by what they return.

    A function that raises has no hash: the solve will say what is wrong with it.

    Examples
    --------
    >>> import conicnmf as cn
    >>> a, b, c = (
    ...     digest_of_terms("H", (2, 3), [cn.Convex(lambda H, top=top: H <= top)]) for top in (1, 2, 1)
    ... )
    >>> a == b, a == c
    (False, True)
    """
    listed = ", ".join(map(words_without_address, terms)) or "none"
    try:
        made = [_made(term, shape) for term in terms]
    except Exception:  # a user's function may raise anything
        return {}
    return {f"terms on {name}": f"{listed} #{hash_of(made)}"}


def _made(term: Term, shape: tuple[int, int]) -> Any:
    """Return what stands for a term: itself, or what its function makes of a variable."""
    form = next((own for own in ("cone", "expression") if own in term.abilities), None)
    if form is None or not any(map(callable, vars(term).values())):
        return term
    return type(term).__name__, getattr(term, form)(cp.Variable(shape))


def digest_of_fields(thing: Any) -> Digest:
    """Return the fields of a dataclass, or else the attributes of an object, part by part.

    Examples
    --------
    >>> import conicnmf as cn
    >>> {name: text.split(" #")[0] for name, text in digest_of_fields(cn.L1(0.5)).items()}
    {'kind': 'L1', 'weight': '0.5'}
    """
    own = own_fields(thing)
    return {"kind": type(thing).__name__} | {name: part(value) for name, value in own.items()}


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield in words the parts of a statement that both know and that are not the same.

    Examples
    --------
    >>> old, new = {"seed": "0", "data V": "2 × 2 #a"}, {"seed": "1", "data V": "2 × 2 #b"}
    >>> list(differences(old, new))
    ['its seed is 0, not 1', 'its data V is another one']
    """
    for name, mine in new.items():
        theirs = old.get(name, mine)
        if theirs != mine:
            first, second = (text.rpartition(" #")[0] or text for text in (theirs, mine))
            told = f"{first}, not {second}" if first != second else "another one"
            yield f"its {name} is {told}"
