"""Atoms one after the other, each with its codes: the dictionary step of non-negative K-SVD.

With everything else held, an atom w and its codes h see the residual E of the samples that use the
atom, scale · ‖E − w hᵀ‖². Over w ≥ 0 and over h ≥ 0 this has closed forms, and zeros of h stay zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from conicnmf.families.coding.coders import DictionaryStep
from conicnmf.settings import Count
from conicnmf.types import Array, Data

Prox = Callable[[Array, int, float], Array]
"""Returns row k of the atoms, brought by a step of this length to what its terms allow."""


@dataclass(frozen=True, eq=False)
class Atoms:
    """The samples, and what atoms and codes cost in addition to scale · ‖V − W H‖²."""

    V: Data
    prox: Prox
    scale: float = 1.0
    on_atoms: tuple[float, float] = (0.0, 0.0)
    """Slope and curvature of the penalties on entries of atoms."""
    on_codes: tuple[float, float] = (0.0, 0.0)

    def renewed(self, B: Array, H: Array, passes: int) -> tuple[Array, Array]:
        """Return better atoms (rows of B) and codes; no code that is zero becomes another number."""
        V = self.V.tocsc() if sp.issparse(self.V) else self.V
        B, H = B.copy(), H.copy()
        for k in range(len(B)):
            users = np.flatnonzero(H[k])
            if users.size:
                own, others = V[:, users], H[:, users]
                for _ in range(passes):
                    self._renew_atom(own, B, others, k)
                    self._renew_codes(own, B, others, k)
                H[k, users] = others[k]
        return B, H

    def _renew_atom(self, V: Data, B: Array, H: Array, k: int) -> None:
        """Minimize over one atom."""
        slope, curvature = self.on_atoms
        bend = 2 * self.scale * float(H[k] @ H[k]) + curvature
        if bend > 0:
            down = 2 * self.scale * ((H @ H[k]) @ B - V @ H[k]) + slope + curvature * B[k]
            moved = B.copy()
            moved[k] -= down / bend
            B[k] = self.prox(moved, k, 1 / bend)

    def _renew_codes(self, V: Data, B: Array, H: Array, k: int) -> None:
        """Minimize over the codes of one atom."""
        slope, curvature = self.on_codes
        bend = 2 * self.scale * float(B[k] @ B[k]) + curvature
        if bend > 0:
            down = 2 * self.scale * ((B @ B[k]) @ H - V.T @ B[k]) + slope + curvature * H[k]
            H[k] = np.maximum(H[k] - down / bend, 0)


@dataclass(frozen=True)
class AtomByAtom(DictionaryStep):
    """Update one atom after the other together with its codes, whose zeros are kept.

    This is the dictionary step of K-SVD for non-negative factors; the singular vectors of the
    residual are replaced by `passes` alternations of closed forms, none of which raises ‖V − W H‖.

    References
    ----------
    Aharon, Elad and Bruckstein, K-SVD and its non-negative variant for dictionary design, 2005.

    Examples
    --------
    >>> V = np.array([[2.0, 0.0], [2.0, 1.0]])
    >>> W, H = AtomByAtom().learn(V, np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]]), np.ones(2))
    >>> W @ H
    array([[2., 0.],
           [2., 1.]])
    """

    passes: Count = 2

    def learn(self, V: Data, W: Array, H: Array, rows: Array) -> tuple[Array, Array]:
        """Return the dictionary and the codes after one visit of every atom."""
        B, codes = Atoms(V, _clipped).renewed(np.ascontiguousarray(W.T), H, self.passes)
        return B.T, codes


def _clipped(B: Array, k: int, step: float) -> Array:
    return np.asarray(np.maximum(B[k], 0))
