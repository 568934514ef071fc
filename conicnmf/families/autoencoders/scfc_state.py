"""Where the descent of SCFC stands: its variables, what follows from them, and the errors there.

The arrays of the size of all codes are H and its last change, the responses P = WᵀV, U = tanh(β(P + θ))
and two spare ones; they are reused, H where nobody else holds it. Errors are measured once; moves then
add what they change.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from conicnmf.families.autoencoders.fast_codes import FastCodes, Weights
from conicnmf.families.autoencoders.inputs import responses
from conicnmf.families.autoencoders.transfer import respond
from conicnmf.kernels.encoder import code_energy, power_sum
from conicnmf.types import Array, Factors


@dataclass(eq=False)
class State:
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
    change: Array
    overlaps: Array
    levels: dict[str, Array]
    old_codes: Array | None = None
    fit: float = 0.0
    gap: float = 0.0
    miss: float = 0.0

    @classmethod
    def at(cls, view: FastCodes, factors: Factors) -> State:
        """Return the state of these variables."""
        B, H = np.ascontiguousarray(factors["W"].T), factors["H"]
        P = responses(B, view.V)
        n, kind = view.rank, view.V.dtype
        w_out = factors.get("w_out", np.zeros((n, 1), kind))
        theta_out = float(factors["theta_out"][0, 0]) if "theta_out" in factors else 0.0
        theta, beta = factors["theta"], factors["beta"]
        U = respond(P, theta, beta)
        spares = np.empty_like(P), np.empty_like(P)
        # Where the projections last cut; without it their search is longer and ends the same.
        levels = {name: np.full(n, -np.inf) for name in ("B", "H")}
        squares = H @ H.T, np.zeros_like(H), overlaps(B)
        state = cls(view, B, H, theta, beta, w_out, theta_out, P, U, *spares, *squares, levels)
        state.measure()
        return state

    def room_for_codes(self) -> Array:
        """Return an array of the shape of H to write to.

        It is the one that held the codes before, if nobody else holds that: to touch new memory may
        cost more than a step.
        """
        old, self.old_codes = self.old_codes, None
        # One reference is ours, one is the call's; views of it would be others.
        if old is not None and old.flags.owndata and sys.getrefcount(old) <= 2:
            return old
        return np.empty_like(self.H)

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
        """Set all errors from the variables; the first from products, so no residual is ever held."""
        self.gap, dot = code_energy(self.U, self.P, self.H, self.view.q)
        self.fit = self.view.size - 2 * dot + float(np.vdot(self.overlaps, self.HH))
        self.miss = self.missed(self.U, self.w_out, self.theta_out)

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
        off = self.view.teacher - self.answers(U, w_out, theta_out).astype(np.float64)
        return float(off @ off)

    def blame(self, weights: Weights) -> Array:
        """Return the derivative of the weighted error of classification in w_outᵀU^q + θ_out."""
        teacher = self.view.teacher
        if teacher is None or not weights.teach:
            return np.zeros(self.H.shape[1], self.H.dtype)
        out = self.answers(self.U, self.w_out, self.theta_out)
        return np.asarray(2 * weights.teach * (out - teacher) * (1 - out * out), self.H.dtype)


def overlaps(B: Array) -> Array:
    """Return BBᵀ in double precision: what a small step changes in it is not lost.

    Examples
    --------
    >>> overlaps(np.array([[3.0, 4.0]], np.float32))
    array([[25.]])
    """
    wide = np.asarray(B, np.float64)
    return np.asarray(wide @ wide.T)
