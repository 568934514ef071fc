"""The two compilers of the kernels: strict arithmetic, cached on disk, free of the GIL."""

from __future__ import annotations

from numba import njit

# The order of every sum is fixed (no fastmath), so equal input gives equal output; division by
# zero gives inf or nan as in NumPy, because a kernel reports bad numbers and never raises.
jit = njit(cache=True, nogil=True, error_model="numpy")
parallel_jit = njit(cache=True, nogil=True, error_model="numpy", parallel=True)
