"""The three compilers of the kernels: strict arithmetic, and as little to compile as possible.

The order of every sum is fixed (no fastmath), so equal input gives equal output; division by zero
gives inf or nan as in NumPy, because a kernel reports bad numbers and never raises.

A compiled function is optimized over again in each of its callers and their callers, so levels of
calls and wrappers are what a first use pays for.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.extending import register_jitable

from conicnmf.geometry.kept_code import keep_code


def jit(function: Any) -> Any:
    """Compile what Python calls, and what both such functions and inner ones call.

    An inner function is compiled once for either kind of caller. The code is kept on disk, where
    there is a place for it, and free of the GIL.
    """
    return keep_code(njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function))


inner = register_jitable(nogil=True, error_model="numpy", no_cfunc_wrapper=True)
"""For what kernels call in several places. Called from Python it is plain Python."""

inlined = njit(nogil=True, error_model="numpy", inline="always")
"""For what is called in one place, or is tiny: compiled as a part of its caller."""
