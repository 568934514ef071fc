"""Write numbers as JSON that people can read, and compare others with them."""

from __future__ import annotations

import json
import math
from pathlib import Path

HERE = Path(__file__).parent


def read(name):
    """Return stored numbers."""
    return json.loads((HERE / f"{name}.json").read_text())


def write(name, numbers):
    """Store numbers, one line an entry."""
    lines = [f"{json.dumps(k, ensure_ascii=False)}: {_line(v)}" for k, v in numbers.items()]
    (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _line(value):
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value):
    """Return values that JSON has; what is not finite becomes a word."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def differences(stored, now, rtol, atol=0.0):
    """Return a line for each number that is another one now."""
    now = _plain(now)
    names = sorted(set(stored) | set(now), key=str)
    return [
        f"{name}: stored {stored.get(name)}, now {now.get(name)}"
        for name in names
        if not _close(stored.get(name), now.get(name), rtol, atol)
    ]


def _close(a, b, rtol, atol):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_close(x, y, rtol, atol) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=rtol, abs_tol=atol)
    return a == b
