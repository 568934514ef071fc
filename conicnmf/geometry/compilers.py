"""The compilers of the kernels: strict arithmetic, and as little to compile as possible.

The order of every sum is fixed (no fastmath), so equal input gives equal output; division by zero
gives inf or nan as in NumPy, because a kernel reports bad numbers and never raises. Only
`jit_long_sums` lets the compiler choose the order once, as matrix products do. What is called from
there is strict all the same, because a process links any one of the copies of an inner function; only
what is `inlined` takes part in the choice.

A compiled function is optimized over again in each of its callers and their callers, so levels of
calls and wrappers are what a first use pays for. Numba itself takes half a second to load and to set
up: the first kernel that is called does that, not the import of the package.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

_LOADING = threading.RLock()
_TO_REGISTER: list[Any] = []


class Kernel:
    """A function to be compiled; to Numba it is its own compiled form, wherever it is called.

    Examples
    --------
    >>> @jit
    ... def double(x):
    ...     return 2 * x
    >>> double
    <Kernel double>
    >>> double(1.5)
    3.0
    """

    __qualname__: str

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options

    @cached_property
    def compiled(self) -> Any:
        """Numba's function, which is made when it is first asked for."""
        with _LOADING:
            from conicnmf.geometry.kept_code import compile_kept, register

            while _TO_REGISTER:
                register(_TO_REGISTER.pop())
            return compile_kept(self.py_func, self._options)

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return self.compiled(*args)

    def __getattr__(self, name: str) -> Any:
        """Return what Numba asks its own functions for."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def __reduce__(self) -> str:
        """Travel to other processes by name."""
        return self.__qualname__

    def __repr__(self) -> str:
        """Say which function it is."""
        return f"<Kernel {self.__qualname__}>"


def numba_is_loaded() -> bool:
    """Return whether Numba is here already, for a kernel of ours or for somebody else.

    Examples
    --------
    >>> import numba
    >>> numba_is_loaded()
    True
    """
    return "numba" in sys.modules


def jit(function: Any) -> Any:
    """Compile what Python calls, and what both such functions and inner ones call.

    An inner function is compiled once for either kind of caller. The code is kept on disk, where
    there is a place for it, and free of the GIL.
    """
    return Kernel(function, no_cfunc_wrapper=True, fastmath=False)


def jit_long_sums(function: Any) -> Any:
    """Compile what Python calls and what sums long rows: several numbers are added at once.

    The order of the sums is the machine's, as in a matrix product; on one machine equal input gives
    equal output.
    """
    return Kernel(function, no_cfunc_wrapper=True, fastmath={"reassoc", "contract", "nsz"})


def inlined(function: Any) -> Any:
    """Compile what is called in one place, or is tiny, as a part of its caller."""
    return Kernel(function, inline="always")


def inner(function: Any) -> Any:
    """Compile what kernels call in several places. Called from Python it is plain Python."""
    _TO_REGISTER.append(function)
    return function
