"""The solvers of projections, in the order of tables, and which one is picked by default."""

from __future__ import annotations

from conicnmf.projections.additive import NaturalGradient, Oja
from conicnmf.projections.cone_ascent import ConeAscent
from conicnmf.projections.multiplicative import PlainSplit, ProjectionRule
from conicnmf.projections.online import OnlineHebbian
from conicnmf.projections.reconstruct import ProjectedDescent, ProjectiveRule
from conicnmf.solvers.base import Solver
from conicnmf.statement import Statement

PROJECTION_SOLVERS: tuple[type[Solver], ...] = (
    ConeAscent,
    ProjectiveRule,
    ProjectionRule,
    ProjectedDescent,
    OnlineHebbian,
    Oja,
    NaturalGradient,
    PlainSplit,
)

_WHY: dict[type[Solver], str] = {
    ConeAscent: "for one column each step is a cone program, and none is worse than the last",
    ProjectiveRule: "it never raises ‖V − WWᵀV‖² and has nothing to tune",
    ProjectionRule: "it takes any symmetric A and has nothing to tune",
    ProjectedDescent: "the constraints on W have a projection",
}


def first_fit(statement: Statement) -> tuple[Solver, str]:
    """Return the first solver that fits, and why."""
    for kind, why in _WHY.items():
        solver = kind()
        if not statement.mismatches(solver):
            return solver, why
    return ConeAscent(), "nothing fits, and its reasons say what to change"
