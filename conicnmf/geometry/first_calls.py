"""Small first calls of a kernel run as plain Python or NumPy, which is quicker than to compile it.

The same statements in the same order on double precision give the same bits: the compiler reorders
nothing. Where Python would raise instead of giving inf or nan, the compiled kernel takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any

import numpy as np

from conicnmf.geometry.compile_time import working_time
from conicnmf.geometry.compilers import Kernel, numba_is_loaded

_GLANCE = 0.2
"""Seconds in Python after which code is looked for on disk: Numba takes longer to load than that."""
_ENOUGH = 0.5
"""Seconds in Python after which a kernel is compiled: it is used for more than a first look."""

_AT_ONCE: ContextVar[bool] = ContextVar("at_once", default=False)


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """Compile inside whatever is called, however small the work."""
    token = _AT_ONCE.set(True)
    try:
        yield
    finally:
        _AT_ONCE.reset(token)


class FirstCalls:
    """A compiled kernel whose first calls are interpreted while they are small.

    Parameters
    ----------
    kernel : compiled function
        It works in place on arrays and returns nothing.
    python : callable, optional
        The same work in NumPy, to the last bit; without it the kernel's own statements are run.

    Examples
    --------
    >>> from conicnmf.geometry.compilers import jit
    >>> def double(x):
    ...     for i in range(x.size):
    ...         x[i] *= 2
    >>> kernel, x = FirstCalls(jit(double)), np.ones(2)
    >>> kernel(x, small=True)
    >>> x
    array([2., 2.])
    """

    def __init__(self, kernel: Any, python: Callable[..., None] | None = None) -> None:
        self.kernel = kernel
        self._python = python
        self._seconds = 0.0
        self._ready = False

    def __call__(self, *args: Any, small: bool = True) -> None:
        """Call the kernel, compiled unless it is not and the work is `small`."""
        if not self._ready:
            self._ready = self._is_time()
        if self._ready or not small or not self._interpret(args):
            self.kernel(*args)

    def _is_time(self) -> bool:
        """Return whether the compiled kernel is there, or is worth its time."""
        if self._seconds > _ENOUGH or _AT_ONCE.get():
            return True
        return (self._seconds > _GLANCE or numba_is_loaded()) and _has_code(self.kernel)

    def _interpret(self, args: tuple[Any, ...]) -> bool:
        """Run the kernel's statements on copies; return whether they came to an end."""
        if self._python is None:
            self._python = as_python(self.kernel, {})
        copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        begin = working_time()  # what it calls may be compiled meanwhile
        try:
            with np.errstate(all="ignore"):
                self._python(*copies)
        except (ArithmeticError, ValueError):
            return False
        finally:
            self._seconds += working_time() - begin
        for arg, copy in zip(args, copies, strict=True):
            if isinstance(arg, np.ndarray):
                arg[...] = copy
        return True


def _has_code(kernel: Kernel) -> bool:
    from conicnmf.geometry.kept_code import has_code  # loads Numba

    return has_code(kernel)


def as_python(kernel: Any, known: dict[Any, Any]) -> Any:
    """Return a kernel as plain Python, with all that it calls.

    Examples
    --------
    >>> from conicnmf.geometry.rows import norms
    >>> as_python(norms, {})(np.array([3.0, -4.0]), 1.0)
    (np.float64(7.0), 5.0)
    """
    function = getattr(kernel, "py_func", kernel)
    if function not in known:
        names = dict(function.__globals__)
        own = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        known[function] = own
        for name in function.__code__.co_names:
            called = names.get(name)
            ours = getattr(called, "__module__", "").startswith("conicnmf")
            if isinstance(called, Kernel) or (ours and isinstance(called, FunctionType)):
                names[name] = as_python(called, known)
    return known[function]
