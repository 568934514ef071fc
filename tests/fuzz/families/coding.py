"""Codes of samples in a given dictionary, each coder against what it promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from ..draw.data import Data, draw_data
from ..draw.numbers import chance, pick, short
from ..judge.checked import near, run_checks
from ..judge.codes import excess
from ..judge.findings import Finding

CODERS = {
    "None": 2,
    "LeastSquares()": 3,
    "Lasso({w})": 3,
    "SquaredLasso({w2})": 2,
    "Threshold({t})": 2,
    "Threshold({t}, refit=True)": 2,
    "OMP(max_atoms={k})": 2,
    "OMP(rel_error=0.2)": 1,
    "L0({t})": 2,
    "L0({t}, squared=True)": 2,
    "L0({t}, groups=[{groups}])": 1,
    "GroupOMP([{groups}], max_groups={k})": 1,
    "ForwardBackward({t})": 2,
    "ForwardBackward({t}, max_atoms={k})": 1,
    "IterativeThreshold({t})": 1,
    "IterativeThreshold({w}, soft=True)": 1,
    "BranchAndBound({t})": 1,
}
WRONG = {
    "negative": 1,
    "NaN": 1,
    "another height": 1,
    "sparse": 1,
    "one-dimensional": 1,
    "no atoms": 1,
    "coder": 1,
    "init": 1,
}


@dataclass(frozen=True, eq=False)
class CodingCase:
    """Samples, a dictionary and a coder."""

    id: str
    data: Data
    W: Any
    coder: Any
    settings: dict[str, Any]
    wrong: str
    warm: bool
    known: np.ndarray | None = None

    @property
    def text(self):
        d, M = self.data.dense.shape
        some = "" if self.known is None else f", {int(self.known.sum())} entries known"
        wrong = f", wrong {self.wrong}" if self.wrong else ""
        warm = ", from other codes" if self.warm else ""
        shape = getattr(self.W, "shape", None)
        return (
            f"{self.id}  V {d} × {M} ({self.data.text}), W {shape}, {self.coder}{wrong}{warm}{some}"
        )

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_checks(self)

    @property
    def refused(self):
        return self.data.refused or bool(self.wrong)

    def inputs(self):
        return [self.data.V, self.W] + ([] if self.known is None else [self.known])

    def made(self):
        """Return the coder."""
        if self.wrong == "coder":
            return "OMP"
        names = {name: getattr(cn.coding, name) for name in cn.coding.__all__}
        return eval(self.coder, names)  # only the texts above

    def check(self):
        """Code, and yield what is wrong with the codes."""
        V, W = self.data.V, self.W
        init = None
        if self.wrong == "init":
            init = np.ones((99, 2))
        elif self.warm and not self.wrong:
            init = np.ones((W.shape[1], self.data.dense.shape[1]))
        H = cn.sparse_code(V, W, self.made(), **self._given(init))
        if self.refused:
            return
        X, H = self.data.dense, np.asarray(H, dtype=float)
        if H.shape != (W.shape[1], X.shape[1]) or not np.isfinite(H).all() or H.min() < 0:
            yield Finding("value", f"codes of shape {H.shape}, not finite, or negative")
            return
        yield from self._judged(X, np.asarray(W, dtype=float), H)
        if X.shape[1] > 1 and not self.warm:
            yield from self._alone(X, W, H)

    def _given(self, init):
        return {"init": init} | ({} if self.known is None else {"known": self.known})

    def _alone(self, X, W, H):
        """The code of a sample does not depend on the others, nor on entries that are not known."""
        rows = slice(None) if self.known is None else self.known[:, 0]
        seen, atoms = X[rows, :1].astype(self._kind), np.ascontiguousarray(W[rows])
        one = np.asarray(cn.sparse_code(seen, atoms, self.made()))
        exact = 1e-3 if self.data.single else 1e-6
        if not near(atoms @ one, atoms @ H[:, :1], exact, np.abs(X).max()):
            yield Finding("value", "the code of a sample depends on the others")

    @property
    def _kind(self):
        return np.float32 if self.data.single else np.float64

    def _judged(self, X, W, H):
        t, k = self.settings["t"], self.settings["k"]
        n_atoms, whole = (H > 0).sum(axis=0), (X**2).sum(axis=0).max(initial=0.0)
        # Costs are squares of the data, or their roots.
        unit = max(whole, np.sqrt(whole)) if "L0" in self.coder else whole
        worst = max(self._excess(X, W, H), default=0.0)
        if worst > (1e-4 if self.data.single else 1e-8) * unit:
            yield Finding("value", f"a cost {worst:.3g} above what it should be, of {whole:.3g}")
        if f"max_atoms={k}" in self.coder and n_atoms.max(initial=0) > k:
            yield Finding("value", f"{n_atoms.max()} atoms, at most {k} are allowed")
        cut = self.coder.startswith("Threshold") and "refit" not in self.coder
        if cut and ((H > 0) & (t * (1 - 1e-6) > H)).any():
            yield Finding("value", "a code lies below the threshold")

    def _excess(self, X, W, H):
        if self.known is None:
            return excess(self.coder, self.settings, X, W, H)
        return [
            float(excess(self.coder, self.settings, x[rows, None], W[rows], h[:, None]).max())
            for x, h, rows in zip(X.T, H.T, self.known.T, strict=True)
        ]


def draw(rng, name, shift=0):
    """Draw samples, a dictionary and a coder."""
    d, M, r = int(rng.integers(1, 10)), int(rng.integers(1, 9)), int(rng.integers(1, 12))
    unit = float(pick(rng, {1.0: 8, 2.0**24: 1, 2.0**-24: 1, 2.0**90: 0.3, 2.0**-90: 0.3}))
    W = rng.random((d, r)) ** 2
    if chance(rng, 0.2):
        W[:, 0] = 0
    if r > 1 and chance(rng, 0.2):
        W[:, -1] = W[:, 0]
    data = draw_data(rng, unit * W @ (rng.random((r, M)) * (rng.random((r, M)) < 0.5)), unit, 0.04)
    size = float(np.abs(data.dense).max()) or unit
    settings = {
        "w": short(size * rng.uniform(0, 1)),
        "w2": short(rng.uniform(0, 1)),
        "t": short(size * rng.uniform(0, 0.5)),
        "k": int(rng.integers(1, 4)),
        "groups": ", ".join(str(i // 2) for i in range(r)),
    }
    coder = pick(rng, CODERS).format(**settings)
    wrong = pick(rng, WRONG) if chance(rng, 0.08) else ""
    spoiled = {
        "negative": lambda: W - 0.5 - W.min(),
        "NaN": lambda: np.where(W.max() == W, np.nan, W),
        "another height": lambda: np.vstack([W, W]),
        "sparse": lambda: sp.csr_array(W),
        "one-dimensional": lambda: W[:, 0],
        "no atoms": lambda: W[:, :0],
    }
    kind = np.float32 if chance(rng, 0.1) else np.float64
    given = spoiled.get(wrong, lambda: W.astype(kind))()
    if kind == np.float32 and not wrong:
        given = W.astype(kind)
    known = None
    dense = type(data.V) is np.ndarray and data.V.dtype.kind == "f" and not data.refused
    if dense and chance(rng, 0.15):
        known = rng.random(data.V.shape) < 0.7
        known[0] = True
        spoiled_places = np.where(known, data.V, np.nan).astype(data.V.dtype)
        data = replace(data, V=spoiled_places)
    return CodingCase(name, data, given, coder, settings, wrong, chance(rng, 0.2), known)
