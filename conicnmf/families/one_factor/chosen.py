"""Which solver of one-factor problems is picked by default."""

from __future__ import annotations

from collections.abc import Sequence

from conicnmf.families.one_factor.cone_ascent import ConeAscent
from conicnmf.families.one_factor.multiplicative import ProjectionRule
from conicnmf.families.one_factor.reconstruct import ProjectedDescent, ProjectiveRule
from conicnmf.solve.methods.base import AnySolver

_WHY: dict[type[AnySolver], str] = {
    ConeAscent: "for one column each step is a cone program, and none is worse than the last",
    ProjectiveRule: "it never raises ‖V − WWᵀV‖² and has nothing to tune",
    ProjectionRule: "it takes any symmetric A and has nothing to tune",
    ProjectedDescent: "the constraints on W have a projection",
}


def preferred() -> Sequence[tuple[AnySolver, str]]:
    """Return the solvers in the order in which to try them, each with a reason."""
    return [(kind(), why) for kind, why in _WHY.items()]
