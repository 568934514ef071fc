"""Solvers: one method a file, all behind the same interface."""

from __future__ import annotations

from conicnmf.solve.methods.accelerated_multiplicative import AcceleratedMultiplicative
from conicnmf.solve.methods.anls import ANLS
from conicnmf.solve.methods.base import (
    SOLVERS,
    BlockSolver,
    Context,
    Solver,
    Sweep,
    Update,
    register_solvers,
)
from conicnmf.solve.methods.chain import Chain
from conicnmf.solve.methods.cyclic_newton import CyclicNewton
from conicnmf.solve.methods.hals import HALS
from conicnmf.solve.methods.joint_nlp import JointNLP
from conicnmf.solve.methods.multiplicative import Multiplicative
from conicnmf.solve.methods.projected_gradient import ProjectedGradient
from conicnmf.solve.methods.race import Race
from conicnmf.solve.methods.smoothing import Smoothing
from conicnmf.solve.methods.sparsity_maximization import SparsityMaximization
from conicnmf.solve.methods.splitting import Splitting
from conicnmf.solve.methods.tangent_plane import TangentPlane

__all__ = [
    "ANLS",
    "HALS",
    "SOLVERS",
    "AcceleratedMultiplicative",
    "BlockSolver",
    "Chain",
    "Context",
    "CyclicNewton",
    "JointNLP",
    "Multiplicative",
    "ProjectedGradient",
    "Race",
    "Smoothing",
    "Solver",
    "SparsityMaximization",
    "Splitting",
    "Sweep",
    "TangentPlane",
    "Update",
]

register_solvers(
    TangentPlane,
    SparsityMaximization,
    HALS,
    ANLS,
    CyclicNewton,
    Splitting,
    ProjectedGradient,
    AcceleratedMultiplicative,
    Multiplicative,
    JointNLP,
)
# What scikit-learn and papers call them.
for _kind, _name in ((Multiplicative, "mu"), (HALS, "cd"), (ANLS, "als")):
    SOLVERS.add(_kind.__name__, _kind, _name)
