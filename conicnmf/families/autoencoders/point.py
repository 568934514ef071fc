"""Where the descent of SCFC stands: its variables, what follows from them, and the errors there.

The arrays of the size of all codes are H, the responses P = WᵀV, U = tanh(β(P + θ)), one spare and
one scratch array; they are reused, H is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conicnmf.families.autoencoders.fast_codes import FastCodes, Weights
from conicnmf.families.autoencoders.transfer import respond
from conicnmf.kernels.encoder import code_energy, power_sum
from conicnmf.types import Array, Factors


@dataclass(eq=False)
class Point:
    """Variables (filters as rows, B = Wᵀ) and the three squared errors at them."""

    view: FastCodes
    B: Array
    H: Array
    theta: Array
    beta: Array
    w_out: Array
    theta_out: float
    P: Array
    U: Array
    spare: Array
    scratch: Array
    HH: Array
    levels: dict[str, Array]
    fit: float = 0.0
    gap: float = 0.0
    miss: float = 0.0

    @classmethod
    def at(cls, view: FastCodes, factors: Factors) -> Point:
        """Return the point of these variables."""
        B, H = np.ascontiguousarray(factors["W"].T), factors["H"]
        P = B @ view.V
        n, kind = view.rank, view.V.dtype
        w_out = factors.get("w_out", np.zeros((n, 1), kind))
        theta_out = float(factors["theta_out"][0, 0]) if "theta_out" in factors else 0.0
        theta, beta = factors["theta"], factors["beta"]
        U = respond(P, theta, beta)
        spares = np.empty_like(P), np.empty_like(P)
        # Where the projections last cut; without it their search is longer and ends the same.
        levels = {name: np.full(n, -np.inf) for name in ("B", "H")}
        point = cls(view, B, H, theta, beta, w_out, theta_out, P, U, *spares, H @ H.T, levels)
        point.measure()
        return point

    @property
    def factors(self) -> Factors:
        """The variables by name."""
        found = {"W": self.B.T, "H": self.H, "theta": self.theta, "beta": self.beta}
        if self.view.teacher is not None:
            out = np.full((1, 1), self.theta_out, self.H.dtype)
            found |= {"w_out": self.w_out, "theta_out": out}
        return found

    def energy(self, weights: Weights) -> float:
        """Return the weighted sum of the errors."""
        return weights.total(self.fit, self.gap, self.miss)

    def measure(self) -> None:
        """Set all errors from the variables."""
        self.fit, self.gap = self.errors(self.B, self.H, self.HH, self.P, self.U)
        self.miss = self.missed(self.U, self.w_out, self.theta_out)

    def errors(self, B: Array, H: Array, HH: Array, P: Array, U: Array) -> tuple[float, float]:
        """Return ‖V − WH‖² and ‖H − U^q‖², the first from products: no residual is ever held."""
        gap, dot = code_energy(U, P, H, self.view.q)
        return self.view.size - 2 * dot + float(np.vdot(B @ B.T, HH)), gap

    def answers(self, U: Array, w_out: Array, theta_out: float) -> Array:
        """Return tanh(w_outᵀU^q + θ_out), one a sample."""
        out = np.empty(U.shape[1], U.dtype)
        power_sum(U, w_out[:, 0], self.view.q, out)
        out += out.dtype.type(theta_out)
        return np.tanh(out, out=out)

    def missed(self, U: Array, w_out: Array, theta_out: float) -> float:
        """Return the squared error of classification, 0 without a teacher."""
        if self.view.teacher is None:
            return 0.0
        off = self.view.teacher - self.answers(U, w_out, theta_out)
        return float(np.sum(off * off, dtype=np.float64))

    def blame(self, weights: Weights) -> Array:
        """Return the derivative of the weighted error of classification in w_outᵀU^q + θ_out."""
        teacher = self.view.teacher
        if teacher is None or not weights.teach:
            return np.zeros(self.H.shape[1], self.H.dtype)
        out = self.answers(self.U, self.w_out, self.theta_out)
        return np.asarray(2 * weights.teach * (out - teacher) * (1 - out * out), self.H.dtype)
