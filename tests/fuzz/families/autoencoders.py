"""Autoencoders: fast codes, the symmetric machine and predictive codes, by their own formulas."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit

from conicnmf.families.autoencoders import FastCodes, PredictiveCodes, SymmetricMachine

from ..draw.data import Data, draw_data
from ..draw.methods import Method, draw_method
from ..draw.numbers import chance, pick
from ..judge import measures
from ..judge.run import run_problem
from ..judge.stated import Stated

SOLVERS = {
    "FastCodes": {
        "None": 4,
        "cn.autoencoders.SCFC(cn.autoencoders.Ramp(3))": 3,
        "cn.autoencoders.SCFC(cn.autoencoders.Approach(2.0), momentum=0.0)": 1,
        "cn.autoencoders.MiniBatch()": 0.3,
    },
    "PredictiveCodes": {"None": 3, "cn.autoencoders.MiniBatch(batch=3, rate=0.05)": 2},
    "SymmetricMachine": {"None": 3, "cn.autoencoders.MiniBatch(batch=1)": 2, "cn.HALS()": 0.3},
}


@dataclass(frozen=True, eq=False)
class AutoencoderCase:
    """One autoencoder, its settings, and how it is solved."""

    id: str
    kind: str
    data: dict[str, Data]
    rank: int
    settings: dict[str, Any]
    method: Method
    point: dict[str, np.ndarray]
    doors: tuple[str, ...] = ("terms",)
    terms: dict[str, Any] = field(default_factory=dict)

    feasible = True
    may_be_unread = False

    @property
    def text(self):
        V = self.data["V"]
        d, M = V.dense.shape
        shown = {name: own for name, own in self.settings.items() if name != "y"}
        head = f"{self.id}  {self.kind}(V {d} × {M} ({V.text}), {self.rank}, {shown})"
        return f"{head}; {self.method.text}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_problem(self)

    @property
    def single(self):
        return self.data["V"].single

    @property
    def refused(self):
        data = self.data["V"]
        zero = self.kind == "FastCodes" and not data.dense.any()
        return "data" if data.refused or zero else self.method.wrong

    @property
    def shapes(self):
        (d, M), r = self.data["V"].dense.shape, self.rank
        thin = {"FastCodes": ("theta", "beta"), "PredictiveCodes": ("theta_enc", "gain")}
        found = {"W": (d, r)} | dict.fromkeys(thin.get(self.kind, ("theta_enc",)), (r, 1))
        if self.kind == "FastCodes":
            found |= {"H": (r, M)}
            found |= {"w_out": (r, 1), "theta_out": (1, 1)} if "y" in self.settings else {}
        elif self.kind == "PredictiveCodes":
            found |= {"W_enc": (d, r)}
        else:
            found |= {"theta_dec": (d, 1)}
        return found

    def _codes(self, X):
        V = self.data["V"].dense
        if self.kind == "FastCodes":
            return np.tanh(X["beta"] * (X["W"].T @ V + X["theta"])) ** self.settings["q"]
        if self.kind == "PredictiveCodes":
            return X["gain"] * np.tanh(X["W_enc"].T @ V + X["theta_enc"])
        return X["W"].T @ V + X["theta_enc"]

    def _decoded(self, X):
        if self.kind == "FastCodes":
            return X["W"] @ X["H"]
        H = self._codes(X)
        if self.kind == "PredictiveCodes":
            return X["W"] @ H
        return X["W"] @ expit(H) + X["theta_dec"]

    def objective(self, X):
        """Return the stated mean of losses."""
        V, H = self.data["V"].dense, self._codes(X)
        M = V.shape[1]
        error = measures.squares(V, self._decoded(X))
        if self.kind == "PredictiveCodes":  # inferred codes are predicted without error
            return (error + 0.5 * np.abs(H).sum()) / M
        if self.kind == "SymmetricMachine":
            return (error + 0.2 * np.log1p(H**2).sum()) / M + 1e-3 * np.abs(X["W"]).sum()
        infer, teach = self.settings["alpha_i"], 0.0
        total = infer * measures.squares(X["H"], H) / self.rank
        if "y" in self.settings:
            teach = 0.3
            said = np.tanh(X["w_out"].T @ H + X["theta_out"])
            wanted = np.where(self.settings["y"] == self.settings["y"].max(), 1.0, -1.0)
            total += teach * measures.squares(wanted, said.ravel()) / M
        return total + (1 - infer - teach) * error / float((V**2).sum())

    def size(self, X):
        return abs(self.objective(X)) + self.magnitude(X) / self.data["V"].dense.shape[1]

    def magnitude(self, X):
        V, U = self.data["V"].dense, self._decoded(X)
        return float((V**2).sum() + (U**2).sum())

    def errors(self, X):
        whole = float((self.data["V"].dense ** 2).sum())
        return {"V": (measures.squares(self.data["V"].dense, self._decoded(X)), whole)}

    def violation(self, X):
        """Return the largest violation and what it is of."""
        if self.kind == "SymmetricMachine":
            return 0.0, ""
        if self.kind == "PredictiveCodes":
            return float(np.linalg.norm(X["W"], axis=0).max() - 1), "norms of W"
        found = [(float(np.abs(np.linalg.norm(X["H"], axis=1) - 1).max()), "norms of H")]
        for name, rows in (("w", X["W"].T), ("h", X["H"])):
            s = self.settings[f"sparseness_{name}"]
            if s is not None:
                found.append((measures.outside_band(rows, s, s), f"sparseness_{name}"))
            if self.settings["nonneg"]:
                found.append((float(-rows.min()), "signs"))
        return max(found)

    def state(self, door):
        """State the problem."""
        kinds = {own.__name__: own for own in (FastCodes, PredictiveCodes, SymmetricMachine)}
        return Stated(kinds[self.kind](self.data["V"].V, self.rank, **self.settings))

    def inputs(self):
        return [self.data["V"].V, *self.method.arrays.values()]


def draw(rng, name, shift=0):
    """Draw an autoencoder."""
    d, M, rank = int(rng.integers(1, 10)), int(rng.integers(2, 14)), int(rng.integers(1, 6))
    kind = pick(rng, {"FastCodes": 3, "PredictiveCodes": 1, "SymmetricMachine": 1})
    unit = float(pick(rng, {1.0: 12, 2.0**12: 1, 2.0**-12: 1}))
    data = draw_data(rng, unit * rng.standard_normal((d, rank)) @ rng.random((rank, M)), unit, 0.04)
    settings: dict[str, Any] = {}
    if kind == "FastCodes":
        settings = {
            "sparseness_w": pick(rng, {None: 1, 0.5: 2, 0.8: 2, 0.0: 0.3, 1.0: 0.3}),
            "sparseness_h": pick(rng, {None: 1, 0.3: 2, 0.7: 2}),
            "nonneg": chance(rng, 0.4),
            "q": int(rng.choice([1, 3, 5])),
            "alpha_i": float(pick(rng, {0.5: 3, 0.0: 1, 0.25: 1})),
        }
        if chance(rng, 0.4):
            y = rng.permutation(np.arange(M) % 2)
            settings |= {"y": y, "alpha_c": 0.3}
    point = {"W": unit * rng.standard_normal((d, rank)), "H": rng.random((rank, M))}
    point = point if kind == "FastCodes" else {"W": point["W"]}
    method = draw_method(rng, "plain", point, {"W": unit, "H": 1.0, "data": unit}, False)
    solver = method.solver if method.wrong == "solver" else pick(rng, SOLVERS[kind])
    if not method.wrong and method.start not in ("None", "point by name", "poor point"):
        method = replace(method, start="None")
    method = replace(method, solver=solver, stop="6" if method.stop == "None" else method.stop)
    return AutoencoderCase(name, kind, {"V": data}, rank, settings, method, point)
