"""The guarded boundary of a solve: what raises inside it, and Ctrl-C that native code swallows.

An exception that is raised in a callback of native code is printed and dropped there. So Ctrl-C is
noted in addition to being raised, and looked for when the native code is back.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass
class _Watch:
    """Whether Ctrl-C was pressed; how many solves look out for it, and how many hold it back."""

    noted: bool = False
    solves: int = 0
    holding: int = 0


# Signals belong to the process, and so does what is known of them.
_WATCH = _Watch()


@contextmanager
def interruptions_noted() -> Iterator[None]:
    """Note Ctrl-C until the end, for `raise_noted`; a solve inside another shares its notes."""
    own = signal.getsignal(signal.SIGINT)
    if not _in_main_thread() or not callable(own):
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        _WATCH.noted = True
        if not _WATCH.holding:
            own(number, frame)

    if not _WATCH.solves:
        _WATCH.noted = False
    _WATCH.solves += 1
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        _WATCH.solves -= 1
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, own)


@contextmanager
def interruptions_held() -> Iterator[None]:
    """Let Ctrl-C wait until the end: for native code with callbacks, and for what must be whole."""
    if not _in_main_thread():
        yield
        return
    _WATCH.holding += 1
    try:
        yield
    finally:
        _WATCH.holding -= 1


def interrupted() -> bool:
    """Whether Ctrl-C was pressed in this solve or in the one around it."""
    return _WATCH.noted and _WATCH.solves > 0 and _in_main_thread()


def raise_noted() -> None:
    """Raise the KeyboardInterrupt that native code may have swallowed."""
    if interrupted():
        raise KeyboardInterrupt


def is_fault(error: BaseException) -> bool:
    """Whether something went wrong, rather than that the user or the process wants to end.

    A panic of a library written in Rust is no `Exception`.

    Examples
    --------
    >>> is_fault(MemoryError()), is_fault(KeyboardInterrupt()), is_fault(SystemExit())
    (True, False, False)
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def in_words(error: BaseException) -> str:
    r"""Return an exception in one line.

    Examples
    --------
    >>> in_words(ValueError("no such\nfile")), in_words(MemoryError())
    ('ValueError: no such file', 'MemoryError')
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
