"""A package of somebody else, written to a folder and installed with pip, as users meet it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "their-nmf"
version = "1.0"

[project.entry-points."conicnmf.solvers"]
TheirSolver = "their_nmf:TheirSolver"
[project.entry-points."conicnmf.terms"]
TheirBall = "their_nmf:TheirBall"
[project.entry-points."conicnmf.losses"]
TheirLoss = "their_nmf:TheirLoss"
[project.entry-points."conicnmf.starts"]
TheirStart = "their_nmf:TheirStart"
[project.entry-points."conicnmf.datasets"]
their_waves = "their_nmf:their_waves"
"""

SOURCE = '''
"""A solver, a constraint, a loss, a start and a data set."""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

import conicnmf as cn
from conicnmf.extend import BlockSolver, Constraint, Dataset, Loss, Start, Update
from conicnmf.solve.needs import LossWith, joint_projection


@dataclass(frozen=True)
class TheirSolver(BlockSolver):
    """Plain projected gradient steps."""

    needs: ClassVar = (LossWith(("quadratic",), "which the step needs"), joint_projection)

    def update(self, held, B, memo):
        quadratic = held.quadratic()
        length = np.linalg.norm(quadratic.G, 2) or 1.0
        return Update(held.block.projection(B - (quadratic.G @ B - quadratic.C) / length))


@dataclass(frozen=True)
class TheirBall(Constraint):
    """All entries lie between 0 and 2."""

    each: str = "entry"
    implies_nonnegative: ClassVar = True

    def violation(self, B):
        return np.maximum(np.maximum(-B, B - 2), 0)

    def cone(self, B):
        return [B >= 0, B <= 2]

    def project(self, B):
        return np.clip(B, 0, 2)


@dataclass(frozen=True, eq=False)
class TheirLoss(cn.Frobenius):
    """Half of the squared distance."""

    scale: float = 0.5


@dataclass(frozen=True)
class TheirStart(Start):
    """Ones everywhere, a little disturbed."""

    def factors(self, problem, rng):
        return {name: 1 + 0.1 * rng.random(shape) for name, shape in problem.shapes.items()}


def their_waves(n_samples: int = 12):
    """Sums of two waves."""
    time = np.linspace(0, 6, 20)[:, None]
    V = 2 + np.sin(time + np.arange(n_samples)) + np.cos(2 * time * np.ones(n_samples))
    return Dataset("their_waves", V, description="Generated.")


their_waves.size = "20 × 12"
'''

BROKEN = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "broken-nmf"
version = "1.0"

[project.entry-points."conicnmf.solvers"]
Broken = "broken_nmf:Broken"
"""


def install(folder: Path, module: str, pyproject: str, source: str) -> Path:
    """Write a package, build and install it with pip; return the folder to put on the path."""
    project, site = folder / f"{module} project", folder / f"{module} site"
    (project / module).mkdir(parents=True)
    (project / "pyproject.toml").write_text(pyproject)
    (project / module / "__init__.py").write_text(source)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(site)]
    command = [sys.executable, "-m", "pip", "install", "-q", *options, str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site
