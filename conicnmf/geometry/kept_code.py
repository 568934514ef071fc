"""Where compiled code is kept between processes, and what happens where it cannot be.

Numba keeps it next to the package or in the user's cache. Both may be read-only, a disk full and a
file damaged: then a kernel is compiled once more, and one line of the log says how to save that time.
Code that is not kept must never stop a solve.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, NullCache
from numba.extending import register_jitable

from conicnmf.geometry.compile_time import timed

_LOG = logging.getLogger("conicnmf")


def compile_kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return a compiled function that keeps its code where there is a place for it."""
    kernel = njit(nogil=True, error_model="numpy", **options)(function)
    if "inline" in options:  # a part of its callers, and kept with them
        return kernel
    try:
        kernel._cache = _Kept(function)
    except (RuntimeError, OSError):
        kernel._cache = _NotKept()
    kernel.compile = timed(kernel.compile, function.__qualname__.lstrip("_"))
    return kernel


def register(function: Callable[..., Any]) -> None:
    """Let kernels call a function that Python calls as it is."""
    register_jitable(nogil=True, error_model="numpy", no_cfunc_wrapper=True, fastmath=False)(
        function
    )


def has_code(kernel: Any) -> bool:
    """Return whether a kernel is compiled, in this process or on disk."""
    kept = getattr(kernel._cache, "cache_path", None)
    return bool(kernel.overloads) or (kept is not None and _on_disk(kernel._cache))


def _on_disk(kept: Any) -> bool:
    try:
        return os.path.exists(kept._cache_file._index_path)
    except AttributeError:  # numba keeps its files in another way
        return False


@cache
def _advise(reason: str) -> None:
    _LOG.warning(
        "compiled code cannot be cached (%s), so each process compiles again, for some seconds; "
        "set NUMBA_CACHE_DIR to a writable folder",
        reason,
    )


class _NotKept(NullCache):
    """No place at all, of which the first function that is compiled gives notice."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Find nothing."""
        _advise("there is no folder for it")


class _Kept(FunctionCache):
    """Numba's files, where one that cannot be read or written counts as one that is not there."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return kept code, nothing where it is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # pickled data that were changed may raise anything
            _advise(f"{self.cache_path}: {type(error).__name__}")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep code as far as the disk allows."""
        try:
            super().save_overload(sig, data)
        except Exception as error:  # a full disk, or an index of it that is damaged
            _advise(f"{self.cache_path}: {error}")
