"""One line of a certificate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One line of a certificate: a measured number against its tolerance."""

    name: str
    measured: float
    tolerance: float
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the number is within its tolerance."""
        return bool(self.measured <= self.tolerance)
