"""Solvers, starts and stop rules, as the text that is evaluated to make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import conicnmf as cn

from .data import pick

EVERY = {
    "None": 10,
    "cn.TangentPlane()": 3,
    "cn.SparsityMaximization()": 3,
    "cn.HALS()": 4,
    "cn.HALS(sweeps=1)": 1,
    "cn.HALS(extrapolate=False)": 2,
    "cn.ANLS()": 5,
    "cn.ProjectedGradient()": 3,
    "cn.ProjectedGradient(free='gradient')": 4,
    "cn.Multiplicative()": 4,
    "cn.Coded()": 2,
    "cn.Coded(cn.coding.OMP(max_atoms=2))": 1,
    "cn.Coded(cn.coding.L0(0.1))": 1,
    "cn.Chain((cn.HALS(), cn.ProjectedGradient()))": 1,
    "cn.Chain((cn.ANLS(), cn.Multiplicative()), patience=1)": 1,
    "cn.JointNLP()": 0.3,
}
BY_COMPONENT = {
    "None": 12,
    "cn.TangentPlane()": 6,
    "cn.TangentPlane(upper='cuts')": 1,
    "cn.SparsityMaximization()": 5,
    "cn.SparsityMaximization(rounds=3)": 1,
    "cn.SparsityMaximization(form='taylor')": 5,
    "cn.HALS()": 6,
    "cn.HALS(extrapolate=False)": 2,
    "cn.ProjectedGradient()": 4,
    "cn.ProjectedGradient(free='gradient')": 4,
    "cn.Chain((cn.TangentPlane(), cn.HALS()))": 2,
    "cn.Chain((cn.HALS(), cn.ProjectedGradient()))": 1,
    "cn.Multiplicative()": 0.5,
    "cn.JointNLP()": 0.3,
}
CONIC = {
    "None": 30,
    "cn.TangentPlane()": 10,
    "cn.TangentPlane(engine='conic')": 1,
    "cn.TangentPlane(rounds=1, linearizations=2)": 2,
    "cn.SparsityMaximization()": 6,
    "cn.SparsityMaximization(form='taylor')": 5,
    "cn.SparsityMaximization(engine='conic')": 1,
    "cn.ProjectedGradient()": 2,
    "cn.HALS()": 1,
    "cn.JointNLP()": 0.3,
}
SOLVERS = {"plain": EVERY, "components": BY_COMPONENT, "any": CONIC}
"""Solvers for each style of case: mostly some that fit, now and then one that does not."""
STOPS = {
    "{k}": 6,
    "cn.MaxIter({k})": 2,
    "cn.MaxIter(40) | cn.RelDecrease(1e-3)": 6,
    "cn.RelDecrease(1e-2, patience=1) | cn.MaxIter(30)": 3,
    "cn.RelDecrease(0.1) & cn.MaxIter({k})": 1,
    "cn.FactorChange(1e-3) | cn.MaxIter({k})": 1,
    "cn.TimeLimit(600) | cn.MaxIter({k})": 1,
    "None": 1.5,
}
STARTS = {
    "None": 10,
    "cn.Random()": 1,
    "cn.NNDSVD()": 2,
    "cn.NNDSVD('zero')": 1,
    "cn.NNDSVD('random')": 1,
    "pair": 3,
    "poor pair": 1,
    "given W": 1,
    "cn.ConeSearch(samples=4, budget=20)": 0.5,
}
MONOTONE = ("HALS", "ANLS", "Multiplicative", "SparsityMaximization", "ProjectedGradient")


@dataclass(frozen=True, eq=False)
class Method:
    """How a case is solved."""

    solver: str
    start: str
    stop: str
    seed: int
    throw: bool
    inputs: tuple[Any, ...]

    @property
    def text(self):
        end = "throw" if self.throw else "no throw"
        return f"{self.solver}, start {self.start}, stop {self.stop}, seed {self.seed}, {end}"

    @property
    def monotone(self):
        """Whether the named solver says that the objective never rises."""
        return self.solver.removeprefix("cn.").split("(")[0] in MONOTONE

    def options(self):
        """Return the arguments of `solve`."""
        init = _evaluate(self.start) if self.start[0] in "cN" else self.inputs
        if self.start == "given W":
            init = cn.Given(W=self.inputs[0])
        return {
            "solver": _evaluate(self.solver),
            "init": init,
            "stop": _evaluate(self.stop),
            "seed": self.seed,
            "throw": self.throw,
        }


def draw_method(rng, style, point, tiny):
    """Draw how to solve; `point` is the feasible pair, `tiny` says that anything is affordable."""
    solver = pick(rng, SOLVERS[style])
    if solver == "cn.JointNLP()" and not tiny:
        solver = "None"
    start = pick(rng, STARTS)
    inputs = {
        "pair": tuple(X.copy() for X in point),
        "poor pair": tuple(np.abs(rng.standard_normal(X.shape)) for X in point),
        "given W": (point[0].copy(),),
    }.get(start, ())
    stop = pick(rng, STOPS).format(k=int(rng.choice([0, 1, 2, 3, 5, 8, 15])))
    if solver == "cn.JointNLP()":
        stop = "1"
    return Method(solver, start, stop, int(rng.integers(1000)), bool(rng.random() < 0.5), inputs)


def _evaluate(text):
    return eval(text, {"cn": cn})  # only the texts above
