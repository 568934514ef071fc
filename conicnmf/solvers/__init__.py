"""Solvers: one method a file, all behind the same interface."""

from __future__ import annotations

from conicnmf.blocks import Blocks
from conicnmf.compat import mismatches
from conicnmf.errors import IncompatibleError
from conicnmf.solvers.anls import ANLS
from conicnmf.solvers.base import Context, Solver, Sweep, Update
from conicnmf.solvers.chain import Chain
from conicnmf.solvers.coded import Coded
from conicnmf.solvers.hals import HALS
from conicnmf.solvers.joint_nlp import JointNLP
from conicnmf.solvers.multiplicative import Multiplicative
from conicnmf.solvers.projected_gradient import ProjectedGradient
from conicnmf.solvers.sparsity_maximization import SparsityMaximization
from conicnmf.solvers.tangent_plane import TangentPlane

__all__ = [
    "ANLS",
    "HALS",
    "SOLVERS",
    "Chain",
    "Coded",
    "Context",
    "JointNLP",
    "Multiplicative",
    "ProjectedGradient",
    "Solver",
    "SparsityMaximization",
    "Sweep",
    "TangentPlane",
    "Update",
    "choose",
]

SOLVERS: tuple[type[Solver], ...] = (
    TangentPlane,
    SparsityMaximization,
    HALS,
    ANLS,
    ProjectedGradient,
    Multiplicative,
    Coded,
    JointNLP,
)
"""Every solver, in the order in which tables list them."""

_FEW = 25
"""Up to this rank moving all components at once is worth its cost."""


def choose(blocks: Blocks) -> tuple[Solver, str]:
    """Return the solver that fits a problem best, and why.

    The order was measured: with few components and a lower bound on sparseness, component-wise
    steps are trapped where tangent planes are not; with many it is the other way round.
    """
    preference: list[tuple[Solver, str]] = [
        (HALS(), "every component has an exact projection, which is fastest"),
        (TangentPlane(), "the constraints need a cone solver"),
        (ProjectedGradient(), "the constraints have a joint projection"),
    ]
    if blocks.problem.rank <= _FEW and any(block.reverse_convex for block in blocks):
        polished = Chain((TangentPlane(), HALS()))
        preference.insert(0, (polished, "tangent planes find a basin, exact steps polish it"))
    for solver, why in preference:
        if not mismatches(blocks, solver):
            return solver, why
    reasons = {kind.__name__: mismatches(blocks, kind()) for kind in SOLVERS}
    listed = "\n".join(f"  - {name}: {reason}" for name, all_ in reasons.items() for reason in all_)
    raise IncompatibleError(f"no solver fits this problem:\n{listed}\nDrop one of these terms.")
