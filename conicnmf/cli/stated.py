"""Terms and losses as text: ``Sparseness(min=0.5)``, the name of one with values in parentheses."""

from __future__ import annotations

import ast
from typing import Any

from conicnmf.errors import InputError
from conicnmf.model.known import LOSSES, TERMS, as_loss
from conicnmf.model.terms import Loss, Term
from conicnmf.registry import Registry


def read_term(text: str) -> Term:
    """Return the constraint or penalty that a text states.

    Examples
    --------
    >>> read_term("Sparseness(min=0.5, each='sample')")
    Sparseness(min=0.5, max=1.0, each='sample')
    >>> read_term("l1(0.1)")
    L1(weight=0.1)
    """
    found: Term = _made(text, TERMS, "Sparseness(min=0.5)")
    return found


def read_loss(text: str) -> Loss:
    """Return the loss of a name, or that a text states.

    Examples
    --------
    >>> read_loss("kl"), read_loss("Huber(delta=0.5)")
    (KullbackLeibler(scale=1), Huber(delta=0.5, scale=1))
    """
    if "(" not in text:
        return as_loss(text)
    found: Loss = _made(text, LOSSES, "Huber(delta=0.5)")
    return found


def _made(text: str, known: Registry[Any], example: str) -> Any:
    """Return what a name with plain values in parentheses stands for; no other code is run."""
    try:
        call = ast.parse(text.strip() if "(" in text else f"{text.strip()}()", mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        values = [ast.literal_eval(value) for value in call.args]
        named = {str(key.arg): ast.literal_eval(key.value) for key in call.keywords}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise InputError(
            f"a term is a name with plain values in parentheses, got {text!r}; try {example}"
        ) from error
    kind = known.find(call.func.id)
    try:
        return kind(*values, **named)
    except TypeError as error:
        raise InputError(f"{call.func.id} does not take that: {error}; try {example}") from error
