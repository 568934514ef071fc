"""Problems with one factor: gains and self-fits, orthonormal or with a norm of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np

import conicnmf as cn
from conicnmf.families.one_factor import ProjectiveNMF, QuadraticProjection

from ..draw import constraints
from ..draw.data import Data, draw_data
from ..draw.methods import Method, draw_method
from ..draw.numbers import chance, pick
from ..draw.operators import Matrix, draw_matrix
from ..draw.terms import Drawn, Side
from ..judge import measures
from ..judge.findings import Finding
from ..judge.run import run_problem
from ..judge.stated import Stated

SOLVERS = {
    "None": 10,
    "cn.one_factor.ConeAscent()": 3,
    "cn.one_factor.ConeAscent(engine='conic')": 1,
    "cn.one_factor.ProjectionRule()": 3,
    "cn.one_factor.ProjectionRule(last=True)": 1,
    "cn.one_factor.Oja()": 2,
    "cn.one_factor.Separation()": 1,
    "cn.one_factor.NaturalGradient()": 1,
    "cn.one_factor.PlainSplit(root=True)": 1,
    "cn.one_factor.ProjectiveRule()": 3,
    "cn.one_factor.ProjectiveQuasiNewton()": 1,
    "cn.one_factor.DirectionSearch()": 1,
    "cn.one_factor.ProjectedDescent()": 3,
    "cn.one_factor.OnlineHebbian()": 1,
    "'ConeAscent'": 0.5,
    "cn.HALS()": 0.5,
    "cn.TangentPlane()": 0.5,
}
NORMS = {"covariance": 3, "singular": 1, "identity": 1}
"""What B may be: positive semi-definite."""


@dataclass(frozen=True, eq=False)
class OneFactorCase:
    """Maximize ½tr(WᵀAW), or minimize ‖V − WWᵀV‖², over W ≥ 0 with further terms."""

    id: str
    kind: str
    matrix: Matrix | None
    norm: Matrix | None
    fit: Data | None
    rank: int
    terms: dict[str, list[Drawn]]
    point: dict[str, np.ndarray]
    doors: tuple[str, ...]
    method: Method

    feasible = True
    may_be_unread = False
    many_paths = False

    @property
    def text(self):
        given = self.fit or self.matrix
        norm = "" if self.norm is None else f", B ({self.norm.text})"
        listed = ", ".join(t.text for t in self.terms["W"])
        shape = " × ".join(map(str, self.shapes["W"]))
        doors = " and ".join(self.doors)
        head = f"{self.id}  {self.kind}, {given.text}{norm}; W {shape}: {listed}"
        return f"{head}; {doors}; {self.method.text}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_problem(self)

    @property
    def shapes(self):
        return {"W": self.point["W"].shape}

    @property
    def single(self):
        given = self.fit.V if self.fit is not None else self.matrix.given
        return getattr(given, "dtype", None) == np.float32

    @property
    def refused(self):
        wrong = any(own is not None and own.refused for own in (self.fit, self.matrix, self.norm))
        return "data" if wrong else self.method.wrong

    def objective(self, X):
        W = X["W"]
        if self.kind == "self-fit":
            return measures.squares(self.fit.dense, W @ (W.T @ self.fit.dense))
        return -0.5 * float(np.sum(W * (self.matrix.dense @ W)))

    def size(self, X):
        W = np.abs(X["W"])
        if self.kind == "self-fit":
            V = np.abs(self.fit.dense)
            return measures.squares(V, -W @ (W.T @ V))
        return 0.5 * float(np.sum(W * (np.abs(self.matrix.dense) @ W)))

    def magnitude(self, X):
        return self.size(X)

    def errors(self, X):
        if self.kind != "self-fit":
            return {}
        whole = float((self.fit.dense**2).sum())
        return {"V": (self.objective(X), whole)}

    def violation(self, X):
        worst = [(float(t.violation(X["W"])), t.text) for t in self.terms["W"]]
        return max(worst)

    def promised(self, result, X):
        """Yield what is wrong with a status that only these problems have."""
        if result.status.name == "UNBOUNDED":
            yield from self._unbounded(result)

    def _unbounded(self, result):
        if self.norm is None or result.direction is None:
            yield Finding("status", "UNBOUNDED without a norm, or without a direction")
            return
        w = np.asarray(result.direction["W"], dtype=float)
        size = float(np.sum(w * w)) or 1.0
        top = np.abs(self.matrix.dense).max() or 1.0
        kept = float(np.sum(w * (self.norm.dense @ w))) / (np.abs(self.norm.dense).max() or 1.0)
        gain = float(np.sum(w * (self.matrix.dense @ w))) / top
        if w.min() < -1e-9 * np.abs(w).max() or kept > 1e-6 * size or gain <= 1e-9 * size:
            yield Finding("status", f"UNBOUNDED: wᵀBw {kept:.3g}, wᵀAw {gain:.3g}, ‖w‖² {size:.3g}")

    def state(self, door):
        """State the problem from terms, or in CVXPY."""
        if door == "algebra":
            return self._algebra()
        others = [t.term() for t in self.terms["W"] if t.kind not in ("NonNegative", "Norm")]
        if self.kind == "self-fit":
            return Stated(ProjectiveNMF(self.fit.V, self.rank, constraints=others))
        norm = None if self.norm is None else self.norm.given
        return Stated(QuadraticProjection(self.matrix.given, self.rank, norm, constraints=others))

    def _algebra(self):
        W = cp.Variable(self.shapes["W"], name="W")
        limits: list[Any] = []
        for term in self.terms["W"]:
            stated = term.algebra(W)
            limits += stated if isinstance(stated, list) else [stated]
        if self.kind == "self-fit":
            V = self.fit.V
            return Stated(
                cn.Problem(cp.Minimize(cp.sum_squares(V - W @ (W.T @ V))), limits), {"W": W}
            )
        gain = cp.Maximize(cp.trace(W.T @ self.matrix.given @ W) / 2)
        return Stated(cn.Problem(gain, limits), {"W": W})

    def inputs(self):
        given = [own.given for own in (self.matrix, self.norm) if own is not None]
        plain = [own for own in given if isinstance(own, np.ndarray) or hasattr(own, "nnz")]
        return (
            plain + ([] if self.fit is None else [self.fit.V]) + list(self.method.arrays.values())
        )


def draw(rng, name, shift=0):
    """Draw a problem with one factor; `shift` as for `problems.draw`."""
    m = int(rng.integers(1, 12))
    rank = int(rng.integers(1, m + 1)) if chance(rng, 0.6) else 1
    kind = pick(rng, {"gain": 4, "norm": 3, "self-fit": 4})
    rank = 1 if kind == "norm" else rank
    unit = float(pick(rng, {1.0: 12, 2.0**12: 1, 2.0**-12: 1, 2.0**90: 0.3, 2.0**-90: 0.3}))
    unit *= 2.0 ** (6 * shift)
    matrix = norm = fit = None
    if kind == "self-fit":
        W = _parts(rng, m, rank)
        n = int(rng.integers(1, 12))
        fit = draw_data(rng, unit * W @ rng.random((rank, n)), unit, 0.03)
    else:
        matrix = draw_matrix(rng, m, unit, hostile=0.03)
        m = len(matrix.dense)
        norm = draw_matrix(rng, m, 1.0, NORMS, 0.02) if kind == "norm" else None
        m = m if norm is None else len(norm.dense)
        W = _parts(rng, m, rank) if norm is None else _normed(rng, norm.dense)
    side = Side("W", W, True, True, False, True, float(np.abs(W).max()) or 1.0)
    terms = {"W": _terms(rng, kind, side, matrix, norm)}
    method = draw_method(rng, "plain", {"W": W}, {"W": side.unit, "data": unit}, False)
    solver = method.solver if method.wrong == "solver" else pick(rng, SOLVERS)
    method = replace(method, solver=solver)
    if method.start[:3] == "cn." and method.wrong != "start" and chance(rng, 0.9):
        method = replace(method, start="None")  # most rules are for products
    doors = _doors(rng, matrix, fit, terms)
    if fit is not None and fit.dense.min() < 0:  # CVXPY takes any, ProjectiveNMF does not
        doors = doors[-1:]
        fit = replace(fit, refused=fit.refused or doors == ("terms",))
    return OneFactorCase(name, kind, matrix, norm, fit, rank, terms, {"W": W}, doors, method)


def _parts(rng, m, rank):
    """Return a W ≥ 0 with orthonormal columns: each row belongs to one of them."""
    owner = np.concatenate([np.arange(rank), rng.integers(0, rank, m - rank)])
    W = np.zeros((m, rank))
    W[np.arange(m), rng.permutation(owner)] = rng.random(m) + 0.1
    return W / np.linalg.norm(W, axis=0)


def _normed(rng, B):
    """Return w ≥ 0 with wᵀBw = 1, or any where there is none."""
    w = rng.random((len(B), 1)) + 0.1
    square = float(np.sum(w * (B @ w)))
    return w / np.sqrt(square) if square > 0 else w


def _terms(rng, kind, side, matrix, norm):
    drawn = [constraints.nonnegative(rng, side)]
    if kind == "gain":
        drawn.append(_orthonormal())
    elif kind == "norm":
        drawn.append(_norm_in(norm, matrix.semidefinite and not matrix.refused))
    if chance(rng, 0.3):
        drawn.append(constraints.sparse(rng, side))
    elif chance(rng, 0.1):
        drawn.append(constraints.box(rng, side))
    elif chance(rng, 0.1):
        drawn.append(constraints.convex(rng, side))
    return drawn


def _orthonormal():
    return Drawn(
        "Norm(WᵀW = I)",
        cn.Orthonormal,
        lambda W: np.eye(W.shape[1]) == W.T @ W,
        lambda W: float(np.abs(W.T @ W - np.eye(W.shape[1])).max()),
    )


def _norm_in(norm, convex):
    B = norm.dense

    def violation(W):
        excess = float(np.sum(W * (B @ W))) - 1
        return max(excess, 0.0) if convex else abs(excess)

    def algebra(W):
        square = cp.trace(W.T @ B @ W)
        return cp.quad_form(W, B) <= 1 if convex else square == 1

    return Drawn("Norm(wᵀBw = 1)", lambda: cn.NormIn(norm.given), algebra, violation)


def _doors(rng, matrix, fit, terms):
    given = fit.V if fit is not None else matrix.given
    plain = type(given) is np.ndarray and given.dtype == np.float64 and given.dtype.isnative
    wrong = (fit or matrix).refused
    stated = plain and not wrong and all(t.algebra is not None for t in terms["W"])
    # A norm is read from an expression of one column.
    normed = any("wᵀBw" in t.text for t in terms["W"])
    if not stated or normed or not chance(rng, 0.4):
        return ("terms",)
    return ("algebra",) if chance(rng, 0.5) else ("terms", "algebra")
