"""How a case is solved: solver, start, stop rule, limit of time, callback, effort, threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import conicnmf as cn

from .numbers import chance, pick
from .solvers import MISFITS, MONOTONE, SOLVERS
from .solvers import WRONG as NO_SOLVERS
from .starts import as_init, draw_start

STOPS = {
    "{k}": 6,
    "cn.MaxIter({k})": 2,
    "cn.MaxIter(40) | cn.RelDecrease(1e-3)": 6,
    "cn.RelDecrease(1e-2, patience=1) | cn.MaxIter(30)": 3,
    "cn.RelDecrease(0.1) & cn.MaxIter({k})": 1,
    "cn.FactorChange(1e-3) | cn.MaxIter({k})": 1,
    "cn.TimeLimit(600) | cn.MaxIter({k})": 1,
    "cn.TimeLimit(0) | cn.MaxIter({k})": 0.3,
    "None": 1.5,
}
NO_STOPS = {"-1": 1, "2.5": 1, "'never'": 1, "True": 0.5}
CALLBACKS = {"none": 12, "records": 4, "stops": 1, "scribbles": 1, "raises": 1}
EFFORTS = {"low": 10, "normal": 3, "high": 0.4}
THREADS = {0: 10, 1: 2, 2: 2}
"""How many threads; 0 stands for the default."""
WRONG_MORE = {"effort": ("'most'", "2"), "n_threads": ("0", "1.5", "'all'")}
LIMITS = {"none": 12, "no time": 0.5, "some time": 1, "long": 0.5}


@dataclass(frozen=True, eq=False)
class Method:
    """How a case is solved; `wrong` names the argument that must be refused, if any.

    Who does not insist on a solver takes the default where it does not fit.
    """

    solver: str
    start: str = "None"
    stop: str = "20"
    seed: int = 0
    throw: bool = True
    arrays: dict[str, Any] = field(default_factory=dict)
    callback: str = "none"
    limit: str = "none"
    wrong: str = ""
    insists: bool = True
    more: str = "{}"

    @property
    def text(self):
        end = "throw" if self.throw else "no throw"
        solver = self.solver if self.insists else f"{self.solver} or the default"
        more = "".join(
            f", {name} {own}"
            for name, own in (
                ("callback", self.callback),
                ("limit", self.limit),
                ("with", self.more),
            )
            if own not in ("none", "{}")
        )
        return f"{solver}, start {self.start}, stop {self.stop}, seed {self.seed}, {end}{more}"

    @property
    def name(self):
        """The name of the solver's class."""
        return self.solver.strip("'").split("(")[0].split(".")[-1]

    @property
    def monotone(self):
        """Whether the named solver says that the objective never rises."""
        return self.name in MONOTONE

    def made(self):
        """Return the solver as it is passed on."""
        return eval(self.solver, {"cn": cn})  # only the texts of the tables

    def options(self, stated):
        """Return the arguments of `solve`, but for what watches it."""
        return {
            "solver": self.made(),
            "init": as_init(self.start, self.arrays, stated),
            "stop": eval(self.stop, {"cn": cn}),
            "seed": self.seed,
            "throw": self.throw,
        } | eval(self.more)


def draw_method(rng, style, point, units, tiny):
    """Draw how to solve; `point` is the feasible one, `tiny` says that anything is affordable."""
    wrong = pick(rng, {"": 90, "solver": 1, "start": 1, "stop": 1, "effort": 0.5, "n_threads": 0.5})
    table = MISFITS if chance(rng, 0.06) else SOLVERS[style]
    solver = pick(rng, NO_SOLVERS if wrong == "solver" else table)
    if solver == "cn.JointNLP()" and not tiny:
        solver = "None"
    # For atoms of length one, which have no unit.
    solver = solver.format(price=0.125 * units["data"], slope=0.125 * units["data"], entry=0.125)
    start, arrays = draw_start(rng, point, units, wrong == "start")
    limits = [0, 1, 2, 3, 5, 8, 15]
    stop = pick(rng, NO_STOPS if wrong == "stop" else STOPS).format(k=int(rng.choice(limits)))
    if solver == "cn.JointNLP()" and not wrong:
        stop = "1"
    return Method(
        solver,
        start,
        stop,
        int(rng.integers(1000)),
        chance(rng, 0.5),
        arrays,
        pick(rng, CALLBACKS),
        pick(rng, LIMITS),
        wrong,
        chance(rng, 0.4),
        _more(rng, wrong),
    )


def _more(rng, wrong):
    """Return the text of settings that most leave alone."""
    effort, threads = pick(rng, EFFORTS), pick(rng, THREADS)
    found = ({"effort": repr(effort)} if effort != "low" else {}) | (
        {"n_threads": repr(threads)} if threads else {}
    )
    if wrong in WRONG_MORE:
        found[wrong] = str(rng.choice(WRONG_MORE[wrong]))
    return "{" + ", ".join(f"{name!r}: {own}" for name, own in found.items()) + "}"
