"""What is raised for wrong input: every message gives the rule, the value and the remedy."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any


class ConicNMFError(Exception):
    """Base of every error raised by the package.

    Examples
    --------
    >>> issubclass(InputError, ConicNMFError)
    True
    """


class InputError(ConicNMFError, ValueError):
    """The input breaks a stated rule.

    Examples
    --------
    >>> import conicnmf as cn
    >>> cn.Sparseness(min=0.9, max=0.4)
    Traceback (most recent call last):
    conicnmf.errors.InputError: Sparseness needs 0 <= min <= max <= 1, got min=0.9, max=0.4; ...
    """


class ModelError(ConicNMFError, ValueError):
    """A model is outside the biconvex rules; the message names the sub-expression and the rule.

    Examples
    --------
    >>> import conicnmf as cn, cvxpy as cp, numpy as np
    >>> W, H = cp.Variable((3, 1)), cp.Variable((1, 2))
    >>> cn.Problem(cp.Minimize(cp.sum_squares(np.ones((3, 2)) - W @ H)), [cp.multiply(W, W) <= 1])
    Traceback (most recent call last):
    conicnmf.errors.ModelError: ...
    """


class IncompatibleError(ConicNMFError, ValueError):
    """A solver does not fit a problem; the message lists every reason and the solvers that fit.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> cn.factorize(np.ones((3, 2)), 1, H=[cn.Simplex()]).solve(cn.Multiplicative())
    Traceback (most recent call last):
    conicnmf.errors.IncompatibleError: Multiplicative does not fit this problem:
      - H must be constrained by NonNegative alone, not Simplex(total=1.0, each='component')
    These fit: ...
    """


class InfeasibleError(ConicNMFError, ValueError):
    """The constraints on a factor have no common point.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> cn.factorize(np.ones((3, 2)), 1, H=[cn.NonNegative(), cn.Box(upper=-1)])
    Traceback (most recent call last):
    conicnmf.errors.InfeasibleError: ... at least 0 and at most -1; relax one of them
    """


class SolveError(ConicNMFError, RuntimeError):
    """A solve ended in a failure; `result` holds the best iterate seen.

    Examples
    --------
    >>> error = SolveError("COLLAPSED", result=None)
    >>> error.result is None
    True
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class MissingExtraError(ConicNMFError, ImportError):
    """A package that only some of the work needs is not installed; the message says how to get it.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


def require(module: str, extra: str, what: str) -> ModuleType:
    """Return a module that an extra brings, or say how to install it for what needs it.

    Examples
    --------
    >>> require("json", "plot", "plots need").__name__
    'json'
    >>> require("no_such_module", "plot", "plots need")
    Traceback (most recent call last):
    conicnmf.errors.MissingExtraError: plots need no_such_module; pip install 'conicnmf[plot]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != package:
            raise  # it is there, and something that it needs itself is not
        name = {"PIL": "pillow"}.get(package, package)
        raise MissingExtraError(f"{what} {name}; pip install 'conicnmf[{extra}]'") from error


def warn_user(message: str) -> None:
    """Warn at the line outside the package that led here, so that it is shown once for each.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("the bound says nothing; drop it")
    >>> str(caught[0].message)
    'the bound says nothing; drop it'
    """
    package = __name__.partition(".")[0]
    level = 1
    # Generated methods of dataclasses have no module of ours, but ours call them.
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == package:
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)
